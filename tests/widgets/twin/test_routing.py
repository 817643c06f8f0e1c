"""The twin of `pieces.moe`'s routing: the same choices, room, capacity and balance loss, in a browser."""

import math

import pytest
import torch
from twins import Twin

from pieces.moe import Router, load_balancing_loss, within_capacity

SIZES = [(1, 2, 1, 1), (7, 4, 2, 3), (24, 8, 3, 7), (16, 16, 1, 1), (40, 5, 5, 9), (256, 16, 4, 50)]


@pytest.fixture(scope="module")
def twin(chromium):
    page = chromium.new_page()
    yield Twin(page, modules=["twin/routing"])
    page.close()


@pytest.mark.parametrize(("T", "E", "k", "capacity"), SIZES)
def test_choices_room_and_balance(twin, T, E, k, capacity):
    logits = 3 * torch.randn(T, E, generator=torch.Generator().manual_seed(T))
    experts = logits.topk(k).indices
    given = {"e": experts.tolist(), "l": logits.tolist(), "E": E, "k": k, "c": capacity}
    assert twin("a.l.map((row) => routing.topk(row, a.k))", **given) == experts.tolist()
    room = twin("routing.withinCapacity(a.e, a.E, a.c)", **given)
    assert room == within_capacity(experts, E, capacity).tolist()
    loss = twin("routing.loadBalancingLoss(a.l, a.e)", **given)
    assert loss == pytest.approx(float(load_balancing_loss(logits, k)), abs=1e-5)


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 1.25, 2.0])
@pytest.mark.parametrize(("T", "E", "k"), [(T, E, k) for T, E, k, _ in SIZES])
def test_capacity_is_the_routers(twin, T, E, k, factor):
    """What `Router(capacity_factor=...)` leaves to the busiest expert, if all want the same."""
    capacity = twin("routing.capacityOf(a.f, a.T, a.k, a.E)", f=factor, T=T, k=k, E=E)
    router = Router(1, E, k, capacity_factor=factor)
    weights = router(torch.ones(T, 1)).weights  # all words are alike, and choose alike
    assert int((weights[:, 0] > 0).sum()) == min(T, capacity)
    assert capacity == max(1, math.ceil(factor * T * k / E))


def test_of_equal_scores_the_first_is_chosen(twin):
    assert twin("routing.topk([1, 3, 3, 0, 3], 2)") == [1, 2]
