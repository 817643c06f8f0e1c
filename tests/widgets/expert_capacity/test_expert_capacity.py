"""ExpertCapacity: its batch by every hand; drawn scores that stay, and what they teach."""

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, said, state
from pieces.moe import Router
from pieces.widgets import ExpertCapacity
from widgets.expert_capacity.expected import routed, scores

TestOracle = trials(__file__)

OPENING = {
    "n_experts": 8, "k": 1, "n_tokens": 64, "lead": 1.0, "noise": 0.0, "capacity": 1.25, "seed": 1,
}  # fmt: skip


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("n_experts", 1), ("n_experts", 17), ("k", 0), ("k", 1.5), ("n_tokens", 15), ("lead", -1),
     ("noise", 3.5), ("noise", float("nan")), ("capacity", 0), ("seed", -1), ("temperature", 1)],
)  # fmt: skip
def test_refuses_nonsense(trait, value):
    with pytest.raises(ValueError, match=trait):
        ExpertCapacity(**{trait: value})


def test_says_what_is_shown():
    text = repr(ExpertCapacity(k=2, noise=0.5))
    assert "64 words, of which each visits 2 of 8 experts by drawn scores" in text
    assert "expert 1 leads by 1, noise of 0.5 on each score, room for 1.25 times the fair" in text
    assert "leads" not in repr(ExpertCapacity(lead=0))


def test_its_room_is_the_routers():
    """The same scores through `Router`, whose weights are 0 where there is no room."""
    s = OPENING | {"k": 2, "n_experts": 6, "lead": 2.0, "capacity": 0.75}
    router = Router(6, 6, 2, capacity_factor=s["capacity"]).double()
    with torch.no_grad():
        router.gate.weight.copy_(torch.eye(6))
        weights = router(scores(s)).weights
    _, dropped, _, without, _ = routed(s)
    assert int((weights == 0).sum()) == sum(dropped) > 0
    assert int((weights == 0).all(-1).sum()) == without > 0


def test_every_control(bench):
    widget = ExpertCapacity()
    with recorded(bench, widget) as page:
        assert {t: state(page, widget)[t] for t in OPENING} == OPENING
        check(page, widget)
        for label, key, trait, value in [
            ("lead of expert 1", "End", "lead", 4), ("lead of expert 1", "Home", "lead", 0),
            ("experts", "ArrowRight", "n_experts", 9), ("visits per word", "End", "k", 9),
            ("visits per word", "ArrowLeft", "k", 8), ("words", "ArrowRight", "n_tokens", 80),
            ("noise", "ArrowRight", "noise", 0.25), ("capacity factor", "Home", "capacity", 0.5),
            ("experts", "Home", "n_experts", 2),
        ]:  # fmt: skip
            page.get_by_role("slider", name=label, exact=True).press(key)
            assert state(page, widget)[trait] == value
            check(page, widget)
        assert state(page, widget)["k"] == 2, "a word visits no more experts than there are"
        page.get_by_role("button", name="Draw again").press("Enter")
        assert state(page, widget)["seed"] == 2
        check(page, widget)
        assert page.record.errors == []


def test_draws_stay_when_others_come(bench):
    """More words leave the first ones where they went; no noise leaves the scores alone."""
    widget = ExpertCapacity(n_tokens=16, capacity=4.0)
    with recorded(bench, widget) as page:
        small = state(page, widget)["load"]
        put(page, widget, n_tokens=256)
        large = state(page, widget)["load"]
        assert all(a <= b for a, b in zip(small, large, strict=True))
        check(page, widget)
        put(page, widget, noise=1.0)
        assert state(page, widget)["load"] != large
        put(page, widget, noise=0.0)
        assert state(page, widget)["load"] == large


def test_by_finger_on_a_phone(bench):
    widget = ExpertCapacity(n_experts=16, k=16, n_tokens=256)
    with recorded(bench, widget, width=320, touch=True) as page:
        check(page, widget)
        page.get_by_role("button", name="Draw again").tap()
        check(page, widget)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        inside = """() => { const row = [...document.querySelectorAll(".p-column")];
          const boxes = (what) => row.map((one) => one.querySelector(what).getBoundingClientRect());
          return ["b", "span"].every((what) => boxes(what).every((box, n, all) =>
            !n || box.left >= all[n - 1].right - 0.5)); }"""
        assert page.evaluate(inside), "numbers or names run into each other"
        assert page.record.errors == []


def test_set_by_python_and_held_within_bounds(bench):
    widget = ExpertCapacity()
    with recorded(bench, widget) as page:
        put(page, widget, n_experts=4, k=99, lead=2.0, capacity=1.1, n_tokens=50)
        now = state(page, widget)
        assert (now["k"], now["capacity"], now["n_tokens"]) == (4, 1.1, 50)
        check(page, widget)
        put(page, widget, k=None, noise="much", seed=1e9)
        now = state(page, widget)
        assert (now["k"], now["noise"], now["seed"]) == (1, 0, 9999)
        check(page, widget)
        page.get_by_role("button", name="Draw again").click()
        assert state(page, widget)["seed"] == 0
        assert page.record.errors == []


def test_says_that_no_model_made_the_scores(bench):
    with bench.show(ExpertCapacity()) as page:
        page.evaluate(PAINTED)
        assert "no model made them" in page.locator(".p-drawn").inner_text()
        assert "20 of 64 visits find no room, and 20 words are left" in said(page)
