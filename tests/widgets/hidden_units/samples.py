"""HiddenUnits: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from oracle import right
from twins import build, vocabulary

from browser import PAINTED
from pieces.widgets import HiddenUnits
from pieces.widgets.hidden_units import TEXT


def example(text="the blue book . Tom the blue ice-cream", **more):
    """Return a HiddenUnits of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    return HiddenUnits.from_model(model, text, vocabulary=words, **more)


def another_unit(page):
    """Another unit is free, whatever was done to the last one."""
    page.locator("[data-trait=unit] input").press("ArrowRight")
    right(page.get_by_role("button", name="Let it go").is_disabled(), "the next unit is held")
    page.get_by_label("layer", exact=True).select_option("2")
    right(page.get_by_role("button", name="Let it go").is_disabled(), "another layer's is held")


def offered_unit(page):
    """One that is offered below is free as well."""
    page.locator(".p-widest button").nth(2).click()
    right(page.get_by_role("button", name="Let it go").is_disabled(), "the offered unit is held")


def shut_in_two_layers(page):
    """The same unit of two layers, both shut: two results."""
    page.get_by_role("button", name="Shut it").click()
    page.get_by_label("layer", exact=True).select_option("2")
    page.get_by_role("button", name="Shut it").click()


def another_name(page):
    """Another word far ahead: the same units are open at the last one, a little more or less."""
    page.locator("textarea").fill(TEXT.replace("shy", "Ella"))


def twice(page):
    """A word that is pressed again is let go: the last one is followed."""
    chip = page.locator(".p-unit-words .p-chip").nth(3)
    chip.click()
    right(chip.get_attribute("aria-checked") == "true", "a pressed word is not followed")
    chip.click()
    page.mouse.move(0, 0)
    page.evaluate(PAINTED)
    last = page.locator(".p-unit-words .p-chip").last
    right(last.get_attribute("aria-checked") == "true", "a word pressed twice stays chosen")


TYPED = "One sunny day, Lily found a red ball. She"  # "bell" is a word as well
# A widget, and what a reader does with it.
PICTURES = {
    "unit": (lambda: HiddenUnits(held=True, value=90.0), None),
    "held no more": (lambda: HiddenUnits(held=True, value=90.0), another_unit),
    "held no longer": (lambda: HiddenUnits(held=True, value=90.0), offered_unit),
    "shut twice": (lambda: HiddenUnits(unit=12), shut_in_two_layers),
    "rewritten": (lambda: HiddenUnits(), another_name),
    "unit's word": (lambda: HiddenUnits(layer=2, unit=158, token=7), None),
    "another letter": (lambda: HiddenUnits(text=TYPED), type_letter("e", 7)),
    "pressed twice": (lambda: HiddenUnits(), twice),
}  # fmt: skip
