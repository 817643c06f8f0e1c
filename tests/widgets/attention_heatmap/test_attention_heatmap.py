"""AttentionHeatmap, used by its controls, against the same model in PyTorch."""

import pytest
import torch
from by_torch import read
from trials import trials
from twins import build, vocabulary

from browser import PAINTED, picture, put, space, state
from pieces.widgets import AttentionHeatmap
from widgets.attention_heatmap.samples import example as reading

TestOracle = trials(__file__)

WORDS = vocabulary(37)
TEXT = "the blue book . Tom the blue ice-cream"
IDS = [WORDS.index(word) for word in TEXT.split()]


def torch_says(name="attention-only", ids=IDS, off=()):
    """Weights [L, H, T, T] and probabilities [T, V] with these heads [layer, head] from 1 off."""
    return read(build(name)[1], ids, off)


@pytest.fixture(scope="module")
def shown(bench):
    widget = reading()
    with bench.show(widget, width=1000) as page:
        yield page, widget


@pytest.fixture(autouse=True)
def afresh(shown):
    page, widget = shown
    put(page, widget, text=TEXT, off=[], layer=1, head=1, token=0, tried=0)
    yield
    assert page.record.errors == []


def agrees(page, widget, token, layer, head, off=()):
    """What is read in Python is what PyTorch says."""
    now, plain = torch_says(off=off), torch_says()
    got = state(page, widget)
    maps = now[0][layer - 1]
    row = (maps.mean(0) if head == 0 else maps[head - 1])[token - 1]
    assert got["looks"] == pytest.approx(row.tolist(), abs=1e-5)
    for word, after, before in got["next_words"]:
        at = WORDS.index(word)
        assert after == pytest.approx(float(now[1][token - 1, at]), abs=1e-5)
        assert before == pytest.approx(float(plain[1][token - 1, at]), abs=1e-5)
    best = now[1][token - 1].max()
    assert got["next_words"][0][1] == pytest.approx(float(best), abs=1e-5)


def drawn_bars(page):
    """The rows of the next words as they are drawn: word, number, length of its bar."""
    page.evaluate(PAINTED)
    rows = page.locator(".p-pane-bars .p-bar-row:not(.p-bar-head)")
    return [
        (
            row.locator(".p-bar-name").inner_text(),
            float(row.locator("b").inner_text()),
            float(row.locator("i").evaluate("(i) => new DOMMatrix(i.style.transform).a")),
        )
        for row in rows.all()
    ]


@pytest.mark.parametrize(("layer", "head"), [(1, 1), (1, 4), (2, 3), (1, 0), (2, 0)])
def test_weights_of_each_head_and_of_the_average(shown, layer, head):
    page, widget = shown
    put(page, widget, layer=layer, head=head)
    agrees(page, widget, len(IDS), layer, head)


def test_a_word_is_chosen_by_a_click(shown):
    page, widget = shown
    page.locator(".p-arc-stage .p-chip").nth(4).click()
    page.mouse.move(2, 2)
    page.evaluate(PAINTED)
    assert state(page, widget)["token"] == 5
    agrees(page, widget, 5, 1, 1)


def test_bars_show_the_numbers(shown):
    page, widget = shown
    for (word, number, length), (name, p, _) in zip(
        drawn_bars(page), state(page, widget)["next_words"], strict=True
    ):
        assert word == name
        assert number == pytest.approx(p, abs=0.005)
        assert length == pytest.approx(p, abs=1e-3)


def test_a_tile_shows_its_head_large(shown):
    page, widget = shown
    page.get_by_role("button", name="Show head 2.3").click()
    assert (state(page, widget)["layer"], state(page, widget)["head"]) == (2, 3)
    agrees(page, widget, len(IDS), 2, 3)
    assert page.get_by_label("shown large").input_value() == "2.3"
    page.get_by_label("shown large").select_option("1.0")
    agrees(page, widget, len(IDS), 1, 0)


def test_a_finger_chooses_a_head_a_word_and_switches_off(bench):
    widget = AttentionHeatmap(model_name="stories_attention")
    with bench.show(widget, width=390, touch=True) as page:
        page.get_by_role("button", name="Show head 2.3").tap()
        page.locator(".p-chip").nth(4).tap()
        page.get_by_role("checkbox", name="1.2").tap()
        now = state(page, widget)
        assert (now["layer"], now["head"], now["token"]) == (2, 3, 5)
        assert now["off"] == [[1, 2]]


def test_heads_are_switched_off_one_by_one(shown):
    page, widget = shown
    page.get_by_label("Head 1.2 is on").uncheck()
    assert state(page, widget)["off"] == [[1, 2]]
    agrees(page, widget, len(IDS), 1, 1, [[1, 2]])
    page.get_by_label("Head 2.4 is on").press("Space")
    agrees(page, widget, len(IDS), 1, 1, [[1, 2], [2, 4]])
    before, after = torch_says()[1][-1], torch_says(off=[[1, 2], [2, 4]])[1][-1]
    was = int(before.argmax())
    said = page.locator(".p-say").inner_text()
    assert "Without 1.2 or 2.4" in said
    assert WORDS[was] in said
    assert f"{round(100 * float(after[was]))}\xa0%" in said
    page.get_by_label("Head 1.2 is on").check()
    page.get_by_label("Head 2.4 is on").check()
    agrees(page, widget, len(IDS), 1, 1)


def test_small_maps_are_those_of_their_heads(shown):
    """The darkest pixel of each row of each tile is the key with the largest weight."""
    page, _ = shown
    weights = torch_says()[0]
    pixels = page.locator(".p-head canvas").evaluate_all(
        """(all) => all.map((c) => [...c.getContext("2d")
          .getImageData(0, 0, c.width, c.height).data].filter((_, i) => i % 4 === 1))"""
    )
    T = len(IDS)
    assert len(pixels) == 8
    for tile, weight in zip(pixels, weights.flatten(0, 1), strict=True):
        green = torch.tensor(tile, dtype=torch.float64).reshape(T, T)
        assert (green.triu(1) + torch.ones(T, T).tril() * 255 == 255).all(), (
            "what is hidden is paper"
        )
        for t in range(1, T):
            assert green[t].argmin() == weight[t].argmax()


def test_each_head_is_tried_for_a_word(shown):
    page, widget = shown
    page.get_by_role("button", name="What does each head do").click()
    page.evaluate(PAINTED)
    before = torch_says()[1][-1]
    best = int(before.argmax())
    widths = page.locator(".p-head-cost i").evaluate_all("(all) => all.map((i) => i.style.width)")
    costs = [
        float(before[best] - torch_says(off=[[layer, head]])[1][-1, best])
        for layer in (1, 2)
        for head in (1, 2, 3, 4)
    ]
    assert [float(w[:-1]) for w in widths] == pytest.approx(
        [100 * max(0, c) for c in costs], abs=0.1
    )
    assert f"depends most on head {['1', '2'][costs.index(max(costs)) // 4]}." in (
        page.locator(".p-say").inner_text()
    )
    got = state(page, widget)
    assert got["tried"] == len(IDS)
    assert [loss for layer in got["losses"] for loss in layer] == pytest.approx(costs, abs=1e-5)
    put(page, widget, token=2)
    assert page.locator(".p-head-cost:visible").count() == 0, "they were of another word"
    put(page, widget, tried=2)
    assert page.locator(".p-head-cost:visible").count() == 8
    page.get_by_label("A text in the 37 words").fill("the blue book")
    assert (state(page, widget)["tried"], state(page, widget)["losses"]) == (0, None)


@pytest.mark.parametrize("change", [{"off": [[1, 2]]}, {"tried": len(IDS)}], ids=str)
def test_what_is_taken_back_leaves_no_trace(bench, change):
    widget = reading()
    with bench.show(widget) as page:
        before, original = picture(page), {name: getattr(widget, name) for name in change}
        put(page, widget, **change)
        assert picture(page) != before
        put(page, widget, **original)
        assert picture(page) == before


def test_without_a_known_word_no_canvas_is_blank(bench):
    with bench.show(reading(text="zebra")) as page:
        sizes = page.locator("canvas").evaluate_all("(all) => all.map((c) => c.width)")
        assert sizes
        assert set(sizes) == {0}


@pytest.mark.parametrize("name", AttentionHeatmap.models)
@pytest.mark.parametrize("width", [1280, 360])
def test_the_space_of_each_model_is_reserved(bench, name, width):
    with bench.show(AttentionHeatmap(model_name=name), width=width) as page:
        free, used = space(page.locator(".pieces-live"))
        assert -60 < free - used < 100, "the page jumps when it comes alive"


def test_a_word_that_is_finished_in_time_was_never_unknown(shown):
    page, _ = shown
    field = page.get_by_label("A text in the 37 words that the model knows")
    for typed in ("Tom th", "Tom the"):
        field.fill(typed)
    page.wait_for_timeout(800)
    assert "never met" not in page.locator(".p-typed-note").inner_text()


def test_typed_text_is_read_and_unknown_words_are_named(shown):
    page, widget = shown
    field = page.get_by_label("A text in the 37 words that the model knows")
    field.fill("Tom the zebra <b>bluee book")
    page.wait_for_function("document.querySelector('.p-typed-note').textContent.includes('zebra')")
    note = page.locator(".p-typed-note").inner_text()
    assert "“zebra”, “<b>”, “bluee”" in note
    assert page.locator(".p-arc-stage .p-chip").all_inner_texts() == ["Tom", "the", "book"]
    assert len(state(page, widget)["looks"]) == 3
    field.fill("the bluee book")
    page.get_by_role("button", name="Write blue in place of bluee").click()
    page.mouse.move(0, 0)  # or it would come to point at a word that is drawn under it
    assert state(page, widget)["text"] == "the blue book"
    field.fill("zebra")
    page.evaluate(PAINTED)
    assert state(page, widget)["next_words"] == []
    field.fill("Tom")
    page.evaluate(PAINTED)
    assert len(state(page, widget)["next_words"]) == 6


@pytest.mark.parametrize(
    "bad",
    [
        {"layer": 9, "head": 60, "token": 60},
        {"layer": -1, "head": None, "token": "x"},
        {"off": [[9, 9], [1], "x", None, [0, 1]]},
        {"off": "x"},
        {"text": None},
        {"text": "the " * 300},
    ],
    ids=str,
)
def test_what_cannot_be_is_limited(shown, bad):
    page, widget = shown
    put(page, widget, **bad)
    got = state(page, widget)
    assert 1 <= got["layer"] <= 2
    assert 0 <= got["head"] <= 4
    assert 0 <= got["token"] <= 64
    assert got["off"] == []
    if bad.get("text", "") is not None:
        assert len(got["looks"]) == (18 + 1 if "text" in bad else len(IDS))


def test_heads_are_named_only_where_a_score_says_so(chromium):
    """The scores of the page, on weights made for them."""
    from twins import opened_twin

    T, ids = 9, [1, 2, 3, 4, 1, 2, 3, 4, 1]
    previous, first = torch.zeros(T, T), torch.zeros(T, T)
    induction, flat = torch.zeros(T, T), torch.ones(T, T).tril()
    for t in range(T):
        previous[t, max(0, t - 1)] = 1
        first[t, 0] = 1
        induction[t, max(0, t - 3) if t > 3 else 0] = 1
    flat = flat / flat.sum(-1, keepdim=True)
    weights = torch.stack([previous, first, induction, flat])
    with opened_twin(chromium, modules=["twin/reading"]) as twin:
        got = [
            twin("reading.scoresOf({ data: a.w, shape: [4, 9, 9] }, a.h, a.ids)",
                 w=weights.flatten().tolist(), h=head, ids=ids)
            for head in range(4)
        ]  # fmt: skip
    named = [{name for name, share in scores.items() if share >= 0.6} for scores in got]
    assert named == [{"previous"}, {"first"}, {"induction"}, set()]
    assert got[2]["induction"] == 1
    repeated = [
        float(flat[t, [s + 1 for s in range(t) if ids[s] == ids[t]]].sum()) for t in range(4, 9)
    ]
    assert got[3]["induction"] == pytest.approx(sum(repeated) / 5, abs=1e-6)
