"""After any moves, in every widget: text, thumb, trait, code line and the value used are one."""

import json
import math
import random
import re

import pytest
import torch
from oracle import POWERS, check, recorded
from oracle import number as number_of
from samples import NAMES, example

from browser import A_SLIT, HURRIED, PAINTED, STATE, put, state
from pieces import masks
from pieces.widgets import AttentionSteps, MaskExplorer, ScoreFunctions

CONTROLS = ".p-control:not(.p-toggle) :is(input, select), .p-toggle input, .p-stepper button, .p-tab, .p-player input"
# Moves a control as its events would; `share` says where to, from 0 to 1.
MOVE = """(at, share) => {
  const seen = [...document.querySelectorAll(CONTROLS)].filter((c) => c.offsetParent && !c.disabled);
  const control = seen[Math.floor(at * seen.length)];
  const fire = (name) => control.dispatchEvent(new Event(name, { bubbles: true }));
  const pick = (n) => Math.min(n - 1, Math.floor(share * n));
  if (!control) return;
  if (control.type === "range") {
    const [low, high] = [Number(control.min), Number(control.max)];
    control.value = low + share * (high - low);
    fire("input");
  } else if (control.tagName === "SELECT") {
    control.selectedIndex = pick(control.options.length);
    fire("change");
  } else control.click();
}"""
# What each control shows, beside its trait: [trait, what the trait is, text, thumb, highest thumb].
SHOWN = """(id) => [...document.querySelectorAll("[data-trait]:not([hidden])")].map((box) => {
  const input = box.querySelector("input, select");
  const get = (one) => window.pieces.model(id).get(one);
  const name = box.dataset.trait;
  // A slider may be of one number of a table: the one that is framed.
  const cell = (table) => table[get("row") - 1][get("column") - 1];
  const framed = { X: cell, W: cell, gain: (g) => g[get("column") - 1] ?? 1,
    shift: (b) => b[get("column") - 1] ?? 0 };
  // A control of two traits, "layer.head", shows them so: "1.2".
  const [first, ...others] = name in framed && Array.isArray(get(name)) ? [framed[name](get(name))]
    : name.split(".").map(get);
  const trait = others.length ? [first, ...others].join(".") : first;
  const text = box.querySelector("output")?.value ?? null;
  const step = box.querySelector("[aria-current=step]");
  const at = step ? [...step.parentNode.children].indexOf(step) : null;
  const radix = Number(input?.dataset.radix);
  // One of a list: its values rise, and 0, where it means all of them, comes last.
  const stops = input?.dataset.stops?.split(" ").map(Number);
  if (stops?.some((stop, n) => n && stop && stop <= stops[n - 1])) return [name, stops, null, "rising", null];
  const chosen = input?.tagName === "SELECT" && typeof trait === "number";
  const pressed = box.querySelector(".p-tab[aria-pressed=true]")?.dataset.view;
  const thumb = stops ? stops[Number(input.value)] : input?.type === "range" ? (radix ? radix ** input.value : Number(input.value))
    : input?.type === "checkbox" ? input.checked : chosen ? Number(input.value) : input ? input.value
    : pressed === undefined ? at : typeof trait === "number" ? Number(pressed) : pressed;
  const said = input?.getAttribute("aria-valuetext") ?? null;
  // The thumb that holds a unit counts hundredths of what fills it, so that its text says the value,
  // rounded; where no hand holds the unit it is the unit's own, which the oracle knows.
  if (name === "value" && typeof get("held") === "boolean") {
    const digits = (text.split(".")[1] ?? "").length;
    const near = Math.abs(Number(text.replace("−", "-")) - trait) <= 0.5001 * 10 ** -digits;
    const agrees = text === said && (near || !get("held"));
    return [name, trait, null, agrees ? trait : thumb, null];
  }
  // A wish that does not fit is kept, and a mark beside the control says what is used instead.
  // The text is of one of the two.
  if (box.querySelector(".p-mark")?.textContent) return [name, thumb, null, thumb, text === said ? null : said];
  return [name, trait, text, thumb, said];
})"""

# Some moves, and what stands there after each: the controls, and where there is a line of code, the
# line, the sentence and the traits.
WALK = f"""([id, moves]) => ({HURRIED})(async () => {{
  const [CONTROLS, found] = [{json.dumps(CONTROLS)}, []];
  const text = (where) => document.querySelector(where)?.innerText;
  for (const [at, share] of moves) {{
    ({MOVE})(at, share);
    await ({PAINTED})();
    const line = text(".p-code code");
    found.push([({SHOWN})(id), line, text(".p-say"), line && ({STATE})(id)]);
  }}
  return found;
}})"""


def disagreements(rows):
    """Return what the controls of a widget show other than their traits say."""
    return [
        row
        for row in rows
        if not same(row[1], row[3]) or (row[2] is not None and not said(row)) or row[2] != row[4]
    ]


def shown(page, widget):
    """Return the rows of `SHOWN`, once the picture is drawn."""
    page.evaluate(PAINTED)
    return page.evaluate(SHOWN, widget.model_id)


def same(trait, thumb):
    """A thumb on a scale of logarithms is its trait but for rounding."""
    rounded = isinstance(trait, int | float) and isinstance(thumb, int | float)
    return math.isclose(trait, thumb, rel_tol=1e-12) if rounded else trait == thumb


def said(row):
    """The text of a slider says its trait, perhaps with a unit after it."""
    name, trait, text = row[:3]
    if name == "capacity" and text.endswith(" visits"):
        return True  # a factor told by what comes of it, which the oracle counts
    if name == "reach" and text.endswith(" words"):
        trait = 2 * trait + 1  # so many words a convolution sees, its own among them
    if "10" in text and text[-1] in POWERS[1]:
        return math.isclose(number_of(text if "·" in text else f"1·{text}"), trait, rel_tol=1e-9)
    number = re.fullmatch(r"(-?[\d.e+-]+)( [A-Za-z/ ]+)?", text.replace("−", "-").replace(",", ""))
    return (
        float(number[1]) == trait if number else text in ("none", "all", "no limit") and not trait
    )


def line_agrees(line, sentence, now):
    """The lines of Python of MaskExplorer make the mask that its traits stand for."""
    given = {name: now[name] for name in MaskExplorer.inputs() if name != "tokens"}
    scope = {"masks": masks}
    exec(line, scope)
    assert torch.equal(scope["mask"], MaskExplorer(**given).mask())
    for name in ("window", "dilation", "n_global", "prefix_len"):
        if found := re.search(rf"{name}=(\d+)", line):
            assert int(found[1]) == now[name]
    assert int(re.search(r"After (\d+) layer", sentence)[1]) == now["layers"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("unchecked")
def test_two_hundred_moves(bench, name):
    widget, draw = example(name), random.Random(name)
    with recorded(bench, widget, height=A_SLIT) as page:
        for score in range(10):
            moves = [(draw.random(), draw.choice([0, 1, draw.random()])) for _ in range(20)]
            found = page.evaluate(WALK, [widget.model_id, moves])
            for n, (rows, line, sentence, now) in enumerate(found, 20 * score + 1):
                assert disagreements(rows) == [], f"after {n} moves"
                if line:
                    line_agrees(line, sentence, now)
            check(page, widget)
        assert page.record.errors == []


def test_a_bound_that_falls_takes_its_control_along(bench):
    """T from 24 to 4, as the keyboard does it: nobody still says 20."""
    widget = MaskExplorer(kind="sliding_window", T=24, window=20, layers=24)
    with recorded(bench, widget) as page:
        tokens = page.get_by_label("tokens T")
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
            tokens.press(key)
            assert disagreements(shown(page, widget)) == []
        now = state(page, widget)
        assert (now["T"], now["window"], now["layers"]) == (5, 2, 2)
        assert (
            page.locator(".p-code code").inner_text() == "mask = masks.sliding_window(5, window=2)"
        )
        check(page, widget)


@pytest.mark.parametrize(
    ("widget", "given"),
    [
        (MaskExplorer(kind="global_window"), {"T": 4, "n_global": 8, "window": 24, "layers": 24}),
        (MaskExplorer(kind="dilated"), {"T": 3, "dilation": 8, "window": 24}),
        (MaskExplorer(kind="prefix"), {"T": 3, "prefix_len": 24}),
        (MaskExplorer(kind="padding"), {"T": 3, "length": 24}),
        (MaskExplorer(), {"also": "padding", "side": "left", "length": 3, "view": "layers"}),
        (MaskExplorer(T=6, token=6, source=6), {"T": 3, "view": "reach", "flips": [[0, 2]] * 3}),
        (MaskExplorer(), {"also": "spiral", "view": 7, "side": None, "token": -1, "source": 1e9}),
        (MaskExplorer(), {"T": "many", "kind": "spiral", "layers": None}),
        (ScoreFunctions(), {"temperature": 0.25, "query_x": -2.345, "K": 64}),
        (ScoreFunctions(), {"temperature": 0, "K": 100, "n_keys": 99, "seed": -1, "query_y": "up"}),
        (AttentionSteps(), {"step": 9, "row": 0, "mask": "prefix"}),
    ],
)
def test_what_python_sets_is_what_is_shown_and_used(bench, widget, given):
    with recorded(bench, widget) as page:
        put(page, widget, **given)
        assert disagreements(shown(page, widget)) == []
        check(page, widget)
        if given.get("temperature") == 0.25:
            assert state(page, widget)["temperature"] == 0.25, "a value between two stops stays"
            page.get_by_label("temperature").press("ArrowRight")
            assert state(page, widget)["temperature"] in (0.3, 0.4)
            assert disagreements(shown(page, widget)) == []
