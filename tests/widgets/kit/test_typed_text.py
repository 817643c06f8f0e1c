"""The one field for typed text and the one followed word, in each widget that has them: by hand."""

import pytest
from oracle import check, recorded
from samples import beside

from browser import PAINTED, state
from pieces.widgets import (
    Alignment,
    AttentionHeatmap,
    HiddenUnits,
    PronounArcs,
    RouterExplorer,
    SamplingExplorer,
    TranslationStepper,
)

FEW_WORDS = (AttentionHeatmap, PronounArcs)
FOLLOW = (AttentionHeatmap, PronounArcs, HiddenUnits, RouterExplorer)


def made(widget, text, **more):
    """Return a widget that its oracle can judge: two of them are judged on a small random model."""
    if widget in FEW_WORDS:
        return beside(widget.__name__, "samples").example(text=text, **more)
    return widget(text=text, **more)


def field_of(page):
    """Return the field for text; PronounArcs has it in a fold."""
    page.evaluate("document.querySelectorAll('.p-details').forEach((one) => { one.open = true; })")
    return page.locator("textarea.p-typed")


def type_over(page, text):
    """Type a text in place of what stands there, key by key, each read in a frame of its own."""
    field = field_of(page)
    field.press("Control+a")
    for key in text:
        field.press_sequentially(key)
        page.evaluate(PAINTED)


@pytest.mark.parametrize("widget", [*FOLLOW, SamplingExplorer], ids=lambda one: one.__name__)
def test_an_offer_takes_the_place_of_its_word_and_of_no_other(bench, widget):
    one = widget()
    with recorded(bench, one) as page:
        for before, word, behind in (("The red ", "re", ""), ("the red ball, ", "bal", " . The")):
            type_over(page, before + word + behind)
            offer = page.get_by_role("button", name=f"in place of {word}", exact=False).first
            offer.wait_for()
            other = offer.inner_text()
            offer.click()
            assert state(page, one)["text"] == before + other + behind
            assert field_of(page).input_value() == before + other + behind
        assert page.record.errors == []


@pytest.mark.parametrize("widget", FEW_WORDS, ids=lambda one: one.__name__)
def test_a_chosen_word_is_kept_while_another_text_is_typed(bench, widget):
    one = made(widget, "Tom the blue book the book .", token=6)
    with recorded(bench, one) as page:
        type_over(page, "the book")
        assert state(page, one)["token"] == 6, "the wish stays"
        check(page, one)  # the last word is followed meanwhile
        type_over(page, "the book Tom the blue book .")
        assert state(page, one)["token"] == 6
        check(page, one)
        assert page.record.errors == []


@pytest.mark.parametrize("widget", FOLLOW, ids=lambda one: one.__name__)
def test_a_second_press_lets_go(bench, widget):
    known = "Tom the blue book ." if widget in FEW_WORDS else "the red ball is in the park"
    one = made(widget, known)
    with recorded(bench, one) as page:
        field_of(page)
        chip = page.locator("[role=radiogroup] .p-chip").nth(2)
        chip.click()
        assert state(page, one)["token"] == 3
        check(page, one)
        chip.click()
        assert state(page, one)["token"] == 0, "the last word is followed again"
        page.mouse.move(0, 0)
        check(page, one)
        assert page.record.errors == []


CHINESE = (Alignment, TranslationStepper)


@pytest.mark.parametrize("widget", CHINESE, ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [("see", ["看见"]), ("in", ["在"]), ("Cat", ["猫"]), ("studnt", ["学生"]), ("qwertz", [])],
)
def test_what_means_just_that_is_offered_alone(bench, widget, typed, offered):
    one = widget(text="猫")
    with recorded(bench, one) as page:
        type_over(page, f"那只猫{typed}")
        page.wait_for_timeout(600)  # a word half typed is not unknown
        page.evaluate(PAINTED)
        offers = page.locator(".p-typed-note .p-offer")
        assert offers.all_inner_texts() == offered
        if offered:
            offers.first.click()
            assert state(page, one)["text"] == f"那只猫{offered[0]}"
        assert page.record.errors == []


def test_a_chosen_translation_is_kept_while_another_text_is_typed(bench):
    one = Alignment(word=6)
    with recorded(bench, one) as page:
        whole = state(page, one)["text"]
        type_over(page, whole[:5])
        assert len(state(page, one)["translation"]) == 5, "too short for the wish"
        assert state(page, one)["word"] == 6, "the wish stays"
        check(page, one)
        type_over(page, whole)
        assert state(page, one)["word"] == 6
        check(page, one)
        assert page.record.errors == []
