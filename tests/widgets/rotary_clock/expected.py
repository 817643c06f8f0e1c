"""What RotaryClock has to show for its traits, by torch and `pieces.positions`."""

import math
import re

import torch
from charted import CURVES, same_curve, values
from drawn_numbers import gaussian
from oracle import ask, number, right, same_bars, says

from pieces.positions import (
    DynamicNTK,
    Halves,
    Interleaved,
    Linear,
    Llama3,
    Rotary,
    Unscaled,
    YaRN,
)

DIM, TURN = 16, 2 * math.pi
BUILT = {"yarn": YaRN, "llama3": Llama3, "dynamic": DynamicNTK}
SHOWN = """(root) => {
  const number = (node, name) => Number(node.getAttribute(name));
  const numbers = (text) => (text.match(/-?[\\d.]+/g) ?? []).map(Number);
  const seen = (node) => node.checkVisibility() && !node.hasAttribute("hidden");
  const hand = (svg, kind, role) => { const line = svg.querySelector(`.${kind}[data-role=${role}]`);
    return seen(line) ? [number(line, "x2") - number(line, "x1"), number(line, "y1") - number(line, "y2")] : null; };
  const clock = (svg) => ({ query: hand(svg, "p-now-hand", "query"), key: hand(svg, "p-now-hand", "key"),
    was: [hand(svg, "p-was-hand", "query"), hand(svg, "p-was-hand", "key")],
    between: svg.querySelector(".p-between").getAttribute("d"),
    known: seen(svg.querySelector(".p-known")) ? svg.querySelector(".p-known").getAttribute("d") : null });
  const grip = (name) => root.querySelector(`[data-grip=${name}]`);
  const chip = (name) => ({ word: grip(name).querySelector(".p-chip-word").textContent,
    name: grip(name).querySelector(".p-chip-name").textContent, now: grip(name).ariaValueNow, told: grip(name).ariaValueText,
    x: number(grip(name).querySelector("rect"), "x") + number(grip(name).querySelector("rect"), "width") / 2 });
  return { slots: [...root.querySelectorAll(".p-slot")].map((g) => ({ word: g.querySelector("text").textContent,
      place: g.querySelector(".p-place").textContent, x: number(g.querySelector("text"), "x") })),
    gap: root.querySelectorAll(".p-gap").length, query: chip("i"), key: chip("j"), distance: root.querySelector(".p-distance").textContent,
    bar: numbers(root.querySelector(".p-bar-ends").getAttribute("d")), large: clock(root.querySelector(".p-large")),
    small: [...root.querySelectorAll(".p-clock-button")].map((one) => ({ ...clock(one.querySelector("svg")),
      name: one.querySelector("b").textContent, told: one.querySelector("span").textContent, on: one.ariaPressed })),
    panels: [...root.querySelectorAll(".p-panel")].filter(seen).map((one) => one.dataset.view),
    pressed: root.querySelector(".p-tabs [aria-pressed=true]").dataset.view,
    heads: [...root.querySelectorAll(".p-sums tr:first-child th")].map((th) => th.textContent),
    sums: [...root.querySelectorAll(".p-sums tr")].slice(1).map((row) => [row.dataset.role, ...[...row.cells].map((c) => c.textContent)]),
    arcs: [...root.querySelectorAll(".p-pair[data-first]")].map((path) => { const d = numbers(path.getAttribute("d"));
      return [number(path, "data-first"), number(path, "data-second"), path.classList.contains("p-pair-on"), d[0], d.at(-2)]; }),
    boxes: [...root.querySelectorAll(".p-coordinate")].map((g) => [...[...g.querySelectorAll("text")].map((t) => t.textContent),
      g.classList.contains("p-pair-on"), number(g.querySelector("text"), "x")]) };
}"""


class Given(Unscaled):
    """Frequencies that are given, so that a text of any length turns alike."""

    def __init__(self, thetas, amount):
        self.thetas, self.attention_factor = thetas, amount

    def slow(self, plain, dim, base):
        return self.thetas


def scaling_of(s):
    """Return the object of `pieces.positions` that the traits name."""
    if s["scaling"] == "none":
        return Unscaled()
    if s["scaling"] == "linear":
        return Linear(s["factor"])
    return BUILT[s["scaling"]](s["factor"], s["max_seq_len"])


def thetas_of(s, scaling=None):
    """Return the angle a word of each pair, float64; of the whole text, as it is scaled."""
    text = torch.arange(len(s["tokens"]) + s["skip"])
    return (scaling or scaling_of(s))(DIM, float(s["base"]), text, torch.float64).double()


def scores(q, k, i, j, thetas, amount=1.0, layout="halves"):
    """Return the scores of a query at each i and a key at each j, divided by the head size."""
    if layout == "mixed":  # partners by halves, tables for neighbours
        turned = []
        for x, places in ((q, i), (k, j)):
            angles = (places.double()[:, None] * thetas).repeat_interleave(2, dim=1)
            partner = torch.cat((-x[DIM // 2 :], x[: DIM // 2]))
            turned.append(x * angles.cos() + partner * angles.sin())
        return (turned[0] * turned[1]).sum(-1) / DIM
    kind = Halves() if layout == "halves" else Interleaved()
    rotary = Rotary(DIM, layout=kind, scaling=Given(thetas, amount))
    rows = lambda x, places: x.expand(1, 1, len(places), DIM)  # noqa: E731
    (a, _), (b, _) = (rotary.rotate(rows(x, p), rows(x, p), p) for x, p in ((q, i), (k, j)))
    return (a * b).sum(-1)[0, 0] / DIM


def draws():
    """Return five random queries and keys."""
    return [gaussian(301 + n, 2 * DIM).reshape(2, DIM) for n in range(5)]


def score_curves(s, until):
    """Return the curves over the distances 0 .. until: random ones, ones, constructed."""
    thetas, amount = thetas_of(s), scaling_of(s).attention_factor
    d, start = torch.arange(until + 1), torch.zeros(until + 1, dtype=torch.long)
    ones = torch.ones(DIM, dtype=torch.float64)
    made = Rotary(DIM, scaling=Given(thetas, 1.0))
    back = torch.tensor([-s["peak"]])
    peaked = made.rotate(ones.expand(1, 1, 1, DIM), ones.expand(1, 1, 1, DIM), back)[0].flatten()
    along = lambda q, k: scores(q, k, d, start, thetas, amount)  # noqa: E731
    return [along(q, k) for q, k in draws()], along(ones, ones), along(peaked, ones)


def near(got, wanted, name, most=0.03):
    """Compare two points or lists of numbers."""
    off = max(abs(a - b) for a, b in zip(got, wanted, strict=True))
    right(off < most, f"{name}: {got}, not {wanted}")


def same_hand(drawn, angle, length, name):
    """A hand begins at twelve and runs clockwise."""
    near(drawn, [length * math.sin(angle), length * math.cos(angle)], name)


def same_wedge(path, start, by, radius, name):
    """A wedge runs from one angle on by another; from one turn on it is a ring."""
    found = [float(x) for x in re.findall(r"-?\d[\d.]*(?:e-?\d+)?", path)]
    if by >= TURN:
        right("a" in path and len(found) == 16, f"{name} is no ring: {path}")
        return
    right("A" in path, f"{name} is no wedge: {path}")
    tip = lambda a: [50 + radius * math.sin(a), 50 - radius * math.cos(a)]  # noqa: E731
    near(found[2:4], tip(start), f"{name} begins")
    near(found[-2:], tip(start + by), f"{name} ends")
    right(found[7:9] == [float(by > math.pi), 1.0], f"{name} takes the other way: {path}")


def same_clock(drawn, query, key, known, name):
    """Hands, the angle between them, and what training has shown."""
    same_hand(drawn["query"], query, 41, f"{name}, query")
    same_hand(drawn["key"], key, 31, f"{name}, key")
    same_wedge(drawn["between"], key, query - key, 22, f"{name}, angle")
    right((drawn["known"] is None) == (known is None), f"{name}: what is known")
    if known is not None:
        same_wedge(drawn["known"], key, known, 46, f"{name}, known")


def rotary_clock(root, s):
    """The words, the clocks, what is open below them, the sentence, what Python reads."""
    seen = ask(root, SHOWN)
    words, skip = s["tokens"], s["skip"]
    half = (len(words) + 1) // 2
    places = [n + skip * (n >= half) for n in range(len(words))]
    query, key = places[s["i"]], places[s["j"]]
    right(s["j"] <= s["i"] < len(words), "the key stands behind the query")
    same_sentence(seen, s, places, query, key)
    thetas, plain = thetas_of(s), thetas_of(s, Unscaled())
    known = plain * (s["max_seq_len"] - 1) if s["view"] == "scaling" else [None] * 8
    large = s["pair"]
    for n, drawn in [*enumerate(seen["small"]), (large, seen["large"])]:
        same_clock(drawn, query * thetas[n], key * thetas[n], known[n], f"clock {n}")
    same_ghost(root, seen["large"]["was"], places, thetas[large])
    for n, one in enumerate(seen["small"]):
        right(one["name"] == f"clock {n}" and one["on"] == str(n == large).lower(), one)
        turn = TURN / float(thetas[n])
        right(
            says(one["told"].removesuffix(" words").replace(",", ""), turn, 1 if turn < 100 else 0),
            one,
        )
    right(seen["panels"] == [s["view"]] == [seen["pressed"]], f"{seen['panels']} are open")
    right(s["positions"] == [query, key], f"Python reads {s['positions']}")
    near(s["frequencies"], thetas.tolist(), "frequencies", 1e-5)
    said = root.locator(".p-say").text_content()
    PANELS[s["view"]](root, s, seen, said, query - key, thetas, plain)


def same_ghost(root, drawn, places, theta):
    """Where both hands stood before the reader moved a word, where a picture says which one."""
    was = getattr(root.page, "was", None)
    if not was:
        return None
    same_hand(drawn[0], places[was["i"]] * theta, 41, "the query's ghost")
    return same_hand(drawn[1], places[was["j"]] * theta, 31, "the key's ghost")


def same_sentence(seen, s, places, query, key):
    """The words stand in order, two of them are coloured, the bar reaches from one to the other."""
    slots = seen["slots"]
    for slot, word, place in zip(slots, s["tokens"], places, strict=True):
        shown = slot["word"]
        cut = shown.endswith("…") and word.startswith(shown[:-1])
        right((shown == word or cut) and slot["place"] == str(place), f"{slot} is {word} {place}")
    xs = [slot["x"] for slot in slots]
    right(xs == sorted(xs) and seen["gap"] == bool(s["skip"]), "the words stand in another order")
    for role, at, place in (("query", s["i"], query), ("key", s["j"], key)):
        chip = seen[role]
        word = s["tokens"][at]
        told = chip["word"] == (word if len(word) <= 9 else slots[at]["word"])
        right((told or chip["word"] == word) and chip["name"] == role, f"{role}: {chip}")
        right(abs(chip["x"] - xs[at]) < 0.1 and chip["now"] == str(at), f"{role} at {chip['x']}")
        right(chip["told"] == f"{s['tokens'][at]}, position {place}", chip["told"])
    right(seen["distance"] == f"distance {query - key}", seen["distance"])
    near([seen["bar"][0], seen["bar"][3]], [xs[s["j"]], xs[s["i"]]], "the bar")


def angles(root, s, seen, said, d, thetas, plain):
    """Three lines of arithmetic, and the angle in words."""
    theta = math.degrees(thetas[s["pair"]])
    right(seen["heads"] == ["hand", "position × angle per word", "angle"], seen["heads"])
    query, key = s["positions"]
    for row, role, n in zip(seen["sums"], ("query", "key", "score"), (query, key, d), strict=True):
        found = re.fullmatch(r"(\d+) × (\S+)°", row[2])
        right(row[0] == role and int(found[1]) == n and says(found[2], theta, 2), row)
        right(says(row[3].removesuffix("°"), n * theta, 1), row)
    was = getattr(root.page, "was", None)
    moved = bool(was) and was["i"] - was["j"] == s["i"] - s["j"]
    right(not was or said.startswith("Both") == moved, said)
    if moved:
        return right("moved by 2. " in said, said)
    if said.startswith("Both"):
        return None
    told = re.fullmatch(r"“(.+)” and “(.+)” stand (\d+) apart\. On clock (\d) that is an angle of "
                        r"(\S+)°, .* Its cosine is (\S+)\.", said)  # fmt: skip
    words = (s["tokens"][s["i"]], s["tokens"][s["j"]], str(d), str(s["pair"]))
    right(told and told.groups()[:4] == words, said)
    return right(
        says(told[5], d * theta, 1) and says(told[6], math.cos(d * thetas[s["pair"]]), 3), said
    )


def score(root, s, seen, said, d, thetas, plain):
    """The curves over the distance, with the reader's own marked."""
    chart = ask(root.locator(".p-panel[data-view=score] svg.p-chart"), CURVES)
    until = max(64, d)
    random, ones, built = score_curves(s, until)
    drawn = {(c["name"], c["kind"]): c for c in chart["curves"]}
    xs = range(until + 1)
    if until <= 64:  # of more, the chart draws what a pixel can show
        same_curve(chart, drawn["all ones", "line"], xs, ones)
        same_curve(chart, drawn["constructed", "line"], xs, built)
        runs = [c for c in chart["curves"] if c["kind"] == "run"]
        for curve, wanted in zip(runs, random, strict=True):
            same_curve(chart, curve, xs, wanted)
    roles = [(c["name"], c["role"]) for c in chart["curves"] if c["kind"] == "line"]
    named = [("random (5 draws)", "residual"), ("all ones", "score"), ("constructed", "query")]
    right(roles == named and chart["names"] == ["you are here"], f"{roles}, {chart['names']}")
    here = values(chart, {"points": [[chart["marks"][0], 0]], "alone": []})[0][0][0]
    right(abs(here - d) < 0.6, f"you are at {here}, not {d}")
    told = [number(x) for x in re.findall(r"−?\d+(?:\.\d+)?", said)]
    wanted = [d, float(ones[d]), s["peak"], float(built[d])]
    near(told, wanted, said, 0.00051)


def pairs(root, s, seen, said, d, thetas, plain):
    """Partners and clocks of the coordinates; the score of one pair of words, moved."""
    layout, half = s["pairing"], DIM // 2
    partner = lambda c: c ^ 1 if layout == "interleaved" else (c + half) % DIM  # noqa: E731
    clock = lambda c: c % half if layout == "halves" else c // 2  # noqa: E731
    on = lambda c: s["pair"] in (clock(c), clock(partner(c)))  # noqa: E731
    middles = [box[3] for box in seen["boxes"]]
    right(middles == sorted(middles), "the coordinates stand in another order")
    for c, (name, its, lit, _) in enumerate(seen["boxes"]):
        right([name, its] == [str(c), str(clock(c))], f"coordinate {c}: {name}, clock {its}")
        right(lit == (clock(c) == s["pair"]), f"coordinate {c} is lit: {lit}")
    wanted = [[c, partner(c), on(c)] for c in range(DIM) if c < partner(c)]
    right([arc[:3] for arc in seen["arcs"]] == wanted, f"arcs {seen['arcs']}")
    for a, b, _, x, y in seen["arcs"]:
        near([x, y], [middles[a], middles[b]], f"the arc of {a}")
    chart = ask(root.locator(".p-panel[data-view=pairs] svg.p-chart"), CURVES)
    shift = torch.arange(65)
    found = scores(*draws()[0], shift + d, shift, thetas, 1.0, layout)
    same_curve(chart, chart["curves"][0], shift, found)
    flat = float(found.max() - found.min()) < 1e-6
    right(("stays the same" in said) == flat or d == 0, said)
    told = [int(n) for n in re.findall(r"\d+", said)]
    first = 2 * s["pair"] if layout == "interleaved" else s["pair"]
    right(told == ([] if layout == "mixed" else [first, partner(first)]), said)


def scaling(root, s, seen, said, d, thetas, plain):
    """How much slower each clock turns, how often it turned in training, and what is new to it."""
    seen_, names = s["max_seq_len"], [str(n) for n in range(8)]
    left, turns = (thetas / plain).tolist(), (plain * seen_ / TURN).tolist()
    same_bars(root, names, [(left, 1, False, 2), (turns, None, False, 2)])
    most = plain * (seen_ - 1)
    lost = int(((most < TURN) & (torch.fmod(thetas * d, TURN) > most + 1e-9)).sum())
    same = sum(one > 1 - 1e-9 for one in left)
    told = [int(n) for n in re.findall(r"\d+", said)]
    if s["scaling"] != "none":
        wanted = [same, 8, 8 - same, *([lost] if lost else [])]
        if s["scaling"] != "dynamic":
            reach = s["factor"] * seen_
            wanted += [s["factor"], seen_, reach, d]
            right(said.endswith(f" {'within' if d < reach else 'beyond'} that."), said)
    else:
        wanted = [d, seen_] if d < seen_ else [seen_ - 1, d, lost, 8]
    right(told == wanted, f"{said} should tell {wanted}")


PANELS = {"angles": angles, "score": score, "pairs": pairs, "scaling": scaling}
