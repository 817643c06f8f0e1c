"""After any moves, in every widget: text, thumb, trait, code line and the value used are one."""

import math
import random
import re

import pytest
import torch
from oracle import check, recorded
from samples import NAMES, example

from browser import PAINTED, put, state
from pieces import masks
from pieces.widgets import AttentionSteps, MaskExplorer, ScoreFunctions

CONTROLS = ".p-control:not(.p-toggle) :is(input, select), .p-toggle input, .p-stepper button, .p-tab, .p-player input"
# Moves a control as its events would; `share` says where to, from 0 to 1.
MOVE = """([selector, at, share]) => {
  const seen = [...document.querySelectorAll(selector)]
    .filter((c) => c.offsetParent && !c.disabled);
  const control = seen[Math.floor(at * seen.length)];
  const fire = (name) => control.dispatchEvent(new Event(name, { bubbles: true }));
  const pick = (n) => Math.min(n - 1, Math.floor(share * n));
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
SHOWN = """(id) => [...document.querySelectorAll("[data-trait]")].map((box) => {
  const input = box.querySelector("input, select");
  const get = (one) => window.pieces.model(id).get(one);
  const name = box.dataset.trait;
  // A slider may be of one number of a table: the one that is framed.
  const framed = { X: (X) => X[get("row") - 1][get("column") - 1], gain: (g) => g[get("column") - 1] ?? 1,
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
  return [name, trait, text, thumb, said];
})"""


def disagreements(page, widget):
    """Return what the controls of a widget show other than their traits say."""
    page.evaluate(PAINTED)
    return [
        row
        for row in page.evaluate(SHOWN, widget.model_id)
        if not same(row[1], row[3]) or (row[2] is not None and not said(row)) or row[2] != row[4]
    ]


def same(trait, thumb):
    """A thumb on a scale of logarithms is its trait but for rounding."""
    rounded = isinstance(trait, int | float) and isinstance(thumb, int | float)
    return math.isclose(trait, thumb, rel_tol=1e-12) if rounded else trait == thumb


def said(row):
    """The text of a slider says its trait, perhaps with a unit after it."""
    name, trait, text = row[:3]
    if name == "capacity" and text.endswith(" visits"):
        return True  # a factor told by what comes of it, which the oracle counts
    number = re.fullmatch(r"(-?[\d.e+-]+)( fair shares)?", text.replace("−", "-").replace(",", ""))
    return (
        float(number[1]) == trait if number else text in ("none", "all", "no limit") and not trait
    )


def line_agrees(page, now):
    """The lines of Python of MaskExplorer make the mask that its traits stand for."""
    given = {name: now[name] for name in MaskExplorer.inputs() if name != "tokens"}
    scope = {"masks": masks}
    exec(page.locator(".p-code code").inner_text(), scope)
    assert torch.equal(scope["mask"], MaskExplorer(**given).mask())
    for name in ("window", "dilation", "n_global", "prefix_len"):
        if found := re.search(rf"{name}=(\d+)", page.locator(".p-code code").inner_text()):
            assert int(found[1]) == now[name]
    said = re.search(r"After (\d+) layer", page.locator(".p-say").inner_text())
    assert int(said[1]) == now["layers"]


@pytest.mark.parametrize("name", NAMES)
def test_two_hundred_moves(bench, name):
    widget, draw = example(name), random.Random(name)
    with recorded(bench, widget) as page:
        for n in range(200):
            if page.locator(CONTROLS).count():
                page.evaluate(MOVE, [CONTROLS, draw.random(), draw.choice([0, 1, draw.random()])])
            assert disagreements(page, widget) == [], f"after {n + 1} moves"
            if name == "MaskExplorer":
                line_agrees(page, state(page, widget))
            if n % 20 == 19:
                check(page, widget)
        assert page.record.errors == []


def test_a_bound_that_falls_takes_its_control_along(bench):
    """T from 24 to 4, as the keyboard does it: nobody still says 20."""
    widget = MaskExplorer(kind="sliding_window", T=24, window=20, layers=24)
    with recorded(bench, widget) as page:
        tokens = page.get_by_label("tokens T")
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
            tokens.press(key)
            assert disagreements(page, widget) == []
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
        assert disagreements(page, widget) == []
        check(page, widget)
        if given.get("temperature") == 0.25:
            assert state(page, widget)["temperature"] == 0.25, "a value between two stops stays"
            page.get_by_label("temperature").press("ArrowRight")
            assert state(page, widget)["temperature"] in (0.3, 0.4)
            assert disagreements(page, widget) == []
