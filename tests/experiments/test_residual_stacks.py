"""Stacks with and without skips: they differ in the connection alone, and the rates are chosen."""

import json
import sys

import pytest
import torch

import residual_stacks as stacks
from pieces.book import measured


def line(lr, *end, kind="skip", layers=4):
    return {"kind": kind, "layers": layers, "lr": lr, "seeds": [100, 101], "end": list(end)}


def test_the_models_differ_in_the_connection_alone():
    made = {kind: stacks.started(3, kind, 2) for kind in stacks.KINDS}
    first, *others = made.values()
    own = dict(first.named_parameters())
    for other in others:
        for name, value in other.named_parameters():
            assert torch.equal(value, own[name]), name
    ids = torch.randint(16, (2, stacks.LENGTH))
    outputs = [model(ids) for model in made.values()]
    assert all(not torch.allclose(outputs[0], one) for one in outputs[1:])


@pytest.mark.parametrize("kind", stacks.KINDS)
def test_what_a_connection_computes(kind):
    x, f = torch.randn(2, 3, stacks.D), torch.tanh
    inner = torch.nn.LayerNorm(stacks.D)(x) if "norm" in kind else x
    wanted = f(inner) + x if "skip" in kind else f(inner)
    torch.testing.assert_close(stacks.connection(kind)(x, f), wanted)


def test_the_best_is_that_of_the_mean_and_an_edge_is_told():
    grid = [line(lr, 2.0, 2.0) for lr in stacks.RATES]
    grid[3] = line(stacks.RATES[3], 1.0, 1.4)
    grid[4] = line(stacks.RATES[4], 0.1, 2.5)
    grid[5] = line(stacks.RATES[5], 0.0, None)
    assert stacks.best({"choose": grid}, "skip", 4) == {"lr": stacks.RATES[3], "at_edge": False}
    grid[0] = line(stacks.RATES[0], 0.5, 0.5)
    assert stacks.best({"choose": grid}, "skip", 4)["at_edge"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(stacks, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(stacks, "PACKAGED", tmp_path / "measured" / "record.json")
    small = {"STEPS": 10, "POINTS": 5, "LAYERS": (1,), "RATES": (1e-3, 2e-3)}
    small |= {"KINDS": ("skip", "norm"), "SEEDS": (0, 1), "CHOOSING": (9,)}
    for name, value in small.items():
        monkeypatch.setattr(stacks, name, value)
    return tmp_path


def test_a_small_run_leaves_a_record_and_makes_nothing_twice(place, monkeypatch):
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["residual_stacks.py", part])
        stacks.main()
    text = (place / "record.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert len(record["choose"]) == 4
    assert [(run["kind"], run["seed"]) for run in record["judge"]] == [
        ("skip", 0), ("skip", 1), ("norm", 0), ("norm", 1)]  # fmt: skip
    assert all(len(run["curve"]) == 5 for run in record["judge"])
    monkeypatch.setattr(stacks, "run", lambda *arguments: pytest.fail("made again"))
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["residual_stacks.py", part])
        stacks.main()
    assert (place / "measured" / "record.json").read_text(encoding="utf-8") == text


def test_the_packaged_record_is_the_script_s():
    own = json.loads(stacks.RECORD.read_text(encoding="utf-8"))
    assert measured.record_of("residual_stacks") == own
    assert {(run["kind"], run["layers"]) for run in own["judge"]} == {
        (kind, layers) for kind in stacks.KINDS for layers in stacks.LAYERS
    }
