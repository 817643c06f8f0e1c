import json

import pytest
import torch

import activations
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


def test_each_network_takes_its_best_rate():
    runs = [run("ReLU", 100, 0.1, 2.0), run("ReLU", 100, 0.2, 1.0), run("GELU", 100, 0.1, 0.5)]
    assert activations.best_rate(runs, "ReLU") == 0.2
    both = {"rates": [*runs, run("SwiGLU", 100, 0.3, 1), run("GeGLU", 100, 0.4, 1)]}
    wanted = list(activations.wanted("seeds", both, (5,)))
    assert [(n, seed, lr) for n, seed, lr, _ in wanted] == [
        ("ReLU", 5, 0.2), ("GELU", 5, 0.1), ("SwiGLU", 5, 0.3), ("GeGLU", 5, 0.4)]  # fmt: skip


def test_what_is_kept_is_opened_again_and_of_another_set_up_forgotten(place, monkeypatch):
    record = activations.opened()
    assert record["rates"] == record["seeds"] == []
    record["rates"].append(run("ReLU", 100, 0.1, 2.0))
    activations.keep(record)
    assert activations.opened()["rates"] == record["rates"]
    kept, packaged = (p / "activations.json" for p in (place, place / "packaged"))
    assert json.loads(kept.read_text()) == json.loads(packaged.read_text())
    monkeypatch.setattr(activations, "ROWS", 7)
    assert activations.opened()["rates"] == []
