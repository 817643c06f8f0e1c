"""BiasMaps: slopes and buckets against torch, by its controls, and what a distance lights."""

import itertools

import pytest
import torch
from oracle import check, maps, recorded
from trials import trials
from twins import opened_twin

from browser import PAINTED, put, said, state
from pieces.positions import alibi_slopes, t5_bucket
from pieces.widgets import BiasMaps

TestOracle = trials(__file__)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("twin/position_twin",)) as opened:
        yield opened


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("kind", "rope"), ("T", 3), ("T", 65), ("heads", 0), ("heads", 17), ("head", 0), ("query", 0),
     ("num_buckets", 3), ("num_buckets", 33), ("max_distance", 19), ("max_distance", 257),
     ("bidirectional", 1), ("key", 65)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        BiasMaps(**{trait: value})


def test_says_what_is_shown():
    assert "ALiBi, head 3 of 12, over 24 tokens that attend to the past" in repr(
        BiasMaps(heads=12, head=3)
    )
    text = repr(BiasMaps(kind="t5", num_buckets=16, bidirectional=True))
    assert (
        "T5, with 16 buckets up to a distance of 128, over 24 tokens that attend to both sides"
        in text
    )


def test_its_values_are_the_packages():
    assert BiasMaps(heads=4, head=9, T=5).values()[4, 1] == -3 / 256, "the last head there is"
    assert BiasMaps(kind="t5", T=64).values()[40, 0] == 23


def test_the_slopes_are_those_of_the_package(twin):
    got = twin("a.n.map((n) => position_twin.alibiSlopes(n, 6))", n=list(range(1, 41)))
    for heads, slopes in enumerate(got, start=1):
        torch.testing.assert_close(torch.tensor(slopes), alibi_slopes(heads, 6.0))


@pytest.mark.parametrize("both", [False, True])
def test_the_buckets_are_those_of_the_package(twin, both):
    """Each size that the controls reach, and each distance up to twice the largest."""
    distances = torch.arange(-520, 521)
    sizes = list(itertools.product(range(4, 33), (20, 21, 37, 64, 100, 127, 128, 129, 200, 256)))
    got = twin(
        "a.sizes.map(([n, most]) => a.d.map((d) => position_twin.t5Bucket(d, n, most, a.both)))",
        sizes=sizes, d=distances.tolist(), both=both,
    )  # fmt: skip
    for (n, most), buckets in zip(sizes, got, strict=True):
        wanted = t5_bucket(distances, n, most, bidirectional=both)
        assert buckets == wanted.tolist(), f"{n} buckets up to {most}"


@pytest.mark.parametrize("kind", ["alibi", "t5"])
def test_by_its_controls(bench, kind):
    widget = BiasMaps(T=16, query=9, key=4)
    own = {"alibi": ("heads", "head"), "t5": ("buckets", "furthest")}
    with recorded(bench, widget) as page:
        page.locator(f'[data-view="{kind}"]').click()
        assert state(page, widget)["kind"] == kind
        for both in (False, True):
            for label in ("tokens", *own[kind], "query", "key"):
                for key in ("End", "Home", "PageUp"):
                    page.get_by_label(label, exact=True).press(key)
                check(page, widget)
            page.get_by_label("both sides").click()
            assert state(page, widget)["bidirectional"] is not both
        for other in own["t5" if kind == "alibi" else "alibi"]:
            assert not page.get_by_label(other, exact=True).is_visible()
        assert page.record.errors == []


@pytest.mark.parametrize("heads", [6, 12])
def test_heads_that_are_no_power_of_two(bench, heads):
    with recorded(bench, BiasMaps(heads=heads, head=heads)) as page:
        shown = page.locator(".p-bar-row:not(.p-bar-head) b").all_inner_texts()
        used, plain = shown[::2], shown[1::2]
        assert used != plain
        assert used != sorted(used, reverse=True), "not sorted"
        assert plain == sorted(plain, reverse=True)


def test_a_distance_lights_its_bucket(bench):
    """The pointer over a cell: its whole bucket is outlined, and what is followed comes back."""
    widget = BiasMaps(kind="t5", T=32, num_buckets=8, max_distance=32, query=30, key=29)
    ringed = lambda page: {f[0][0] - f[1][0] for f in maps(page.locator(".pieces"))[0].frames  # noqa: E731
                           if f[1][0] == f[1][1]}  # fmt: skip
    with recorded(bench, widget) as page:
        assert ringed(page) == {1}
        board = page.locator(".p-board:visible")
        board.focus()
        for key in ["ArrowDown"] * 31 + ["ArrowRight"] * 11:
            board.press(key)
        page.evaluate(PAINTED)
        distance = torch.arange(32)
        bucket = t5_bucket(-distance, 8, 32, bidirectional=False)
        assert ringed(page) == set(distance[bucket == bucket[20]].tolist())
        assert "20 back" in said(page)
        assert state(page, widget)["query"] == 30, "what is followed stays until a press"
        board.press("Escape")
        page.evaluate(PAINTED)
        check(page, widget)
        board.press("End")
        board.press("Enter")
        assert state(page, widget)["query"] == 1


def test_a_key_of_the_future_is_not_followed(bench):
    widget = BiasMaps(T=12, query=5, key=9)
    with recorded(bench, widget) as page:
        assert state(page, widget)["key"] == 5
        put(page, widget, bidirectional=True, key=9)
        assert state(page, widget)["distance"] == -4
        check(page, widget)
        put(page, widget, bidirectional=False)
        assert state(page, widget)["key"] == 5
        check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [BiasMaps(heads=16, T=64), BiasMaps(kind="t5", bidirectional=True), BiasMaps(T=4)]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-bars").evaluate_all(inside)
        assert page.record.errors == []
