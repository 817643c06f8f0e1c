"""A bound is written once, in Python's trait: told another one, each page keeps to that."""

import math

import pytest
from samples import NAMES, example

import pieces.widgets
from browser import HURRIED, PAINTED, put, state

# A question's answer is read, and never written: a test of its own holds what bounds it.
QUESTIONS = {"PredictNumber", "FillMask"}
# How far these go is known to the page alone: the model's parts, the words of a text, the rows of
# a table, the steps that have a name.
OF_ITS_WORLD = {
    *("layer", "head", "unit", "word", "tried", "token", "row", "column", "i", "j", "pair"),
    *("query", "key", "position", "step", "first", "second"),
}
# Asked of the classes: to make a ModelTable takes seconds, in each process that gathers the tests.
TYPED = [name for name in NAMES if "text" in getattr(pieces.widgets, name).class_trait_names()]
SLIDERS = ".pieces [data-trait] input[type=range]:enabled"

# Gives one trait after the other a value, as Python does in a notebook; what is used of each.
USED = f"""([id, values, now]) => ({HURRIED})(async () => {{
  const [model, used] = [window.pieces.model(id), []];
  const put = async (given) => {{
    model.set(given);
    model.save_changes();
    await ({PAINTED})();
  }};
  for (const [trait, value] of values) {{
    await put({{ [trait]: value }});
    used.push(model.get(trait));
    await put(now);
  }}
  return used;
}})"""


def by_factors(trait):
    """Whether a slider of so wide a range goes by factors."""
    return trait.low > 0 and trait.high / trait.low >= 64


def narrower(trait, value):
    """Return a range around `value` that is narrower than the trait's, at stops of its slider."""
    low, high, step = trait.low, trait.high, trait.step
    if by_factors(trait):
        by = 10 if isinstance(value, float) and high / low >= 1e4 else 2
        ends = [type(value)(value / by), type(value)(value * by)]
        return [
            end if low < end < high else edge for end, edge in zip(ends, (low, high), strict=True)
        ]
    down, up = (math.floor((side / 2) / step) or 1 for side in (value - low, high - value))
    return [max(low, value - down * step), min(high, value + up * step)]


def numeric(widget):
    """Return the traits of a widget that are numbers in a range."""
    traits = type(widget).class_traits()
    return {name: traits[name] for name in widget.inputs() if hasattr(traits[name], "low")}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in QUESTIONS])
def test_a_changed_bound_is_kept_to(bench, name):
    widget = example(name)
    traits = numeric(widget)
    now = {trait: getattr(widget, trait) for trait in traits}
    ranges = {trait: narrower(traits[trait], now[trait]) for trait in traits}

    def change(saved):
        for trait, (low, high) in ranges.items():
            saved["_limits"][trait] |= {"low": low, "high": high}

    with bench.show(widget, change=change) as page:
        far = [[t, end] for t in ranges for end in (traits[t].low, traits[t].high)]
        for (trait, end), used in zip(
            far, page.evaluate(USED, [widget.model_id, far, now]), strict=True
        ):
            low, high = ranges[trait]
            assert low - 1e-9 <= used <= high + 1e-9, f"{trait} = {end} is used as {used}"
        for slider in page.locator(SLIDERS).all():
            trait = slider.evaluate("(c) => c.closest('[data-trait]').dataset.trait")
            for key, end in (("End", "max"), ("Home", "min")):
                if slider.is_visible():
                    slider.press(key)
                    stands = slider.evaluate(f"(c) => Number(c.value) - Number(c.{end})")
                    assert abs(stands) < 1e-6, f"the slider of {trait} goes beyond its {end}"
            put(page, widget, **now)
        assert page.record.errors == []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in QUESTIONS])
def test_a_wider_bound_is_reached(bench, name):
    widget = example(name)
    traits = {t: one for t, one in numeric(widget).items() if t not in OF_ITS_WORLD}
    wider = {
        t: 2 * one.high if by_factors(one) else one.high + one.step for t, one in traits.items()
    }

    def change(saved):
        for trait, high in wider.items():
            saved["_limits"][trait]["high"] = high

    with bench.show(widget, change=change) as page:
        put(page, widget, **wider)
        used = state(page, widget)
        assert {trait: used[trait] for trait in traits} == wider
        assert page.record.errors == []


@pytest.mark.parametrize("name", TYPED)
def test_no_more_is_typed_than_a_text_may_hold(bench, name):
    def change(saved):
        saved["_limits"]["text"]["longest"] = 7

    widget = example(name)
    with bench.show(widget, change=change) as page:
        page.locator("details:has(.p-typed) > summary").evaluate_all(
            "(all) => all.forEach((s) => s.click())"
        )
        page.locator(".p-typed").first.fill("the red ball")
        assert state(page, widget)["text"] == "the red"


@pytest.mark.parametrize(("name", "trait"), [("AttentionSteps", "X"), ("NormAxes", "X")])
def test_a_typed_number_stays_in_the_bound_of_its_table(bench, name, trait):
    def change(saved):
        saved["_limits"][trait]["bound"] = 7

    widget = example(name)
    with bench.show(widget, change=change) as page:
        page.locator("details:has(.p-number) > summary").evaluate_all(
            "(all) => all.forEach((s) => s.click())"
        )
        field = page.locator(".p-number").first
        for typed, refused in (("7", "false"), ("7.1", "true"), ("-7.1", "true")):
            field.fill(typed)
            assert field.get_attribute("aria-invalid") == refused
        assert page.record.errors == []
