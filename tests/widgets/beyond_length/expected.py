"""What BeyondLength has to show for its traits: the numbers of the records, read from the records."""

import json
import math
import re
from functools import cache
from pathlib import Path
from statistics import median

import torch
from charted import CURVES, same_curve, values
from oracle import ask, right, says
from told import tables

from pieces.tasks import Stories
from pieces.widgets.beyond_length import SCALINGS, SCHEMES

RECORDS = Path(__file__).parents[3] / "experiments" / "records"
NAMES = dict(
    zip(
        (*SCHEMES, *SCALINGS, "window"),
        ("none", "sinusoidal", "learned", "learned (untrained rows)", "learned (last row again)",
         "T5", "ALiBi", "RoPE", "RoPE as trained", "linear", "NTK-aware", "dynamic", "YaRN",
         "LLaMA 3", "RoPE (last 32 words only)"),
        strict=True,
    )
)  # fmt: skip
OWNERS = {"untrained_rows": "learned", "last_row": "learned"}


@cache
def record(name):
    """Return a record of the experiments."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def runs(name, what, factor):
    """Return the curves of a scheme by seed; None where the model refuses."""
    if what == "scalings" and name != "window":
        wanted = (name, 1 if name == "unscaled" else int(factor))
        found = [r for r in record("rotary_scaling")["runs"]
                 if (r["scaling"], r["factor"]) == wanted]  # fmt: skip
        field = "excess"
    else:
        owner = "rotary" if name == "window" else OWNERS.get(name, name)
        found = [r for r in record("extrapolation")["runs"] if r["scheme"] == owner]
        field = name if name in (*OWNERS, "window") else "excess"
    return [r[field] for r in sorted(found, key=lambda run: run["seed"])]


def breaks(name, curves):
    """Return the first stretch in which the median is 0.1 worse than of the model that forgets."""
    schemes = {run["scheme"] for run in record("extrapolation")["runs"]}
    owner = OWNERS.get(name, name if name in schemes else "rotary")
    forgetful = [r["window"] for r in record("extrapolation")["runs"] if r["scheme"] == owner]
    for n in range(2, 16):
        here = [run[n] for run in curves]
        if None in here or median(here) > median(run[n] for run in forgetful) + 0.1:
            return n
    return None


@cache
def text():
    """Return the words of the text that is shown."""
    task = Stories(256)
    batch = task.batch(200, "held_out", torch.Generator().manual_seed(12_345))
    return [task.vocabulary[n] for n in batch.input_ids[1].tolist()]


def beyond_length(root, s):
    """The switches, the text, every curve as far as it has been played, the sentence, Python's."""
    known = [*(SCHEMES if s["what"] == "positions" else SCALINGS), "window"]
    drawn = [name for name in known if name in s["shown"]]
    at, end = s["stretch"], 16 * (s["stretch"] + 1)
    switches = root.locator(".p-switch:visible")
    right(switches.all_inner_texts() == [NAMES[name] for name in known], "other schemes")
    pressed = switches.evaluate_all("(all) => all.map((b) => b.querySelector('input').checked)")
    right(pressed == [name in drawn for name in known], f"{pressed} are pressed")
    right(root.locator(".p-play-at").text_content() == f"{end} words", "another length")
    shown = root.locator(".p-text").inner_text()
    right(shown.startswith(f"words {end - 15} to {end}"), shown)
    right(root.locator("mark").inner_text() == " ".join(text()[end - 16 : end]), shown)
    before = " ".join(text()[max(0, end - 32) : end - 16])
    right(root.locator(".p-before").inner_text().strip("… ") == before, "another text before")
    note = root.locator(".p-measured").inner_text()
    sizes = {run["parameters"] for run in record("extrapolation")["runs"]}
    seeds = {run["seed"] for run in record("extrapolation")["runs"]}
    told = [f"of about {round(size / 1000)},000 weights, {len(seeds)} seeds each" for size in sizes]
    right(any(one in note for one in told), note)
    chart = ask(root.locator("svg.p-chart"), CURVES)
    curves = {name: runs(name, s["what"], s["factor"]) for name in drawn}
    number = lambda x, n: math.nan if x is None or n > at else x  # noqa: E731
    xs = range(16, 257, 16)
    for name in drawn:
        own = [c for c in chart["curves"] if c["name"] == NAMES[name]]
        wanted = [[number(x, n) for n, x in enumerate(run)] for run in curves[name]]
        middle = [median(column) for column in zip(*wanted, strict=True)]
        for curve, ys in zip(own, [*wanted, middle], strict=True):
            same_curve(chart, curve, xs, ys)
        for _, (head, *listed) in tables(root):
            at_ = head.index(NAMES[name])
            for row, value in zip(listed, middle, strict=True):
                there = not math.isnan(value)
                near = there and abs(float(row[at_]) - value) < 0.00051  # packed in three digits
                right(near if there else not re.search(r"\d", row[at_]),
                      f"{name} at {row[0]} words: {row[at_]}, not {value}")  # fmt: skip
        right([c["kind"] for c in own] == ["run"] * len(wanted) + ["line"], f"{name}: {own}")
    right(len(chart["curves"]) == sum(len(c) + 1 for c in curves.values()), "more curves")
    mark = values(chart, {"points": [[chart["marks"][0], 0]], "alone": []})[0][0][0]
    right(abs(mark - 32) < 0.6 and chart["names"] == ["trained up to here"], f"marked at {mark}")
    here = {name: [run[at] for run in curves[name]] for name in drawn}
    right(list(s["excess"]) == drawn, f"Python reads {list(s['excess'])}")
    for name in drawn:
        for got, wanted in zip(s["excess"][name], here[name], strict=True):
            right(got == wanted or abs(got - wanted) < 0.00051, f"{name}: {s['excess'][name]}")
    same_words(root.locator(".p-say").text_content(), here, end)
    if drawn and at > 1:
        same_verdict(root.locator(".p-say").text_content(), curves, at, s["what"] == "scalings")


def same_words(said, here, end):
    """Median and span of each scheme; a table that ends says so."""
    right(said.startswith(f"After {end} words") if here else "Switch" in said, said)
    for name, column in here.items():
        if None in column:
            right(f"{NAMES[name]} has no row for word 33 and stops" in said, said)
            continue
        found = re.search(rf"(?:: |, ){re.escape(NAMES[name])} (\S+) \((\S+) to (\S+)\)", said)
        right(found, f"{name} is not in {said!r}")
        for part, wanted in zip(found.groups(), (median(column), min(column), max(column)),
                                strict=True):  # fmt: skip
            right(says(part, wanted, 2) or abs(float(part) - wanted) < 0.0056, f"{name}: {said}")


def same_verdict(said, curves, at, slowed):
    """Which scheme does worse first than when it forgets; no slowed one was measured with a window."""
    fallen = {name: breaks(name, curves[name]) for name in curves if name != "window"}
    fallen = {name: n for name, n in fallen.items() if n is not None and n <= at}
    if not fallen:
        fine = ("None does clearly worse yet than RoPE as trained with only the last 32 words in view."
                if slowed else " would not clearly help any of them yet.")  # fmt: skip
        right(said.endswith(fine), said)
        return
    first = min(fallen.values())
    names = [NAMES[name] for name, n in fallen.items() if n == first]
    when = f"s early as words {16 * first + 1} to {16 * first + 16}"
    listed, one = ", ".join(names), len(names) == 1
    if slowed:
        words = f"Beyond training, {listed} {'does' if one else 'do'} clearly worse a{when} "
        words += "than RoPE as trained with only the last 32 words in view."
    else:
        words = f"A{when}, {'one' if one else 'some'} would do clearly better "
        words += f"with only the last 32 words in view: {listed}."
    right(said.endswith(f" {words}"), f"{said} / {words}")
