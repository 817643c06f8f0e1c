"""SamplingExplorer: it writes by every hand, and what it draws from is what torch says."""

import random

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import build, opened_twin, packed

from browser import PAINTED, put, said, state
from pieces import sampling
from pieces.generate import generate
from pieces.models.llama import LlamaConfig, llama
from pieces.tasks import Stories
from pieces.tasks.stories_plots import language
from pieces.tasks.stories_telling import Listener, Teller
from pieces.tasks.stories_words import VOCABULARY
from pieces.widgets import SamplingExplorer
from pieces.widgets.world import world
from widgets.sampling_explorer.expected import next_word, shipped
from widgets.sampling_explorer.samples import example as writing

TestOracle = trials(__file__)

TEXT = SamplingExplorer.class_traits()["text"].default_value


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("temperature", -0.1), ("temperature", 3.1), ("top_k", -1), ("top_k", 1.5), ("top_p", 0.0),
     ("top_p", 1.1), ("seed", -1), ("written", "took"), ("written", ["a"] * 129), ("text", None),
     ("world", {"GIRLS": ["Eve"]}), ("model_name", "translator")],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        SamplingExplorer(**{trait: value})


def test_says_what_is_shown():
    assert "temperature 1, seed 1" in repr(SamplingExplorer())
    told = repr(SamplingExplorer(written=["took"], top_k=5, top_p=0.9, temperature=0.5))
    assert "wrote “took” (temperature 0.5, top-k 5, top-p 0.9, seed 1)" in told


@pytest.fixture(scope="module")
def twin(chromium):
    modules = (
        "twin/model",
        "stories/plots",
        "stories/prose",
        "sampling_explorer/writer",
        "sampling_explorer/next_word",
    )
    with opened_twin(chromium, modules=modules) as twin:
        yield twin


# Together these come to every phrase of the program, as the test says.
SEEDS = (91, 118, 31, 94, 7, 10, 48, 74, 105, 2, 4, 53)


def told(length, seed):
    """Stories of the whole world."""
    teller = Teller(length, seed)
    teller.through(language(None, 10))
    return teller.words[:length]


def stories(count):
    """Random texts, broken off somewhere, each second with a wrong word."""
    draw = random.Random(3)
    for seed in range(count):
        words = told(draw.randint(1, 250), 1000 + seed)
        if seed % 2:
            words[draw.randrange(len(words))] = draw.choice(VOCABULARY)
        yield words


def test_the_page_knows_what_can_follow_as_the_stories_do(twin):
    seen = set()
    for words in [[], ["zebra"], *stories(40), *(told(400, seed) for seed in SEEDS)]:
        listener = Listener(words)
        listener.through(language(None, 10))
        script = "plots.trueNext(a.words, a.world).map((m) => Object.fromEntries(m))"
        got = twin(script, words=words, world=world())
        assert len(got) == len(listener.expected), words
        for mine, true in zip(got, listener.expected, strict=True):
            assert mine.keys() == true.keys()
            assert all(abs(mine[word] - p) < 1e-12 for word, p in true.items())
            seen |= mine.keys()
    assert seen == set(VOCABULARY), "each phrase of the program was come to"


def test_a_text_is_printed_as_the_stories_are(twin):
    for words in stories(30):
        got = twin(
            "prose.prose(a.words).map(({ gap, shown }) => gap + shown).join('')", words=words
        )
        assert got.strip("\n") == Stories().join(words)


@pytest.mark.parametrize("name", ["llama", "two-key-heads", "mixtral", "gpt2"])
def test_the_cache_is_rewound_to_what_the_texts_share(twin, name):
    kind, model = build(name)
    twin.load(name, packed(model, kind))
    texts = [[4, 5, 6], [4, 5, 6, 7], [4, 5, 8], [4, 5, 8], [9, 4, 5, 8, 6], [9], [9, 1, 2]]
    script = """(() => { const read = writer.writer(models[a.name]);
      return a.texts.map((ids) => { const { logits, computed } = read(ids);
        return [computed, logits]; }); })()"""
    got = twin(script, name=name, texts=texts)
    assert [computed for computed, _ in got] == [3, 1, 1, 1, 5, 1, 2]
    for ids, (_, logits) in zip(texts, got, strict=True):
        with torch.no_grad():
            true = model(torch.tensor([ids]))[0, -1]
        assert (torch.tensor(logits) - true).abs().max() < 1e-5


def test_ties_at_the_bound_and_odd_sizes(twin):
    """What is cut, and by which rule; the distribution itself is held in test_model_sampling."""
    logits = torch.tensor([1.0, 3.0, 3.0, 0.0, 3.0, 2.0, 2.0])
    script = "next_word.candidates(new Float32Array(a.logits), a.rules, null)"
    for k, p in [(2, None), (4, None), (4, 0.5), (None, 0.5), (None, 0.05), (7, 0.99), (99, None)]:
        true = logits if k is None else sampling.top_k(logits, k)
        true = true if p is None else sampling.top_p(true, p)
        got = twin(script, logits=logits.tolist(), rules={"temperature": 1, "k": k, "p": p})
        assert [one["id"] for one in got] == [1, 2, 4, 5, 6, 0, 3]
        shares = true.softmax(-1)
        for one in got:
            assert one["set"] == pytest.approx(float(shares[one["id"]]), abs=1e-6)
            assert bool(one["cut"]) == (one["set"] == 0)
    greedy = twin(script, logits=logits.tolist(), rules={"temperature": 0, "k": None, "p": None})
    assert [one["cut"] for one in greedy] == [""] + ["greedy"] * 6


def test_writes_by_steps_takes_back_and_repeats(bench):
    widget = SamplingExplorer()
    with recorded(bench, widget) as page:
        check(page, widget)
        press = lambda name: page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
        for _ in range(6):
            coming = state(page, widget)["draw"][1]
            press("One word")
            now = state(page, widget)
            assert now["written"][-1] == coming
            assert now["computed"] == 1
        wrote = now["written"]
        check(page, widget)
        press("Take back")
        assert state(page, widget)["written"] == wrote[:-1]
        assert state(page, widget)["draw"][1] == wrote[-1], "the same place, the same number"
        page.locator("[data-written='2']").click()
        assert state(page, widget)["written"] == wrote[:2]
        press("Start again")
        assert state(page, widget)["written"] == []
        for _ in range(6):
            press("One word")
        assert state(page, widget)["written"] == wrote
        press("Another draw")
        assert state(page, widget)["seed"] == 2
        check(page, widget)


def test_greedy_text_is_that_of_generate(bench):
    model, words, task = shipped("stories_llama")
    start = task.encode(TEXT)[None]
    expected = [words[i] for i in generate(model, start, 12)[0, start.shape[1] :].tolist()]
    widget = SamplingExplorer(temperature=0)
    with recorded(bench, widget) as page:
        check(page, widget)
        for _ in range(12):
            page.get_by_role("button", name="One word").click()
        assert state(page, widget)["written"] == expected


def test_a_candidate_is_taken_and_the_controls_move_the_bars(bench):
    widget = SamplingExplorer()
    with recorded(bench, widget) as page:
        row = page.locator("button.p-choice").nth(4)
        word = row.get_attribute("data-word")
        row.hover()
        lit = page.locator(".p-line-parts [data-lit-now]")
        assert lit.get_attribute("data-word") == word
        page.mouse.move(2, 2)
        assert lit.count() == 0
        row.focus()
        row.press("Enter")
        assert state(page, widget)["written"] == [word]
        check(page, widget)
        page.get_by_role("slider", name="temperature").press("ArrowRight")
        page.get_by_role("slider", name="top-k").press("ArrowLeft")
        page.get_by_role("slider", name="top-p").press("ArrowLeft")
        now = state(page, widget)
        assert (now["temperature"], now["top_k"], now["top_p"]) == (1.1, 100, 0.95)
        check(page, widget)
        page.get_by_role("slider", name="temperature").press("Home")
        assert state(page, widget)["draw"][0] is None
        assert page.get_by_role("button", name="Another draw").is_disabled()
        check(page, widget)


def test_plays_and_pauses(bench):
    widget = SamplingExplorer()
    with bench.show(widget) as page:
        page.get_by_role("button", name="Write", exact=True).click()
        assert len(state(page, widget)["written"]) >= 1
        page.wait_for_function(
            "(id) => window.pieces.model(id).get('written').length >= 3", arg=widget.model_id
        )
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Write", exact=True).wait_for()
        resting = state(page, widget)["written"]
        page.wait_for_timeout(900)
        assert state(page, widget)["written"] == resting


def test_it_ends_where_the_page_is_full(bench):
    widget = SamplingExplorer(written=["a"] * (128 - len(Stories().encode(TEXT))))
    with recorded(bench, widget) as page:
        for name in ("Write", "One word"):
            assert page.get_by_role("button", name=name, exact=True).is_disabled()
        assert "holds 128 words" in said(page)
        check(page, widget)
        page.get_by_role("button", name="Take back").click()
        page.evaluate(PAINTED)
        assert page.get_by_role("button", name="One word").is_enabled()


def test_typed_text_is_read_and_a_strange_word_is_named(bench):
    widget = SamplingExplorer()
    with recorded(bench, widget) as page:
        page.get_by_role("button", name="One word").click()
        field = page.locator("textarea")
        field.fill("In a quiet <b>zebra</b>")
        now = state(page, widget)
        assert now["written"] == [], "a new beginning"
        page.get_by_text("The model has never met").wait_for()
        assert page.locator(".pieces b", has_text="zebra").count() == 0
        assert now["candidates"][0][0] == "street"
        field.fill("zebra")
        assert state(page, widget)["candidates"] == []
        assert not page.locator(".p-story").is_visible()
        page.get_by_role("button", name="two friends").click()
        assert state(page, widget)["text"].startswith("This is the story")
        check(page, widget)
        field.fill("Lily had a quiet ball.")
        page.evaluate(PAINTED)
        assert "No story of this world has “Lily” at the place" in said(page)
        check(page, widget)
        assert page.record.errors == []


def test_by_a_finger_on_a_phone(bench):
    widget = SamplingExplorer()
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator("button.p-choice").nth(2).tap()
        assert len(state(page, widget)["written"]) == 1
        page.get_by_role("button", name="One word").tap()
        page.locator("[data-written='0']").tap()
        assert state(page, widget)["written"] == []
        check(page, widget)
        for part in (".p-choices", ".p-controls"):
            box = page.locator(part).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
        top = page.locator(".p-choices").bounding_box()["y"]
        end = page.locator(".p-controls").bounding_box()
        assert end["y"] + end["height"] - top < 700, "control and picture together"


def test_a_model_of_ones_own(bench):
    widget = writing(temperature=1.5, top_k=9, top_p=0.8, seed=4)
    with recorded(bench, widget) as page:
        check(page, widget)
        assert state(page, widget)["distance"] is None
        assert page.locator(".p-starts button").count() == 0, "beginnings of other words"
        page.get_by_role("button", name="One word").click()
        check(page, widget)
        assert page.record.errors == []


def test_an_own_model_of_the_stories_words_is_held_against_the_truth(bench):
    task = Stories()
    torch.manual_seed(0)
    model = llama(
        LlamaConfig(vocab_size=task.vocab_size, d_model=16, n_layers=1, n_heads=2, d_ff=24)
    )
    widget = SamplingExplorer.from_model(model, "In a quiet", vocabulary=task)
    ids = task.encode("In a quiet")
    with torch.no_grad():
        own = model(ids[None])[0, -1].softmax(-1)
    far = float((own - task.true_next(ids[None])[0, -1]).abs().sum() / 2)
    with bench.show(widget) as page:
        assert state(page, widget)["distance"]["model"] == pytest.approx(far, abs=1e-5)
        assert page.locator(".p-starts button").count() == 4


def test_what_python_puts_is_shown_and_what_fails_is_left_out(bench):
    widget = SamplingExplorer()
    with recorded(bench, widget) as page:
        put(page, widget, written=["took", "zebra!", "the"], top_k=7, seed=9)
        now = state(page, widget)
        assert now["written"] == ["took", "the"]
        check(page, widget)
        assert next_word(now)["order"][0] == VOCABULARY.index(now["candidates"][0][0])
        put(page, widget, world={})
        assert "known for the words of the stories only" in said(page)
        assert state(page, widget)["distance"] is None
