"""PagedMemory: played and stepped, followed by every hand; its blocks are counted by the package."""

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import put, said, state
from pieces.cache import PagedCache
from pieces.widgets import PagedMemory
from pieces.widgets.paged_memory import REQUESTS
from widgets.paged_memory.samples import FULL

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "named"),
    [({"requests": []}, "requests"), ({"requests": [[0, 1, 1]] * 11}, "requests"),
     ({"requests": [[2, 1, 1], [1, 1, 1]]}, "requests"), ({"requests": [[0, 20, 5]]}, "requests"),
     ({"requests": [[0, 0, 5]]}, "requests"), ({"requests": [[0, 1.5, 5]]}, "requests"),
     ({"requests": [[0, 1]]}, "requests"), ({"block_size": 0}, "block_size"),
     ({"block_size": 17}, "block_size"), ({"prefix": 9}, "prefix"), ({"shared": 1}, "shared"),
     ({"step": 61}, "step"), ({"followed": 11}, "followed")],
)  # fmt: skip
def test_refuses(given, named):
    with pytest.raises(ValueError, match=named):
        PagedMemory(**given)


def test_stepped_to_the_end(bench):
    widget = PagedMemory(step=0)
    with recorded(bench, widget) as page:
        on = page.get_by_role("button", name="Step forward")
        while not on.is_disabled():
            on.click()
            check(page, widget)
        now = state(page, widget)
        assert now["served"] == [len(REQUESTS)] * 2
        assert now["lasts"][0] > now["lasts"][1], "blocks are through first"
        assert said(page) == "All are served: in strips after {} steps, in blocks after {}.".format(
            *now["lasts"])  # fmt: skip


def test_sharing_serves_more_at_once(bench):
    widget = PagedMemory(requests=FULL, step=12)
    with recorded(bench, widget) as page:
        alone = state(page, widget)["running"]
        page.get_by_label("share it").check()
        assert state(page, widget)["running"][1] > alone[1]
        assert state(page, widget)["running"][0] == alone[0]
        check(page, widget)
        page.get_by_label("same beginning").press("Home")
        assert state(page, widget)["running"] == alone
        check(page, widget)


def test_a_request_is_followed_by_finger_and_keyboard(bench):
    widget = PagedMemory(step=8)
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator(".p-request").nth(3).tap()
        assert state(page, widget)["followed"] == 4
        check(page, widget)
        page.locator(".p-request").nth(3).tap()
        assert state(page, widget)["followed"] == 0, "a second press lets go"
        page.locator(".p-memory").first.locator('[data-state="token"]').first.tap()
        assert state(page, widget)["followed"] > 0


def test_smaller_blocks_waste_less(bench):
    widget = PagedMemory(step=8)
    with recorded(bench, widget) as page:
        waste = []
        for size in (16, 8, 4, 2, 1):
            put(page, widget, block_size=size)
            check(page, widget)
            now = state(page, widget)
            running = now["running"][1]
            assert now["waste"][2] <= running * (size - 1)
            waste.append(now["waste"][2] / running)
        assert waste == sorted(waste, reverse=True)
        assert waste[-1] == 0


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("shared", [False, True])
def test_the_package_needs_as_many_blocks(bench, size, shared):
    """The requests that run are written into a PagedCache; sharing is a fork of the beginning."""
    widget = PagedMemory(block_size=size, shared=shared, step=8)
    with bench.show(widget) as page:
        tables = state(page, widget)["tables"]
        rows = {name: int(page.locator(f'tr:has(button:text-is("{name}")) td').first.inner_text())
                for name in tables}  # fmt: skip
    pool = PagedCache(1, 64 // size, size, 1, 1)
    sequences: dict[str, int] = {}
    whole = widget.prefix // size * size if shared else 0
    for name, tokens in rows.items():
        first = next(iter(sequences.values()), None)
        old = whole if whole and first is not None else 0
        sequences[name] = pool.fork(first, old) if old else pool.add()
        new = torch.zeros(1, 1, tokens - old, 1)
        pool.batch([sequences[name]]).update(0, new, new)
    assert {n: len(t) for n, t in tables.items()} == {
        n: len(pool.table(s)) for n, s in sequences.items()
    }
    assert pool.n_free == 64 // size - len({block for table in tables.values() for block in table})


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    with bench.show(PagedMemory(step=8, shared=True, block_size=1), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((c) => c.scrollWidth <= c.clientWidth + 1)"
        assert page.locator(".p-memory, .p-requests, .p-requests td").evaluate_all(inside)
