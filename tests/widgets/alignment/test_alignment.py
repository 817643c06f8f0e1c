"""Alignment, used by its controls as a reader would, against the aligner in PyTorch."""

import json
import re

import pytest
from oracle import check, recorded
from trials import trials
from twins import build, vocabulary

from browser import PAINTED, picture, put, space, state
from pieces import trained
from pieces.tasks import grammar
from pieces.tasks.introductions import WHO
from pieces.widgets import Alignment
from pieces.widgets.alignment import TEXT, aligned
from pieces.widgets.base import source_of
from pieces.widgets.translating import MOST
from widgets.alignment.expected import translated

TestOracle = trials(__file__)

STREET = "明天那只大狗会在街上追两只鸟。"
SMALL = [*vocabulary(35), "<bos>", "<eos>"]


def own(text="Tom the blue book", **more):
    """Return an Alignment of a small random aligner."""
    return Alignment.from_model(build("aligner")[1], text, vocabulary=SMALL, **more)


@pytest.fixture(scope="module")
def shown(bench):
    widget = Alignment()
    with recorded(bench, widget, width=900) as page:
        yield page, widget


@pytest.fixture(autouse=True)
def afresh(request):
    if "shown" not in request.fixturenames:
        yield
        return
    page, widget = request.getfixturevalue("shown")
    page.mouse.move(2, 2)
    put(page, widget, text=TEXT, word=5)
    yield
    assert page.record.errors == []


def english(page, n):
    return page.locator(".p-bridge .p-chips .p-chip").nth(n)


def lit(page):
    """Where the ink of the word that is followed runs: its row, and the widest one's column."""
    page.evaluate(PAINTED)
    inks = page.locator(".p-ink-on").evaluate_all(
        "(all) => all.map((p) => [Number(p.getAttribute('stroke-width')), "
        "Number(p.dataset.row), Number(p.dataset.column)])"
    )
    return {row for _, row, _ in inks}, max(inks)[2]


class TestPython:
    def test_says_what_it_shows(self):
        said = Alignment().describe()
        assert TEXT in said
        assert "“the teacher took two books yesterday .”" in said
        assert "for “books” it looked most at 书, with a weight of 0.89" in said
        assert "looked" not in Alignment(word=0).describe()
        assert "for “.” it looked most" in Alignment(word=20).describe(), "the last word"
        assert Alignment(text="zebra").describe() == "the aligner reads “zebra”"

    def test_a_still_of_all_the_weights(self):
        still = Alignment().still()
        assert still.count("<rect") == 7 * 13
        assert all(f">{one}</text>" in still for one in [*TEXT, "teacher", "books"])
        assert Alignment(text="zebra").still() == ""

    @pytest.mark.parametrize("text", [TEXT, STREET, "猫cat<bos>狗", "", "猫" * 90])
    def test_cached_and_greedy_is_what_the_whole_model_says(self, text):
        characters, words, weights = aligned("aligner", text)
        expected = translated(text)
        assert (characters, words) == (expected[0], expected[1])
        assert len(characters) <= MOST
        assert weights.shape == expected[3].shape
        assert weights.sub(expected[3]).abs().max().item() < 1e-5 if words else True

    def test_its_place_is_as_high_as_its_text(self):
        rows = [Alignment.rows_shown({"model_name": "aligner", "text": t}) for t in (TEXT, "", 7)]
        assert rows == [13, 1, None]
        assert Alignment.rows_shown({"model_name": "own", "text": TEXT}) is None

    @pytest.mark.parametrize("bad", ["stories_llama", "translator", "own", "", None])
    def test_refuses_other_models(self, bad):
        with pytest.raises(ValueError, match="'aligner'"):
            Alignment(model_name=bad)

    def test_a_model_of_your_own(self):
        assert own().describe() == "a model of your own reads “Tom the blue book”"
        assert own().still() == ""
        with pytest.raises(ValueError, match="must be one of aligner"):
            Alignment.from_model(build("translator")[1], "a", vocabulary=SMALL)
        with pytest.raises(ValueError, match="no <bos>"):
            Alignment.from_model(build("aligner")[1], "a", vocabulary=vocabulary(37))


def glosses():
    """The page's own dictionary."""
    text = re.search(r"GLOSS = \{(.*?)\n\};", source_of("kit/chinese"), re.S)[1]
    return dict(re.findall(r'(\S+): "([^"]*)"', text))


def test_the_dictionary_is_that_of_the_grammar():
    """Every character of the language has a meaning, and every word that of the grammar."""
    found = glosses()
    spoken = {chinese: english.split() for chinese, english in WHO}
    assert set("".join(found)) == set(grammar.words()[0]) - {"。"} | {*spoken, "是"}
    assert {one: found[one] for one in spoken} == {one: who for one, (who, _) in spoken.items()}
    assert set(found["是"].split(", ")) == {verb for _, verb in spoken.values()}
    for row in (*grammar.TIMES, *grammar.ARTICLES, *grammar.ADJECTIVES, *grammar.NOUNS):
        if row[0]:
            assert found[row[0]] == row[2 if row in grammar.NOUNS else 1], row
    assert all(found[row[0]] == row[1] for row in grammar.VERBS)
    assert {found[row[1]] for row in grammar.NOUNS} == {"measure"}


def test_the_sentences_to_choose_are_of_the_language():
    """And the word that is followed at first looks into its own noun phrase, with a clear lead."""
    examples = re.search(r"examples: (\[.*?\n  \]),", source_of("alignment/alignment"), re.S)[1]
    examples = json.loads(re.sub(r",\s*\]", "]", examples))
    assert [TEXT, 5] in examples
    for text, word in examples:
        characters, words, sure, weights = translated(text)
        assert "".join(characters) == text
        assert words[-1] == "."
        assert sure.min() > 0.9
        row = weights[word - 1]
        assert row.max() > 0.5
        meant = {noun[n]: noun[0] + noun[1] for noun in grammar.NOUNS for n in (2, 3)}
        meant |= {english: chinese for chinese, english in grammar.ADJECTIVES}
        assert characters[int(row.argmax())] in meant[words[word - 1]]


@pytest.mark.parametrize("word", range(8))
@pytest.mark.parametrize("text", [TEXT, STREET, "那个学生看见书", "两只狗。"])
def test_each_word_of_each_sentence(shown, text, word):
    page, widget = shown
    put(page, widget, text=text, word=word)
    check(page, widget)


def test_a_word_is_followed_under_the_pointer_and_kept_by_a_click(shown):
    page, widget = shown
    english(page, 1).hover()
    page.evaluate(PAINTED)
    assert lit(page) == ({1}, 4)
    assert page.locator(".p-say").inner_text().startswith("“teacher” looked at 老师 (teacher)")
    assert state(page, widget)["word"] == 5, "it is only pointed at"
    page.mouse.move(2, 2)
    assert lit(page) == ({4}, 11)
    english(page, 1).click()
    page.mouse.move(2, 2)
    assert lit(page) == ({1}, 4)
    assert state(page, widget)["word"] == 2
    check(page, widget)
    english(page, 1).click()
    page.mouse.move(2, 2)
    page.evaluate(PAINTED)
    assert state(page, widget)["word"] == 0
    check(page, widget)


def test_words_by_arrow_keys(shown):
    page, widget = shown
    english(page, 4).focus()
    for key, word in [("ArrowDown", 6), ("ArrowUp", 5), ("Home", 1), ("End", 7), ("Escape", 0)]:
        page.keyboard.press(key)
        page.evaluate(PAINTED)
        assert state(page, widget)["word"] == word, key
        check(page, widget)


def test_the_map_and_the_words_share_one_selection(shown):
    page, widget = shown
    board = page.locator(".p-board")
    board.focus()
    board.press("ArrowDown")
    board.press("ArrowRight")
    page.evaluate(PAINTED)
    row = page.locator(".p-bridge .p-chips .p-on").inner_text()
    assert lit(page)[0] == {translated(TEXT)[1].index(row)}
    assert page.locator(".p-sources .p-on").count() == 1
    board.press("Enter")
    board.evaluate("(b) => b.blur()")
    page.evaluate(PAINTED)
    assert translated(TEXT)[1][state(page, widget)["word"] - 1] == row


def test_a_sentence_is_chosen(shown):
    page, widget = shown
    page.get_by_label("a sentence", exact=True).select_option(STREET)
    page.evaluate(PAINTED)
    assert state(page, widget)["text"] == STREET
    assert state(page, widget)["translation"][-2:] == ["tomorrow", "."]
    assert page.locator(".p-typed").input_value() == STREET
    check(page, widget)


def test_a_sentence_of_your_own_waits_among_the_others(shown):
    page, widget = shown
    page.locator(".p-typed").fill("两只猫追狗。")
    page.evaluate(PAINTED)
    choose = page.get_by_label("a sentence", exact=True)
    assert choose.input_value() == "两只猫追狗。"
    assert choose.locator("option:checked").inner_text() == "one of your own"
    check(page, widget)
    choose.select_option(TEXT)
    choose.select_option(label="one of your own")
    page.evaluate(PAINTED)
    assert state(page, widget)["text"] == "两只猫追狗。"
    check(page, widget)


def test_typed_characters_are_read_and_others_are_named(shown):
    page, widget = shown
    field = page.locator(".p-typed")
    field.fill("昨天那只cat看见了<b>一朵花龙zebra")
    note = page.locator(".p-typed-note")
    page.wait_for_function("document.querySelector('.p-typed-note').textContent.includes('cat')")
    assert "cannot read “cat”, “<b>”, “龙” and 1 more, so it skips them" in note.inner_text()
    read = "昨天那只看见了一朵花"
    assert page.locator(".p-sources .p-chip").all_inner_texts() == list(read)
    page.get_by_role("button", name="Write 猫 in place of cat").click()
    page.mouse.move(0, 0)  # or it would come to point at a word that is drawn under it
    page.evaluate(PAINTED)
    assert state(page, widget)["text"] == "昨天那只猫看见了<b>一朵花龙zebra"
    check(page, widget)


def test_a_doubtful_word_is_told(shown):
    page, widget = shown
    put(page, widget, text="那个学生看见书", word=3)
    _, words, sure, _ = translated("那个学生看见书")
    assert sure[2] < 0.5
    assert (
        f"not sure of “{words[2]}”: it gave it {sure[2]:.2f}" in page.locator(".p-say").inner_text()
    )


@pytest.mark.parametrize("text", ["", "zebra", "<bos>", "the teacher"])
def test_without_a_known_character_there_is_no_picture(shown, text):
    page, widget = shown
    put(page, widget, text=text)
    got = state(page, widget)
    assert (got["translation"], got["weights"], got["probabilities"]) == ([], [], [])
    assert page.locator(".p-pane:visible").count() == 0
    assert page.locator(".p-say").inner_text() == ""
    page.wait_for_function("document.querySelector('.p-typed-note').textContent.length > 20")


def test_a_long_text_is_read_from_its_beginning(shown):
    page, widget = shown
    put(page, widget, text=TEXT * 3, word=0)
    assert page.locator(".p-sources .p-chip").count() == MOST
    page.wait_for_function(
        "document.querySelector('.p-typed-note').textContent.includes('the first 24 characters')"
    )
    check(page, widget)


@pytest.mark.parametrize("text", [TEXT, STREET])
@pytest.mark.parametrize("width", [1280, 390, 360])
def test_its_space_is_reserved_and_nothing_sticks_out(bench, text, width):
    with bench.show(Alignment(text=text), width=width) as page:
        free, used = space(page.locator(".pieces-live"))
        assert -60 < free - used < 100, (free, used)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_control_and_picture_are_together_on_a_phone(bench):
    with bench.show(Alignment(), width=390, touch=True) as page:
        tops = [page.locator(s).bounding_box()["y"] for s in (".p-controls", ".p-board")]
        assert tops[1] - tops[0] < 700
        english(page, 0).tap()
        page.evaluate(PAINTED)
        assert lit(page) == ({0}, 2)


def test_a_model_of_your_own_says_what_pieces_says(bench):
    """Its language has no signs of its own: every word but the marks can be read."""
    widget = own("Tom the <eos> blue book", word=1)
    with bench.show(widget) as page:
        assert page.locator(".p-sources .p-chip").all_inner_texts() == [
            "Tom",
            "the",
            "blue",
            "book",
        ]
        got = state(page, widget)
        assert got["translation"]
        assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in got["weights"])
        before = picture(page)
        put(page, widget, word=2)
        assert picture(page) != before
        assert page.record.errors == []


def test_the_shipped_weights_are_those_it_reads(shown):
    _, widget = shown
    assert bytes(widget.get_state()["_weights"]) == trained.path_of("aligner").read_bytes()
