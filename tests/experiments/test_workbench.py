import json

import pytest
import torch

import workbench
from swapped import BASE, built


def test_each_variant_swaps_one_thing_and_starts_from_the_same_stories():
    assert workbench.SWAPS["baseline"] == {}
    for swap in workbench.SWAPS.values():
        changed = {name for name in swap if swap[name] != BASE[name]}
        assert changed == set(swap)
        assert len(changed) <= 1 or changed == {"n_experts", "n_chosen"}
    with torch.device("meta"):
        sizes = {name: sum(p.numel() for p in built(BASE | swap).parameters())
                 for name, swap in workbench.SWAPS.items()}  # fmt: skip
    record = json.loads(workbench.RECORD.read_text(encoding="utf-8"))
    assert all(run["parameters"] == sizes[run["model"]] for run in record["runs"])
    assert all(run["swap"] == workbench.SWAPS[run["model"]] for run in record["runs"])


def tried(ends, seeds=workbench.RATES_SEEDS):
    """Runs of one model that end at these distances, by rate."""
    return [{"model": "Post", "seed": seed, "lr": lr, "above_floor": above}
            for seed in seeds for lr, above in ends.items()]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "following"),
    [({}, (workbench.RATES_SEEDS, workbench.RATES)),
     ({0.02: 1.0}, (workbench.RATES_SEEDS, (0.04, 0.08))),
     ({0.02: 1.0, 0.04: 2.0, 0.08: 3.0}, (workbench.RATES_SEEDS, (0.01,))),
     ({0.02: 3.0, 0.04: 2.0, 0.08: 1.0}, (workbench.RATES_SEEDS, (0.16,))),
     ({0.02: 2.0, 0.04: 1.0, 0.08: None}, (workbench.SEEDS, (0.04,)))],
)  # fmt: skip
def test_rates_go_on_until_the_best_lies_between_two_and_other_seeds_judge(ends, following):
    judged = tried({0.08: 0.0}, seeds=workbench.SEEDS)
    assert workbench.wanted(tried(ends) + judged, "Post") == following


def test_a_rate_needs_both_seeds():
    half = tried(dict.fromkeys(workbench.RATES, 1.0), seeds=workbench.RATES_SEEDS[:1])
    assert workbench.wanted(half, "Post") == (workbench.RATES_SEEDS, workbench.RATES)


def test_a_run_says_how_far_it_ends(monkeypatch):
    monkeypatch.setattr(workbench, "ROWS", 100)
    run = workbench.one("Post", 0, 1e-2, 2)
    assert run["above_floor"] == pytest.approx(5, abs=3)
    assert (run["model"], run["swap"], run["steps"]) == ("Post", {"place": "post"}, 2)
