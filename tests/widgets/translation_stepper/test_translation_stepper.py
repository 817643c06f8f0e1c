"""TranslationStepper, used by its controls as a reader would, against the translator in PyTorch."""

import json
import re

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import build, vocabulary

from browser import PAINTED, picture, put, space, state
from pieces import trained
from pieces.tasks import grammar, introductions
from pieces.widgets import TranslationStepper
from pieces.widgets.base import source_of
from pieces.widgets.translating import MOST
from pieces.widgets.translation_stepper import TEXT, cross_weights, decoded, searched
from widgets.translation_stepper.expected import beams, greedy, inside, reads
from widgets.translation_stepper.samples import TEACHER

TestOracle = trials(__file__)

DOUBT = "那个学生看见书。"
SMALL = [*vocabulary(35), "<bos>", "<eos>"]
AFRESH = {"text": TEXT, "step": 3, "overruled": [], "search": "greedy", "n_beams": 3, "layer": 2,
          "head": 0, "attention": "cross"}  # fmt: skip


def own(text="Tom the blue book", **more):
    """Return a TranslationStepper of a small random encoder-decoder."""
    model = build("translator")[1]
    return TranslationStepper.from_model(model, text, vocabulary=SMALL, **more)


@pytest.fixture(scope="module")
def shown(bench):
    widget = TranslationStepper()
    with recorded(bench, widget, width=900) as page:
        yield page, widget


@pytest.fixture(autouse=True)
def afresh(request):
    if "shown" not in request.fixturenames:
        yield
        return
    page, widget = request.getfixturevalue("shown")
    page.mouse.move(2, 2)
    put(page, widget, **AFRESH)
    yield
    assert page.record.errors == []


def candidate(page, word):
    return page.locator(f'.p-next-row[data-word="{word}"]')


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


class TestPython:
    def test_says_what_it_shows(self):
        said = TranslationStepper().describe()
        assert said == (
            f"the translator reads “{TEXT}” and writes “I am a student .”; "
            "after <bos> I am a it takes “student”, to which it gives 0.9995"
        )
        chose = TranslationStepper(overruled=[[2, "teacher"]], step=1).describe()
        assert "writes “I teacher .” with words of the reader’s choice; after <bos> I it" in chose
        beam = TranslationStepper(search="beam", n_beams=1).describe()
        assert beam.endswith("“I am a student .”, by a beam search with 1 candidate")
        assert TranslationStepper(text="zebra").describe() == "the translator reads “zebra”"
        assert (
            TranslationStepper(step=23)
            .describe()
            .endswith("it takes “<eos>”, to which it gives 0.9999")
        )

    def test_a_still_of_the_cross_attention(self):
        still = TranslationStepper().still()
        assert still.count("<rect") == 6 * 7
        assert all(f">{one}</text>" in still for one in [*TEXT, "student", "&lt;eos&gt;"])
        assert TranslationStepper(text="zebra").still() == ""
        assert own().still() == ""

    @pytest.mark.parametrize("text", [TEXT, TEACHER, "猫cat<bos>狗", "", "猫" * 90])
    @pytest.mark.parametrize("overruled", [(), ((1, "you"),), ((2, "zebra"), (3, "<eos>"))])
    def test_it_writes_what_the_oracle_does(self, text, overruled):
        said = decoded("translator", text, overruled)
        assert said.characters == reads(text)
        assert len(said.characters) <= MOST
        if said.characters:
            ids, odds = greedy(said.characters, overruled)
            names = trained.shared("translator").task.vocabulary
            assert said.tokens == [names[n] for n in ids]
            expected = [float(row[n]) for row, n in zip(odds, ids, strict=True)]
            assert said.probabilities == pytest.approx(expected, abs=1e-5)
        else:
            assert said.tokens == said.probabilities == []

    @pytest.mark.parametrize(("layer", "head"), [(1, 0), (2, 3), (9, 9)])
    def test_the_weights_of_the_still(self, layer, head):
        said, weights = cross_weights("translator", TEACHER, layer, head)
        ids, _ = greedy(said.characters, ())
        expected, _ = inside(said.characters, ids, "cross", min(layer, 2), min(head, 4))
        assert torch.allclose(weights.double(), expected, atol=1e-5)

    @pytest.mark.parametrize("n", [1, 3, 5])
    def test_a_beam_search_in_words(self, n):
        names = trained.shared("translator").task.vocabulary
        ids, _, _ = beams(tuple(DOUBT), n)
        words = [names[k] for k in ids if names[k] != "<eos>"]
        assert searched("translator", DOUBT, n) == (words, len(beams(tuple(DOUBT), n)[2]))

    def test_its_place_is_as_high_as_its_text(self):
        rows = [
            TranslationStepper.rows_shown({"model_name": "translator", "text": text})
            for text in (TEXT, TEACHER, "", 7)
        ]
        assert rows == [7, 13, 1, None]
        assert TranslationStepper.rows_shown({"model_name": "own", "text": TEXT}) is None

    @pytest.mark.parametrize("bad", ["stories_llama", "aligner", "own", "", None])
    def test_refuses_other_models(self, bad):
        with pytest.raises(ValueError, match="'translator'"):
            TranslationStepper(model_name=bad)

    @pytest.mark.parametrize(
        "bad", [[[0, "a"]], [[25, "a"]], [[1, "a"], [1, "b"]], [["a", 1]], "ab", None, [[1, 2]]]
    )
    def test_refuses_choices_that_have_no_place(self, bad):
        with pytest.raises(ValueError, match=r"each place from 1 to 24 once"):
            TranslationStepper(overruled=bad)

    def test_a_model_of_your_own(self):
        assert own().describe() == "a model of your own reads “Tom the blue book”"
        with pytest.raises(ValueError, match="must be one of encoder_decoder"):
            TranslationStepper.from_model(build("aligner")[1], "a", vocabulary=SMALL)
        with pytest.raises(ValueError, match="no <bos>"):
            TranslationStepper.from_model(build("translator")[1], "a", vocabulary=vocabulary(37))


def test_the_sentences_to_choose_are_of_the_language():
    """Each of them is translated to its end; in one of them the model is in doubt."""
    listed = re.search(r"examples: (\[.*?\]),\n", source_of("translation_stepper/words"), re.S)[1]
    examples = json.loads(listed)
    known = set(grammar.words()[0]) | {one for one, _ in introductions.WHO} | {"是"}
    assert examples[0] == TEXT
    told = re.search(r"english: (\[.*?\]),\n", source_of("translation_stepper/words"), re.S)[1]
    meant = dict(zip(examples, json.loads(told), strict=True))
    sure = {}
    for text in examples:
        assert set(text) <= known
        said = decoded("translator", text)
        assert said.tokens[-2:] == [".", "<eos>"]
        written = " ".join(said.tokens[:-1]).replace(" .", ".")
        assert meant[text] == (written.replace("flower", "book") if text == DOUBT else written)
        sure[text] = min(said.probabilities)
    assert sure.pop(DOUBT) < 0.75
    assert min(sure.values()) > 0.99


@pytest.mark.parametrize("attention", ["cross", "decoder", "encoder"])
@pytest.mark.parametrize("step", range(0, 8, 2))
@pytest.mark.parametrize("text", [TEXT, TEACHER, DOUBT])
def test_each_step_of_each_sentence(shown, text, step, attention):
    page, widget = shown
    put(page, widget, text=text, step=step, attention=attention)
    check(page, widget)


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("head", range(5))
def test_each_head(shown, layer, head):
    page, widget = shown
    put(page, widget, text=TEACHER, step=5, layer=layer, head=head)
    check(page, widget)


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("text", [TEXT, DOUBT])
def test_each_step_of_each_beam(shown, text, n):
    page, widget = shown
    for step in range(0, len(beams(tuple(text), n)[2]) + 1, 3):
        put(page, widget, text=text, search="beam", n_beams=n, step=step)
        check(page, widget)


def test_the_film_goes_on_and_back_and_stops_at_the_end(shown):
    page, widget = shown
    button(page, "Step forward").click()
    assert state(page, widget)["step"] == 4
    check(page, widget)
    button(page, "Step forward").click()
    assert state(page, widget)["step"] == 5
    assert button(page, "Step forward").is_disabled()
    assert page.locator(".p-read .p-now").inner_text() == "<eos>"
    check(page, widget)
    slider = page.get_by_label("Words written so far").locator("input")
    slider.press("Home")
    assert state(page, widget)["step"] == 0
    assert button(page, "Step back").is_disabled()
    check(page, widget)


def test_it_plays_to_the_end(shown):
    page, widget = shown
    put(page, widget, step=4)
    button(page, "Play").click()
    page.wait_for_function("document.querySelector('.p-play-at').textContent === '5 written'")
    page.wait_for_selector("button[aria-label=Play]")
    check(page, widget)


def test_another_word_is_taken_and_the_rest_is_translated_from_there(shown):
    page, widget = shown
    put(page, widget, step=1)
    candidate(page, "teacher").click()
    now = state(page, widget)
    assert (now["overruled"], now["step"]) == ([[2, "teacher"]], 2)
    assert now["translation"] == list(decoded("translator", TEXT, ((2, "teacher"),)).tokens[:-1])
    assert now["translation"] != decoded("translator", TEXT).tokens[:-1]
    check(page, widget)
    put(page, widget, step=1)
    assert "but you took “teacher” with" in page.locator(".p-say").inner_text()
    check(page, widget)


def test_the_models_own_word_takes_a_choice_back_and_goes_on(shown):
    page, widget = shown
    put(page, widget, overruled=[[2, "teacher"], [3, "two"]], step=1)
    candidate(page, "am").click()
    now = state(page, widget)
    assert (now["overruled"], now["step"]) == ([[3, "two"]], 2)
    check(page, widget)


def test_a_word_without_a_row_of_its_own_is_taken(shown):
    page, widget = shown
    put(page, widget, step=2)
    others = page.get_by_label(re.compile(r"Take one of the \d+ others"))
    assert others.input_value() == ""
    others.select_option("river")
    now = state(page, widget)
    assert (now["overruled"], now["step"]) == ([[3, "river"]], 3)
    assert others.input_value() == ""
    check(page, widget)


def test_choices_are_taken_back_one_by_one_and_all_at_once(shown):
    page, widget = shown
    put(page, widget, overruled=[[1, "you"], [3, "two"], [20, "zebra"]], step=1)
    check(page, widget)
    button(page, "Take back “two” at place 3").click()
    assert state(page, widget)["overruled"] == [[1, "you"], [20, "zebra"]]
    check(page, widget)
    button(page, "Take all back").click()
    assert state(page, widget)["overruled"] == []
    assert not page.locator(".p-yours-box").is_visible()
    check(page, widget)


def test_a_choice_that_does_not_fit_waits_until_it_does(shown):
    """Word 7 comes only in a longer sentence: it is kept, marked, and used there."""
    page, widget = shown
    put(page, widget, overruled=[[7, "tomorrow"]])
    assert "The translation ends before place 7." in page.locator(".p-yours-box").inner_text()
    page.locator(".p-typed").fill(TEACHER)
    page.evaluate(PAINTED)
    now = state(page, widget)
    assert now["overruled"] == [[7, "tomorrow"]]
    assert now["translation"][6] == "tomorrow"
    assert page.locator(".p-yours-note").inner_text() == ""
    check(page, widget)


def test_a_choice_that_outlives_its_sentence_says_so(shown):
    """It is taken in what is typed next, letter by letter, even when the field was empty between."""
    page, widget = shown
    put(page, widget, overruled=[[1, "two"]], step=1)
    head, field = page.locator(".p-yours-head"), page.locator(".p-typed")
    assert head.inner_text() == "Your choices"
    field.press("End")
    for key in ("Backspace", "Backspace", "Control+a", "Delete", *TEACHER[:4]):
        field.press(key) if key.isascii() else field.type(key)
    page.evaluate(PAINTED)
    assert state(page, widget)["translation"][0] == "two"
    assert head.inner_text() == "Your choices, made for another sentence"
    check(page, widget)
    put(page, widget, overruled=[[2, "two"]])
    assert head.inner_text() == "Your choices"
    page.get_by_label("a sentence", exact=True).select_option(TEXT)
    assert not page.locator(".p-yours-box").is_visible()
    check(page, widget)


def test_a_translation_is_ended_by_hand(shown):
    page, widget = shown
    put(page, widget, overruled=[[3, "<eos>"]], step=9)
    now = state(page, widget)
    assert (now["translation"], now["step"]) == (["I", "am"], 2)
    check(page, widget)


def test_without_an_end_it_stops_at_the_most(shown):
    page, widget = shown
    never = [[place, "a"] for place in range(1, MOST + 1)]
    put(page, widget, overruled=never, step=MOST - 1)
    now = state(page, widget)
    assert (len(now["translation"]), now["step"]) == (MOST, MOST - 1)
    check(page, widget)


def test_a_beam_search_does_not_use_the_choices_and_keeps_them(shown):
    page, widget = shown
    put(page, widget, overruled=[[2, "teacher"]])
    page.get_by_label("search", exact=True).select_option("beam")
    now = state(page, widget)
    assert (now["search"], now["overruled"]) == ("beam", [[2, "teacher"]])
    assert now["translation"] == ["I", "am", "a", "student", "."]
    check(page, widget)
    page.get_by_label("candidates kept").press("End")
    assert state(page, widget)["n_beams"] == 5
    check(page, widget)
    page.get_by_label("search", exact=True).select_option("greedy")
    assert state(page, widget)["translation"][1] == "teacher"
    assert not page.get_by_label("candidates kept").is_visible()
    check(page, widget)


def test_a_word_before_is_followed_under_the_pointer_and_a_press_goes_back(shown):
    page, widget = shown
    chips = page.locator(".p-bridge .p-chips .p-chip")
    chips.nth(0).hover()
    page.evaluate(PAINTED)
    said = page.locator(".p-say").inner_text()
    weights, _ = inside(list(TEXT), greedy(list(TEXT), ())[0][:4], "cross", 2, 0)
    assert said.startswith("For “I”, Layer 2 looked most at 是 (am, are, is) with")
    assert f"{weights[0].max():.2f}" in said
    rows = page.locator(".p-ink-on").evaluate_all("(all) => all.map((p) => p.dataset.row)")
    assert set(rows) == {"0"}
    assert state(page, widget)["step"] == 3, "it is only pointed at"
    chips.nth(1).click()
    page.mouse.move(2, 2)
    page.evaluate(PAINTED)
    assert state(page, widget)["step"] == 1
    check(page, widget)


def test_a_press_on_the_map_goes_back(shown):
    page, widget = shown
    board = page.locator(".p-look .p-pane:not([hidden]) .p-board")
    board.focus()
    board.press("ArrowDown")
    board.press("ArrowDown")
    on = page.locator(".p-bridge .p-chips .p-on").get_attribute("data-at")
    board.press("Enter")
    board.evaluate("(b) => b.blur()")
    page.evaluate(PAINTED)
    assert state(page, widget)["step"] == int(on) < 3
    check(page, widget)


def test_a_sentence_is_chosen_and_begins_afresh(shown):
    page, widget = shown
    put(page, widget, overruled=[[2, "teacher"]])
    page.get_by_label("a sentence", exact=True).select_option(TEACHER)
    now = state(page, widget)
    assert (now["text"], now["overruled"], now["step"]) == (TEACHER, [], 0)
    assert page.locator(".p-typed").input_value() == TEACHER
    check(page, widget)


def test_typed_characters_are_read_and_others_are_named(shown):
    page, widget = shown
    page.locator(".p-typed").fill("我是cat<b>一个龙学生zebra。")
    note = page.locator(".p-typed-note")
    page.wait_for_function("document.querySelector('.p-typed-note').textContent.includes('cat')")
    assert "cannot read “cat”, “<b>”, “龙” and 1 more, so it skips them" in note.inner_text()
    assert page.locator(".p-sources .p-chip").all_inner_texts() == list(TEXT)
    page.get_by_role("button", name="Write 猫 in place of cat").click()
    assert state(page, widget)["text"] == "我是猫<b>一个龙学生zebra。"
    check(page, widget)


@pytest.mark.parametrize("text", ["", "zebra", "<bos>", "the teacher"])
@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_without_a_known_character_there_is_no_picture(shown, text, search):
    page, widget = shown
    put(page, widget, text=text, search=search, overruled=[[2, "teacher"]])
    check(page, widget)
    now = state(page, widget)
    results = [
        now[name] for name in ("translation", "probabilities", "candidates", "beams", "weights")
    ]
    assert results == [[], [], [], [], []]
    assert now["overruled"] == [[2, "teacher"]], "it waits"
    assert page.locator(".p-say").inner_text() == ""
    page.wait_for_function("document.querySelector('.p-typed-note').textContent.length > 20")
    put(page, widget, text=TEXT)
    check(page, widget)


def test_a_long_text_is_read_from_its_beginning(shown):
    page, widget = shown
    put(page, widget, text=TEACHER * 3)
    assert page.locator(".p-sources .p-chip").count() == MOST
    page.wait_for_function(
        "document.querySelector('.p-typed-note').textContent.includes('the first 24 characters')"
    )
    check(page, widget)


@pytest.mark.parametrize(
    "bad", [None, "ab", [None], [[1]], [[0, "a"]], [[1, 2]], [[1.5, "a"]], [[1, "a"], [1, "b"]], {}]
)
def test_what_is_no_choice_is_left_out(shown, bad):
    page, widget = shown
    put(page, widget, overruled=bad)
    kept = state(page, widget)["overruled"]
    assert kept == ([[1, "a"]] if bad and len(bad) == 2 and bad != "ab" else [])
    check(page, widget)


@pytest.mark.parametrize("width", [1280, 390, 360])
@pytest.mark.parametrize(
    "widget",
    [
        {},
        {"text": TEACHER, "step": 7},
        {"search": "beam", "step": 2},
        {"overruled": [[2, "teacher"]]},
    ],
    ids=str,
)
def test_its_space_is_reserved_and_nothing_sticks_out(bench, widget, width):
    with bench.show(TranslationStepper(**widget), width=width) as page:
        free, used = space(page.locator(".pieces-live"))
        assert -60 < free - used < 100, (free, used)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_step_moves_nothing_on_the_page(bench, search):
    """The picture grows within its place, so that the controls stay under the finger."""
    with bench.show(TranslationStepper(search=search, n_beams=2), width=768) as page:
        heights = set()
        for step in range(6):
            page.get_by_label("Words written so far").locator("input").fill(str(step))
            page.evaluate(PAINTED)
            heights.add(round(page.locator(".p-look").bounding_box()["y"]))
        assert max(heights) - min(heights) <= (0 if search == "greedy" else 60)


@pytest.mark.parametrize("width", [390, 320])
def test_controls_and_pictures_are_together_on_a_phone(bench, width):
    with bench.show(TranslationStepper(), width=width, touch=True) as page:
        top = {
            name: page.locator(where).first.bounding_box()["y"]
            for name, where in [("film", ".p-player"), ("bridge", ".p-bridge"), ("rows", ".p-next-list"),
                                ("which", ".p-which"), ("map", ".p-look .p-pane:not([hidden])")]
        }  # fmt: skip
        bottom = page.locator(".p-next-list").bounding_box()
        assert bottom["y"] + bottom["height"] - top["film"] < 800
        assert top["rows"] - top["film"] < 700
        assert top["map"] - top["which"] < 300
        candidate(page, "students").tap()
        page.evaluate(PAINTED)
        assert page.locator(".p-read .p-own").inner_text() == "students"


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_model_of_your_own_says_what_pieces_says(bench, search):
    """Its language has no signs of its own: every word but the marks can be read."""
    widget = own("Tom the <eos> blue book", search=search, step=1)
    with bench.show(widget) as page:
        read = page.locator(".p-sources .p-chip").all_inner_texts()
        assert read == (["Tom", "the", "blue", "book"] if search == "greedy" else [])
        got = state(page, widget)
        assert got["translation"]
        assert len(got["weights"]) == 2
        assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in got["weights"])
        before = picture(page)
        put(page, widget, layer=1, head=3)
        assert picture(page) != before
        assert page.record.errors == []


def test_the_shipped_weights_are_those_it_reads(shown):
    _, widget = shown
    assert bytes(widget.get_state()["_weights"]) == trained.path_of("translator").read_bytes()
