import json
import statistics

import pytest
import torch

import activations
from pieces.book import measured
from pieces.feedforward import two_thirds


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(activations, "RECORDS", tmp_path)
    monkeypatch.setattr(activations, "PACKAGED", tmp_path / "packaged")
    (tmp_path / "packaged").mkdir()
    return tmp_path


def run(network, seed, lr, above):
    return {"network": network, "seed": seed, "lr": lr, "above_floor": above}


def test_all_networks_have_the_same_number_of_weights():
    counts = {
        name: sum(p.numel() for p in make().parameters())
        for name, make in activations.NETWORKS.items()
    }
    assert set(counts.values()) == {18_432}
    assert two_thirds(activations.F) == 128


def test_a_seed_starts_alike_but_for_the_network():
    plain, gated = (activations.model_of(name, 3).state_dict() for name in ("GELU", "SwiGLU"))
    again = activations.model_of("GELU", 3).state_dict()
    other = activations.model_of("GELU", 4).state_dict()
    assert all(torch.equal(plain[name], again[name]) for name in plain)
    shared = [name for name in plain if ".feed_forward." not in name]
    assert all(torch.equal(plain[name], gated[name]) for name in shared)
    assert not torch.equal(plain["embedding.weight"], other["embedding.weight"])


def test_zeros_are_of_relu_and_a_dead_unit_is_0_at_every_word(monkeypatch):
    monkeypatch.setattr(activations, "ROWS", 100)
    model = activations.model_of("ReLU", 0)
    with torch.no_grad():
        model.stack.blocks[0].feed_forward.up.weight[:48] = 0
    found = activations.zeros(model)
    assert found["dead"] == pytest.approx(48 / 384, abs=1e-4)
    assert found["dead"] < found["zero_at_a_word"] < 0.7
    assert activations.zeros(activations.model_of("SwiGLU", 0))["dead"] == 0


def tried(network, *means):
    """Runs of two seeds around each mean, at the rates 0.1, 0.2, ..."""
    return [
        run(network, seed, round(0.1 * n, 1), mean + off)
        for n, mean in enumerate(means, 1)
        for seed, off in ((100, -0.4), (101, 0.4))
    ]


def test_a_rate_is_chosen_by_the_mean_of_several_seeds():
    runs = tried("ReLU", 2.0, 1.0, 1.5) + tried("GELU", 0.1, 0.2, 0.0, 0.3)
    lucky = [one | {"above_floor": 0.3} if one["lr"] == 0.3 else one for one in runs[:5]]
    assert activations.best_rate(runs, "ReLU") == 0.2
    assert activations.best_rate([*lucky, runs[5]], "ReLU") == 0.2
    assert activations.best_rate(runs, "GELU") == 0.3


@pytest.mark.parametrize("means", [(1.0, 2.0, 3.0), (3.0, 2.0, 1.0)])
def test_a_rate_at_the_edge_of_the_grid_is_refused(means):
    with pytest.raises(ValueError, match="at the edge; widen RATES"):
        activations.best_rate(tried("ReLU", *means), "ReLU")


def test_a_grid_with_holes_chooses_nothing():
    with pytest.raises(ValueError, match="not every rate has every seed"):
        activations.best_rate(tried("ReLU", 2.0, 1.0, 1.5)[:-1], "ReLU")


def test_each_network_is_judged_at_the_rate_it_chose():
    best = zip(activations.NETWORKS, ((3, 1, 2, 3), (3, 2, 1, 3)) * 2, strict=True)
    record = {"rates": [one for name, means in best for one in tried(name, *means)]}
    record["seeds"] = [run("ReLU", 0, 0.2, 0.5), run("ReLU", 1, 0.3, 0.5)]
    wanted = list(activations.wanted("seeds", record, (5,)))
    assert record["chosen"] == {"ReLU": 0.2, "GELU": 0.3, "SwiGLU": 0.2, "GeGLU": 0.3}
    assert [(n, lr) for n, _, lr, _ in wanted] == list(record["chosen"].items())
    assert {seed for _, seed, *_ in wanted} == {5}
    assert [one["seed"] for one in record["seeds"]] == [0]  # at another rate: forgotten


class TestRecord:
    """What is committed: a whole grid, and judges who did not choose."""

    def test_has_every_seed_at_every_rate(self):
        record = measured.record_of("activations")
        found = [(one["network"], one["seed"], one["lr"]) for one in record["rates"]]
        assert len(found) == len(set(found))
        assert set(found) == {(n, s, lr) for n, s, lr, _ in activations.wanted("rates", {}, ())}

    def test_is_judged_at_the_chosen_rates_by_other_seeds(self):
        record = measured.record_of("activations")
        best = {n: activations.best_rate(record["rates"], n) for n in activations.NETWORKS}
        assert record["chosen"] == best
        found = [(one["network"], one["seed"], one["lr"]) for one in record["seeds"]]
        assert sorted(found) == sorted(
            (n, seed, lr) for n, lr in best.items() for seed in activations.SEEDS
        )
        assert not set(activations.SEEDS) & set(activations.CHOOSING)
        assert {one["steps"] for one in record["seeds"]} == {activations.STEPS}

    def test_has_the_rate_beside_where_two_were_nearly_as_good(self):
        """The two best rates of a network differ by less than the seeds that chose."""
        record = measured.record_of("activations")
        close = {}
        for network in activations.NETWORKS:
            ends = {
                lr: [
                    r["above_floor"]
                    for r in record["rates"]
                    if (r["network"], r["lr"]) == (network, lr)
                ]
                for lr in activations.RATES
            }
            first, second = sorted(ends, key=lambda lr: statistics.fmean(ends[lr]))[:2]
            gap = statistics.fmean(ends[second]) - statistics.fmean(ends[first])
            if gap < min(statistics.stdev(ends[first]), statistics.stdev(ends[second])):
                close[network] = second
        assert close == activations.BESIDE
        judged = sorted((one["network"], one["lr"], one["seed"]) for one in record["beside"])
        assert judged == sorted(
            (n, lr, seed) for n, lr in close.items() for seed in activations.SEEDS
        )


def test_what_is_kept_is_opened_again_and_of_another_set_up_forgotten(place, monkeypatch):
    record = activations.opened()
    assert record["rates"] == record["seeds"] == []
    record["rates"] += [run("ReLU", 100, lr, 2.0) for lr in (activations.RATES[0], 0.5)]
    record["chosen"] = {"ReLU": 0.1}
    activations.keep(record)
    assert activations.opened()["rates"] == record["rates"][:1]  # 0.5 is no longer on the grid
    assert activations.opened()["chosen"] == {"ReLU": 0.1}
    kept, packaged = (p / "activations.json" for p in (place, place / "packaged"))
    assert json.loads(kept.read_text()) == json.loads(packaged.read_text())
    monkeypatch.setattr(activations, "ROWS", 7)
    assert activations.opened()["rates"] == []
