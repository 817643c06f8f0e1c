"""EmbeddingMap: words typed, pointed at and pressed, a vector moved on its way; its twin."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import build, opened_twin, vocabulary

from browser import state
from pieces.widgets import EmbeddingMap

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [
        ("model_name", "aligner"),
        ("word", "a" * 41),
        ("way", 1.5),
        ("way", float("nan")),
        ("toward", 3),
    ],
)
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        EmbeddingMap(**{trait: value})


def test_typed_key_by_key(bench):
    """A word half typed changes nothing; one that is known is shown at once, in any case."""
    widget = EmbeddingMap()
    with recorded(bench, widget) as page:
        field = page.get_by_label("word", exact=True)
        field.fill("")
        for key in "Rabbits":
            field.press_sequentially(key)
        assert field.input_value() == state(page, widget)["word"] == "Rabbits"
        assert "“rabbits”" in page.locator(".p-say").inner_text()
        field.fill("hapy")
        page.get_by_role("button", name="Show happy").click()
        check(page, widget)
        assert state(page, widget)["neighbours"][0] == "excited"


def test_a_vector_on_its_way_meets_other_words(bench):
    widget = EmbeddingMap(word="red", toward="dog")
    with recorded(bench, widget) as page:
        slider = page.get_by_label("how far")
        for _ in range(10):
            slider.press("ArrowRight")
        assert state(page, widget)["way"] == 0.5
        assert {"red", "dog"} <= set(state(page, widget)["neighbours"])
        check(page, widget)
        slider.press("End")
        assert state(page, widget)["neighbours"][0] == "dog"
        check(page, widget)


def test_pointed_at_pressed_and_by_arrow_keys(bench):
    widget = EmbeddingMap()
    with recorded(bench, widget) as page:
        dot = page.locator('.p-dots circle[data-word="excited"]')
        box = dot.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function("!document.querySelector('.p-say').textContent.includes('“red”')")
        assert state(page, widget)["word"] == "red"
        page.mouse.move(3, 3)
        page.wait_for_function("document.querySelector('.p-say').textContent.includes('“red”')")
        check(page, widget)
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.move(3, 3)
        assert state(page, widget)["word"] != "red"
        check(page, widget)
        before = state(page, widget)["word"]
        page.locator(".p-scatter").press("ArrowLeft")
        assert state(page, widget)["word"] != before
        check(page, widget)


def test_a_model_of_ones_own(bench):
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    widget = EmbeddingMap.from_model(model, vocabulary=words, word="blue", toward="book")
    assert "own, around “blue”" in repr(widget)
    with recorded(bench, widget) as page:
        vectors = model.embedding.weight.detach()
        at = words.index("blue")
        alike = torch.cosine_similarity(vectors, vectors[at : at + 1])
        alike[at] = -2
        assert state(page, widget)["neighbours"][0] == words[int(alike.argmax())]


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("embedding_map/projected",)) as opened:
        yield opened


@pytest.mark.parametrize("n", [1, 2, 5, 24])
def test_its_eigenvectors_are_torchs(twin, n):
    a = torch.randn(n, n, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
    a = a @ a.T
    got = twin("projected.eigen(a.a)", a=a.tolist())
    values, vectors = (
        torch.tensor(got[name], dtype=torch.float64) for name in ("values", "vectors")
    )
    torch.testing.assert_close(values, torch.linalg.eigvalsh(a).flip(0), atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(vectors @ vectors.T, torch.eye(n).double(), atol=1e-9, rtol=0)
    torch.testing.assert_close(vectors @ a, values[:, None] * vectors, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widget = EmbeddingMap(word="w" * 40)
    with recorded(bench, widget, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-pane-bars, .p-control").evaluate_all(inside)
