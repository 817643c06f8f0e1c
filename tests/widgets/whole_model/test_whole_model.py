"""WholeModel by its controls, as a reader would: what it draws is held against torch."""

import re
from contextlib import ExitStack, contextmanager

import pytest
from oracle import check, percent, recorded
from trials import trials
from twins import build, vocabulary

from browser import PAINTED, put, said, state
from pieces.switches import parts
from pieces.trained import load
from pieces.widgets import WholeModel
from widgets.whole_model.expected import inner, read, shipped

TestOracle = trials(__file__)

MODELS = WholeModel.models
EACH = [MODELS[0], *(pytest.param(name, marks=pytest.mark.sweep) for name in MODELS[1:])]
SHORT = "Lily had a red ball . She took the"


def tiny(name="llama", text="the blue book . Tom the blue ice-cream", **more):
    _, model = build(name)
    words = vocabulary(model.config.vocab_size)
    return WholeModel.from_model(model, text, vocabulary=words, **more)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("word", 65), ("word", -1), ("off", ["layer.0.head.1"]), ("off", "norm"), ("off", [1]),
     ("off", ["layer.1.attention.bias"]), ("part", "layer.1"), ("part", 3), ("bars", "vote"),
     ("step", -1), ("layer", 65), ("text", 3), ("target", "x" * 41), ("model_name", "translator"),
     ("links", {"attention": "https://elsewhere.org"}), ("links", {"heads": "a"}), ("links", []),
     ("world", {"GIRLS": []}), ("opened", [1])],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        WholeModel(**{trait: value})


def test_says_what_is_shown():
    widget = WholeModel(off=["layer.2.head.4"], part="layer.1.head.2")
    assert "without layer.2.head.4; opened at layer.1.head.2" in repr(widget)


def test_a_still_of_each_model_marks_the_opened_part():
    for name in MODELS:
        still = WholeModel(model_name=name, part="layer.2.head.4").still()
        assert still.count('fill="var(--p-weight)"') == 1
        assert still.count("<text") > 50
    assert 'var(--p-weight)"' not in WholeModel().still()
    assert WholeModel(text="qqq").still() == ""
    assert tiny().still() == ""


def test_a_still_says_what_the_model_would_say():
    widget = WholeModel(text=SHORT)
    words = re.findall(r">([^<>]+)</text>", widget.still())
    _model, names, task = shipped("stories_llama")
    _, _strips, seen = inner("stories_llama", tuple(task.encode(SHORT).tolist()), ())
    for strip in seen:
        assert names[int(strip[-1].argmax())] in words


STATES = {
    "llama": {}, "moe": {"model_name": "stories_moe"}, "attention": {"model_name": "stories_attention"},
    "short": {"text": SHORT}, "one word": {"text": "Once"}, "two words": {"text": "Lily had"}, "a word before": {"word": 6},
    "another target": {"target": "ball"}, "a head out": {"off": ["layer.2.head.4"]},
    "attention out": {"off": ["layer.1.attention", "positions"]},
    "no final norm, told": {"text": SHORT, "off": ["norm"], "step": 9},
    "no path, no norm": {"off": ["layer.2.feed_forward.path", "norm"], "word": 5},
    "an expert out": {"model_name": "stories_moe", "off": ["layer.1.expert.2"]},
    "a silent head opened": {"part": "layer.2.head.4", "off": ["layer.1.attention", "layer.2.head.4"]},
    "a silent layer's head": {"part": "layer.1.head.2", "off": ["layer.1.attention"]},
    "a head opened": {"part": "layer.2.head.4"}, "a middle word's head": {"part": "layer.1.head.1", "word": 9},
    "units opened": {"part": "layer.3.feed_forward"}, "votes opened": {"part": "next word"},
    "an early word's head": {"part": "layer.1.head.1", "word": 2},
    "units of a short text": {"text": SHORT, "part": "layer.3.feed_forward"},
    "experts opened": {"model_name": "stories_moe", "part": "layer.1.feed_forward", "word": 4},
    "an expert opened": {"model_name": "stories_moe", "part": "layer.2.expert.1"},
}  # fmt: skip
# What is said of parts that are off, which no width changes.
OUT = {
    "positions out, opened": {"part": "positions", "off": ["positions"]},
    "a skip out, opened": {"part": "layer.2.feed_forward.path", "off": ["layer.2.feed_forward.path"]},
    "a norm out, opened": {"part": "layer.2.attention.norm", "off": ["layer.2.attention.norm"]},
    "the final norm out, opened": {"part": "norm", "off": ["norm"]},
    "units out, opened": {"text": SHORT, "part": "layer.3.feed_forward", "off": ["layer.3.feed_forward"]},
    "an expert out, opened": {
        "model_name": "stories_moe", "part": "layer.2.expert.1", "off": ["layer.2.expert.1"]},
    "experts out, opened": {
        "model_name": "stories_moe", "part": "layer.2.feed_forward", "off": ["layer.2.feed_forward"]},
    "losses of an earlier word": {"text": SHORT, "bars": "cost", "word": 4},
    "losses with a part out": {"text": SHORT, "bars": "cost", "off": ["layer.2.head.4"]},
    "attention out, told": {"text": SHORT, "off": ["layer.2.attention"], "step": 5},
    "its heads out, told": {
        "text": SHORT, "off": [f"layer.2.head.{n}" for n in (1, 2, 3, 4)], "step": 5},
    "a bold head out, told": {"text": SHORT, "off": ["layer.2.head.4"], "step": 5},
    "units out, told": {"text": SHORT, "off": ["layer.2.feed_forward"], "step": 6},
    "a skip out, told": {"text": SHORT, "off": ["layer.2.feed_forward.path"], "step": 6},
    "a table read without the norm": {"text": SHORT, "off": ["norm"], "step": 2},
    "an expert out, told": {"model_name": "stories_moe", "off": ["layer.1.expert.2"], "step": 4},
}  # fmt: skip


# What a test may set.
SET = ("text", "word", "off", "part", "bars", "step", "layer", "target", "world")


@pytest.fixture(scope="module")
def shown(bench):
    """Open a model at one width, once for all tests of it: to open it takes longer than most of them.

    Each finds it at rest with the traits it asks for, whatever the one before has done at it.
    """
    stands = {}
    with ExitStack() as pages:

        @contextmanager
        def at(model_name=MODELS[0], width=1280, **asked):
            kind = model_name, width
            if kind not in stands:
                widget = WholeModel(model_name=model_name)
                page = pages.enter_context(recorded(bench, widget, width=width))
                stands[kind] = page, widget, {one: getattr(widget, one) for one in SET}
            page, widget, plain = stands[kind]
            put(page, widget, **(plain | asked))
            try:
                yield page, widget
            except BaseException:
                del stands[kind]  # the next one gets a new page
                raise
            assert page.record.errors == []
            page.mouse.move(2, 2)
            page.evaluate("document.activeElement.blur()")

        yield at


def by_model(states, width, marks=()):
    """Return the cases of a width, a model's together: its page is opened once."""
    names = sorted(states, key=lambda name: states[name].get("model_name", MODELS[0]))
    return [pytest.param(width, states[name], id=f"{width}-{name}", marks=marks) for name in names]


@pytest.mark.parametrize(
    ("width", "asked"),
    [*by_model(STATES | OUT, 1280), *by_model(STATES, 390, pytest.mark.sweep)],
)
def test_draws_what_torch_says(shown, width, asked):
    with shown(width=width, **asked) as (page, widget):
        check(page, widget)
        now = state(page, widget)
        assert {trait: now[trait] for trait in asked} == asked, "it is what was asked for"


@pytest.mark.parametrize("name", ["llama", "gpt2", "mixtral", "attention-tied"])
def test_a_model_of_your_own(bench, name):
    widget = tiny(name)
    with bench.show(widget) as page:
        assert page.locator(".w-column").count() == 8
        assert page.locator(".w-next-row").count() == 5
        assert "true" not in page.locator(".w-next-row").first.get_attribute("aria-label")
        assert page.record.errors == []


def test_a_wide_page_has_it_without_scrolling(bench):
    widget = WholeModel()
    with recorded(bench, widget, width=1366, height=768) as page:
        page.add_style_tag(
            content="main { max-width: 1340px !important; padding: 0 8px !important }"
        )
        page.wait_for_timeout(100)
        page.evaluate(
            "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
        )
        box = page.locator(".pieces").bounding_box()
        assert box["width"] > 1300
        assert box["height"] <= 712, "the page's own head needs 56 px"
        for lens in page.locator(".w-lens").all()[:3]:
            assert lens.text_content()
        check(page, widget)


class TestHands:
    def test_typing_on_computes_the_new_column_alone(self, shown):
        with shown(text=SHORT) as (page, widget):
            field = page.locator("textarea")
            field.press("End")
            field.press_sequentially(" red")
            check(page, widget)
            assert state(page, widget)["computed"] == 1
            assert page.locator(".w-column").count() == 10
            field.press_sequentially(" ball")
            assert state(page, widget)["computed"] == 1
            check(page, widget)

    def test_a_switch_takes_a_part_out_and_leaves_a_ghost(self, shown):
        with shown() as (page, widget):
            switch = page.get_by_role("switch", name="head 2.4")
            switch.click()
            assert state(page, widget)["off"] == ["layer.2.head.4"]
            assert page.locator(".w-next-row s:visible").count() == 5
            check(page, widget)
            switch.press("Space")
            assert state(page, widget)["off"] == []
            check(page, widget)
            page.get_by_role("switch", name="attention 1", exact=True).click()
            page.get_by_role("button", name="Switch all on").click()
            assert state(page, widget)["off"] == []

    @pytest.mark.parametrize("name", EACH)
    def test_every_switch_by_its_own_button(self, shown, name):
        names = parts(load(name).model)
        with shown(model_name=name, text=SHORT) as (page, widget):
            for part in names[:: 5 if name != "stories_attention" else 3]:
                page.locator(f'.w-switch[data-part="{part}"]').click()
                assert state(page, widget)["off"] == [part]
                check(page, widget)
                page.locator(f'.w-switch[data-part="{part}"]').click()

    def test_the_keys_choose_a_word_and_open_and_leave_a_part(self, shown):
        with shown(text=SHORT) as (page, widget):
            for key, word in (("ArrowLeft", 8), ("ArrowRight", 0), ("Home", 1), ("ArrowRight", 2), ("End", 0),
                              ("ArrowLeft", 8)):  # fmt: skip
                page.locator(".w-picture").press(key)
                assert state(page, widget)["word"] == word
            check(page, widget)
            page.locator('[data-name="layer.1.head.2"] .w-part-open').press("Enter")
            assert state(page, widget)["part"] == "layer.1.head.2"
            assert page.locator(".w-next-row").first.is_visible(), "the bars stay in sight"
            check(page, widget)
            page.keyboard.press("Escape")
            assert state(page, widget)["part"] == ""
            focus = "document.activeElement.closest('.w-part')?.dataset.name"
            assert page.evaluate(focus) == "layer.1.head.2"
            check(page, widget)

    def test_the_pointer_at_a_head_leaves_its_layer_these_wires_alone(self, shown):
        heads = "(all) => [...new Set(all.map((one) => one.dataset.head))].sort()"
        with shown(text=SHORT) as (page, widget):
            wires = page.locator(".w-wires path")
            before = wires.evaluate_all(heads)
            for head in ("1.2", "2.4"):
                layer, n = head.split(".")
                assert {one for one in before if one[0] == layer} > {head}
                page.locator(f'[data-name="layer.{layer}.head.{n}"] .w-part-open').hover()
                others = [one for one in before if one[0] != layer]
                assert wires.evaluate_all(heads) == sorted([*others, head])
            page.mouse.move(2, 2)
            check(page, widget)

    def test_another_first_word_has_wires_of_its_own(self, shown):
        with shown(text="Lily had a red ball. She took the") as (page, widget):
            check(page, widget)
            put(page, widget, text="Anna had a red ball. She took the")
            assert state(page, widget)["computed"] == 9
            check(page, widget)

    def test_the_word_under_the_pointer_is_followed_while_it_is_there(self, shown):
        with shown(text=SHORT) as (page, widget):
            page.locator(".w-column").nth(2).locator(".w-word").hover()
            assert page.locator(".w-next-title").inner_text() == "After “a”"
            assert page.locator(".w-followed").get_attribute("data-t") == "2"
            page.mouse.move(2, 2)
            assert page.locator(".w-next-title").inner_text() == "After “the”"
            check(page, widget)

    def test_a_pressed_word_has_its_votes(self, shown):
        with shown() as (page, widget):
            page.locator(".w-next-row").nth(1).click()
            assert state(page, widget)["target"] == "ball"
            check(page, widget)

    def test_the_pointer_sweeps_and_the_sum_follows(self, bench):
        widget = WholeModel(text=SHORT, part="layer.2.head.4")
        with recorded(bench, widget) as page:
            board = page.locator(".w-map-weights .p-board")
            board.focus()
            for key in ("End", "ArrowDown"):
                board.press(key)
            before = page.locator(".w-sum").inner_text()
            board.press("ArrowDown")
            assert page.locator(".w-sum").inner_text() != before
            board.press("Home")
            title = page.locator(".w-sum-title").inner_text()
            assert title == "“a” asks, “Lily” answers"
            values = inner("stories_llama", tuple(read(state(page, widget))), ())[0]
            line = page.locator(".w-line").nth(1).inner_text()
            assert float(line.split("= ")[1]) == pytest.approx(
                float(values["layer.2.weights"][3, 2, 0]), abs=6e-4
            )


def test_what_each_part_is_worth_is_tried_while_it_rests(bench):
    widget = WholeModel(text=SHORT, bars="cost")
    with recorded(bench, widget) as page:
        read_losses = f"() => window.pieces.model('{widget.model_id}').get('losses')"
        page.wait_for_function(read_losses)
        losses = page.evaluate(read_losses)
        _model, _names, task = shipped("stories_llama")
        ids = tuple(task.encode(SHORT).tolist())
        plain = inner("stories_llama", ids, ())[0]["logits"].softmax(-1)[-1]
        best = int(plain.argmax())
        for part in ("layer.2.head.4", "layer.1.feed_forward", "layer.3.attention"):
            without = inner("stories_llama", ids, (part,))[0]["logits"].softmax(-1)[-1]
            assert losses[part] == pytest.approx(float(plain[best] - without[best]), abs=1e-5)
        check(page, widget)
        worst = min((float(plain[best]) - loss, part) for part, loss in losses.items())
        hangs = "adds what it needs most" in said(page)
        assert hangs == (float(plain[best]) - worst[0] >= 0.05)


def test_it_is_played_part_by_part(shown):
    _model, _names, task = shipped("stories_llama")
    values = inner("stories_llama", tuple(task.encode(SHORT).tolist()), ())[0]
    with shown(text=SHORT) as (page, widget):
        scrub = page.locator(".p-player input")
        scrub.press("Home")
        assert state(page, widget)["step"] == 1
        assert "The text is 9 words" in said(page)
        assert not page.locator(".w-next-list").is_visible(), "the answer is not given away"
        for layer in (1, 2, 3):
            put(page, widget, step=1 + 2 * layer)
            weights = values[f"layer.{layer}.weights"][:, -1]
            head = int(weights.max(-1).values.argmax())
            assert f"In layer {layer}, “the” looks back: head {layer}.{head + 1}" in said(page)
            share = float(weights[head].max())
            assert f"takes {percent(share)} of" in said(page)
            put(page, widget, step=2 + 2 * layer)
            opened_units = int((values[f"layer.{layer}.gate"][-1] > 0.5).sum())
            assert f"{opened_units} of its 256 units open" in said(page)
        for step in range(1, 10):  # each sentence whole
            put(page, widget, step=step)
            assert state(page, widget)["step"] == step
            check(page, widget)
            streams = [key.removesuffix(".stream") for key in values if key.endswith(".stream")]
            steps = ["words", *streams, "norm", "next word"]
            at_work, later = (
                page.locator(f".w-part.{kind}").evaluate_all(
                    "(all) => all.map((one) => one.dataset.name)"
                )
                for kind in ("w-at-work", "w-later")
            )
            assert {re.sub(r"head\.\d$", "attention", one) for one in later} == set(steps[step:])
            heads = [re.sub("attention$", f"head.{n}", steps[step - 1]) for n in (1, 2, 3, 4)]
            own = {steps[step - 1], *heads} - {"words"}
            assert set(at_work) == own
        scrub.press("End")
        assert state(page, widget)["step"] == 0
        assert page.locator(".w-next-list").is_visible()
        check(page, widget)


def test_the_last_step_names_the_two_likeliest_words(bench):
    widget = WholeModel(text=SHORT, step=9)
    _model, names, task = shipped("stories_llama")
    ids = tuple(task.encode(SHORT).tolist())
    p = inner("stories_llama", ids, ())[0]["logits"][-1].softmax(-1)
    first, second = (f"“{names[n]}” {percent(float(p[n]))}" for n in p.topk(2).indices.tolist())
    with recorded(bench, widget) as page:
        moving(page)
        page.evaluate(
            "window.told = new Set(); new MutationObserver(() => told.add(document.querySelector('.p-say').innerText))"
            ".observe(document.querySelector('.p-say'), { childList: true, subtree: true, characterData: true })"
        )
        page.locator(".p-player").get_by_role("button", name="Step forward").click()
        page.wait_for_function("document.querySelector('.p-say').innerText.includes('best guess')")
        told = [one for one in page.evaluate("[...told]") if one.startswith("Its direction")]
        assert [one.split(": ")[1].split(".")[0] for one in told] == [f"{first} and {second}"]


def test_a_step_that_was_asked_for_is_shown(bench):
    """In Python, and by a link that was copied there."""
    widget = WholeModel(text=SHORT, step=5)
    with recorded(bench, widget) as page:
        assert state(page, widget)["step"] == 5
        assert said(page).startswith("In layer 2, “the” looks back")
        check(page, widget)


def moving(page):
    page.emulate_media(reduced_motion="no-preference")


def test_the_word_that_is_said_rises_alone(bench):
    widget = WholeModel(text=SHORT)
    with recorded(bench, widget) as page:
        moving(page)
        page.get_by_role("button", name="Say the next word").click()
        now = state(page, widget)
        assert now["text"].startswith(SHORT)
        assert len(now["text"].split()) == 10
        assert now["computed"] == 1
        clipped = page.locator(".w-column").evaluate_all(
            "(all) => all.map((g) => g.querySelector('.w-lit[viewBox]') !== null)"
        )
        assert clipped == [False] * 9 + [True]
        page.locator(".p-player input").press("End")
        check(page, widget)


def test_a_press_is_told_in_one_sentence_and_over_soon(bench):
    widget = WholeModel(text="This is the story of Lily. She had")
    with recorded(bench, widget) as page:
        moving(page)
        page.clock.install()
        button = page.get_by_role("button", name="Say the next word")
        button.click()
        assert said(page).startswith("The model drew “two”, which had 21\u00a0%. Its column rises.")
        assert said(page).endswith(
            "The 9 columns before it are kept as they were: that is the cache."
        )
        page.clock.run_for(6000)
        assert state(page, widget)["step"] == 0
        assert said(page).startswith("The model drew “two”, which had 21\u00a0%. After “two”")
        check(page, widget)
        page.locator(".w-picture").press("ArrowLeft")
        assert "drew" not in said(page)
        button.click()
        button.click()  # a second press ends the first rise
        assert len(state(page, widget)["text"].split()) == 11


def test_where_less_motion_is_wanted_a_word_stands_at_once(bench):
    widget = WholeModel(text="This is the story of Lily. She had")
    with recorded(bench, widget) as page:
        page.get_by_role("button", name="Say the next word").click()
        assert said(page).startswith("The model drew “two”, which had 21\u00a0%. After “two”")
        assert page.locator(".w-next-list").is_visible()
        check(page, widget)


def test_a_hand_at_the_player_ends_the_rise(bench):
    widget = WholeModel(text=SHORT)
    with recorded(bench, widget) as page:
        moving(page)
        page.clock.install()
        page.get_by_role("button", name="Say the next word").click()
        page.wait_for_function("document.querySelector('.p-player input').value >= 2")
        page.locator(".p-player input").press("Home")
        page.clock.run_for(6000)
        assert state(page, widget)["step"] == 1
        assert "The text is 10 words" in said(page)


@pytest.mark.parametrize("off", [[], ["layer.1.attention"]])
def test_a_part_that_changes_little_says_so(shown, off):
    with shown(text=SHORT, off=off) as (page, widget):
        put(page, widget, step=3)
        moved = "stays at size 0.2" if off else "goes from size 0.2 to 0.4"
        assert f"Its column {moved} and would still say “the”" in said(page)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        (MODELS[0], "layer.2."),
        *(pytest.param(m, "layer.", marks=pytest.mark.sweep) for m in MODELS),
    ],
)
def test_every_part_opens(shown, name, layer):
    with shown(model_name=name, text=SHORT) as (page, widget):
        titles = set()
        names = [*parts(load(name).model), "next word", "embedding"]
        names = [one for one in names if layer in one or "layer." not in one]
        for part in names:
            put(page, widget, part=part)
            titles.add(page.locator(".w-open-title").inner_text())
            assert page.locator(".pieces[data-stale]").count() == 0, part
            check(page, widget)
        assert page.record.errors == []
        assert len(titles) == len(names), "each has a name of its own"


def test_what_is_opened_has_the_name_that_was_pressed(bench):
    links = {"attention": "chapters/06_multi_head_attention.html", "norm": "chapters/10_norm.html"}
    titles = {
        "norm": "The final norm", "positions": r"Positions, as head 1\.\d uses them",
        "layer.1.attention": r"Attention 1: its strongest head here, 1\.\d",
        "layer.2.attention.norm": "The norm before attention 2", "embedding": "The embedding",
        "layer.3.feed_forward.path": "The skip past feed-forward 3", "layer.3.head.1": r"Head 3\.1",
        "layer.1.feed_forward": "Feed-forward 1", "next word": "The next word",
    }  # fmt: skip
    with bench.show(WholeModel(text=SHORT, links=links)) as page:
        for name, title in titles.items():
            page.locator(f'[data-name="{name}"] .w-part-open').click()
            assert re.fullmatch(title, page.locator(".w-open-title").inner_text()), name
            chapter = page.locator(".w-what a")
            if "norm" in name:
                assert chapter.get_attribute("href") == links["norm"]
                assert chapter.inner_text() == "Chapter 10"
            elif "head" in name:
                assert chapter.get_attribute("href") == links["attention"]
            page.keyboard.press("Escape")


def test_sizes_are_not_said_to_add_up(shown):
    with shown(text=SHORT, part="layer.2.attention.path") as (page, _):
        values, strips, _ = inner(
            "stories_llama", tuple(read({"text": SHORT, "model_name": "stories_llama"})), ()
        )
        size = lambda key: f"{float(values[key][-1].square().mean().sqrt()):.1f}"  # noqa: E731
        before, after = size(strips[2]), size(strips[3])
        line = page.locator(".w-line").all_inner_texts()[-1]
        told = f"A column of size {before}, and {size('layer.2.attention')} is added in another"
        assert line == f"{told} direction: together they have size {after}."


@pytest.mark.parametrize(
    ("text", "why"),
    [("Lily saw a dog", "begins with “Lily”"), ("This is the dog", "has “dog” at this place")],
)
def test_a_text_that_no_story_has_says_why_there_is_no_truth(shown, text, why):
    with shown(text=text) as (page, _):
        assert f"None of the stories it learned from {why}" in said(page)


def test_another_world_has_another_truth(shown):
    """Or none: then nothing is told of it, though no word has changed."""
    with shown() as (page, widget):
        world = state(page, widget)["world"]
        check(page, widget)
        for other in ({}, world):
            put(page, widget, world=other)
            check(page, widget)
            assert bool(page.locator(".w-next-true").first.inner_text()) == bool(other)
        put(page, widget, world=world | {"GIRLS": [one for one in world["GIRLS"] if one != "Lily"]})
        assert page.locator(".w-next-true").all_inner_texts() == [""] * 5
        assert "None of the stories it learned from" in said(page)


def test_another_text_ends_the_rise_of_a_word(bench):
    widget = WholeModel(text=SHORT)
    with bench.show(widget) as page:
        page.emulate_media(reduced_motion="no-preference")
        page.get_by_role("button", name="Say the next word").click()
        assert state(page, widget)["step"] > 0
        put(page, widget, text=f"{state(page, widget)['continued']} ball")
        assert state(page, widget)["step"] == 0
        check(page, widget)


def test_a_text_that_comes_with_a_step_of_the_rise_ends_it(bench):
    """Both are drawn in one frame: the step is the film's own, and asks for nothing."""
    widget = WholeModel(text=SHORT)
    with bench.show(widget) as page:
        page.emulate_media(reduced_motion="no-preference")
        page.get_by_role("button", name="Say the next word").click()
        text = f"{state(page, widget)['continued']} ball"
        page.evaluate(
            """async ([id, text]) => {
              const model = window.pieces.model(id);
              await new Promise((go) => {
                let once = () => { once = () => {}; model.set("text", text); model.save_changes(); go(); };
                model.on("change:step", () => once());
              });
            }""",
            [widget.model_id, text],
        )
        page.evaluate(PAINTED)
        assert state(page, widget)["text"] == text
        assert state(page, widget)["step"] == 0
        check(page, widget)


def test_the_text_is_printed_as_a_story_is(shown):
    """No blank before a comma, a capital behind a full stop; the same words come back from it."""
    task = shipped("stories_llama")[2]
    for text in ("Lily had a red ball", "Lily had a red ball.", "“May I play", "Lily took Tom"):
        with shown(text=text) as (page, widget):
            now = state(page, widget)
            best = now["next_words"][0][0]
            assert now["continued"] == task.join([*task.cut(text), best])
            put(page, widget, text=now["continued"])
            assert page.locator(".w-column").count() == len(task.cut(text)) + 1


def test_a_full_picture_says_so(shown):
    with shown(text="the red ball and " * 10) as (page, widget):
        button = page.get_by_role("button", name="Say the next word")
        assert state(page, widget)["continued"] is None
        button.click(force=True)
        assert "room for 40 words" in said(page)
        put(page, widget, text="Lily had a red")
        assert "room for" not in said(page)
        button.click()
        assert len(state(page, widget)["text"].split()) == 5


@pytest.mark.parametrize("running", [False, True])
def test_a_part_that_is_opened_ends_the_play(shown, running):
    with shown(text=SHORT) as (page, widget):
        put(page, widget, step=4)
        assert "its 256 units open" in said(page)
        if running:
            page.get_by_role("button", name="Play").click()
        page.locator('[data-name="layer.1.head.2"] .w-part-open').click()
        assert said(page).startswith("After “the” the best guess is")
        assert page.locator(".w-next-list").is_visible()
        assert page.locator(".w-what").inner_text().startswith("Looks at the words so far")
        assert state(page, widget)["step"] == 0


def test_new_words_at_the_end_of_the_field_are_in_sight(bench):
    widget = WholeModel(text="Lily had a red ball. " * 5)
    with bench.show(widget, width=390) as page:
        field = page.locator("textarea")
        assert field.evaluate("(one) => one.scrollTop") == 0
        put(page, widget, text=state(page, widget)["continued"])
        left = "(one) => one.scrollHeight - one.clientHeight - one.scrollTop"
        assert field.evaluate("(one) => one.scrollTop") > 0
        assert field.evaluate(left) <= 1


def test_each_part_says_what_it_is_for(shown):
    for name in ("stories_llama", "stories_moe"):
        with shown(model_name=name) as (page, _):
            titles = page.locator(".w-part-open").evaluate_all(
                "(all) => all.map((one) => one.title)"
            )
            assert all(title.split(". ")[0].count(" ") >= 4 for title in titles), titles
            assert not any("undefined" in title for title in titles)


def test_no_part_stands_on_another_or_on_the_words(shown):
    boxes = """(all) => all.map((one) => [one.dataset.name, ...["left", "right", "top", "bottom"].map((side) =>
      one.getBoundingClientRect()[side])])"""
    for name in MODELS:
        with shown(model_name=name, text=SHORT) as (page, _):
            picture = page.locator(".w-column").last.bounding_box()
            found = page.locator(".w-part:visible").evaluate_all(boxes)
            assert len(found) == len(parts(load(name).model)) + 2
            for at, (part, left, right, top, bottom) in enumerate(found):
                if re.search(r"head|expert", part):
                    assert left >= picture["x"] + picture["width"] - 2, part
                for other, left2, right2, top2, bottom2 in found[at + 1 :]:
                    beside = min(right, right2) - max(left, left2) <= 3
                    assert beside or min(bottom, bottom2) - max(top, top2) <= 3, (
                        f"{part} on {other}"
                    )


def test_the_picture_is_told_as_a_slider_over_words(shown):
    with shown(text=SHORT) as (page, _):
        picture = page.get_by_role("slider", name="The model")
        picture.press("ArrowLeft")
        assert picture.get_attribute("aria-valuenow") == "8"
        assert picture.get_attribute("aria-valuetext").startswith("“took”, word 8 of 9; after it")


class TestPhone:
    def test_one_layer_at_a_time_with_switches_for_a_finger(self, bench):
        widget = WholeModel()
        with recorded(bench, widget, width=390, touch=True) as page:
            for layer in (1, 2, 3):
                page.get_by_role("button", name=f"Layer {layer}", exact=True).tap()
                assert state(page, widget)["layer"] == layer
                names = page.locator(".w-part:visible").evaluate_all(
                    "(all) => all.map((one) => one.dataset.name)"
                )
                assert all(n.startswith(f"layer.{layer}.") for n in names[1:-1])
                check(page, widget)
            for switch in page.locator(".w-switch:visible").all():
                box = switch.bounding_box()
                assert min(box["width"], box["height"]) >= 44
            page.locator('[data-part="layer.3.head.1"]').tap()
            assert state(page, widget)["off"] == ["layer.3.head.1"]
            check(page, widget)

    def test_the_text_stands_above_the_picture_and_the_sentence_below(self, bench):
        with bench.show(WholeModel(), width=390) as page:
            tops = [
                page.locator(one).bounding_box()["y"]
                for one in ("textarea", ".w-picture", ".p-say")
            ]
            assert tops == sorted(tops)
            page.set_viewport_size({"width": 1280, "height": 900})
            page.wait_for_timeout(300)
            tops = [
                page.locator(one).bounding_box()["y"]
                for one in (".w-picture", "textarea", ".p-say")
            ]
            assert tops == sorted(tops)

    def test_what_is_opened_is_led_to(self, bench):
        with bench.show(WholeModel(), width=390, height=600, touch=True) as page:
            page.locator('[data-name="layer.2.attention"] .w-part-open').tap()
            title = page.locator(".w-open-title")
            page.wait_for_timeout(200)
            assert 0 <= title.bounding_box()["y"] <= 300
            page.get_by_role("button", name="← whole model").tap()
            page.wait_for_timeout(200)
            part = page.locator('[data-name="layer.2.attention"]').bounding_box()
            assert 0 <= part["y"] <= 600

    def test_nothing_is_led_to_that_nobody_opened(self, bench):
        with bench.show(
            WholeModel(), WholeModel(part="layer.2.attention"), width=390, height=600
        ) as page:
            assert page.evaluate("scrollY") == 0

    def test_what_it_would_say_lies_over_no_word(self, bench):
        """A short text has words in its strips; what the followed one would say has a line of its own."""
        widget = WholeModel(text="Anna had a cat. She looked", layer=1)
        with recorded(bench, widget, width=390) as page:
            check(page, widget)
            marks = [mark.bounding_box() for mark in page.locator(".w-mark:visible").all()]
            words = [word.bounding_box() for word in page.locator(".w-lens:visible").all()]
            spans = [(box["y"], box["y"] + box["height"]) for box in words if box]
            assert len(marks) == 3
            assert len(spans) >= 18
            for mark in marks:
                line = mark["y"] + 3, mark["y"] + mark["height"] - 3
                assert all(low >= line[1] or high <= line[0] for low, high in spans)

    @pytest.mark.parametrize("width", [320, 390, 1280])
    def test_fits(self, bench, width):
        widget = WholeModel()
        with bench.show(widget, width=width) as page:
            for part in ("", "layer.2.head.4", "layer.1.feed_forward", "next word"):
                put(page, widget, part=part)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, part or "the whole model"
                if not part:
                    picture, own = (
                        page.locator(one).bounding_box() for one in (".w-picture", ".w-body")
                    )
                    assert picture["x"] + picture["width"] <= own["x"] + own["width"] + 1


def test_the_table_view_has_what_the_picture_has(bench):
    widget = WholeModel(text=SHORT)
    with recorded(bench, widget) as page:
        page.locator("summary").click()
        cells = "(t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent))"
        words, rows = (page.locator("table").nth(n).evaluate(cells) for n in (0, 1))
        _model, names, task = shipped("stories_llama")
        values, strips, seen = inner("stories_llama", tuple(task.encode(SHORT).tolist()), ())
        for t, row in enumerate(words[1:]):
            for n, key in enumerate(strips):
                assert row[1 + 2 * n].startswith(names[int(seen[n][t].argmax())])
                size = float(values[key][t].square().mean().sqrt())
                assert float(row[2 + 2 * n]) == pytest.approx(size, abs=0.0051)
        total = sum(
            float(row[2].replace("−", "-").replace("e-", "e-")) for row in rows[1:] if row[2]
        )
        assert total == pytest.approx(float(values["logits"][-1].max()), abs=0.02)
        assert [row[0] for row in rows[1:]].count("head 2.4") == 1


def test_links_lead_to_the_chapters(bench):
    links = {"attention": "chapters/06_multi_head_attention.html", "norm": "chapters/10_norm.html"}
    with bench.show(WholeModel(links=links)) as page:
        found = page.locator('[data-name="layer.1.attention"] .w-chapter')
        assert found.get_attribute("href") == links["attention"]
        assert found.inner_text() == "§6"
        assert page.locator('[data-name="layer.1.feed_forward"] .w-chapter').count() == 0


def test_typed_words_that_it_does_not_know_are_named(shown):
    with shown(text=SHORT) as (page, _):
        field = page.locator("textarea")
        field.press("End")
        field.press_sequentially(" zebra <b>x</b>")
        page.locator(".w-picture").focus()
        page.wait_for_timeout(700)
        assert "zebra" in page.locator(".p-typed-note").inner_text()
        assert page.locator(".pieces b:text-is('x')").count() == 0
        field.fill("")
        assert "Write a word" in said(page)
        field.fill("Lily")
        assert page.locator(".w-column").count() == 1
        assert page.record.errors == []
