import json
import shutil

import pytest
import torch

import expert_load
from pieces.book.measured import record_of
from pieces.moe import Routing, route_unnormalised

RECORD = json.loads(expert_load.PLACE.read_text("utf-8"))


def test_loads_are_thousandths_of_all_visits_by_layer():
    experts = torch.tensor([[[0, 1], [0, 2], [0, 3], [0, 1]]])
    routings = [Routing(None, experts, None), Routing(None, experts + 1, None)]
    assert expert_load.loads(routings, 5) == [[500, 250, 125, 125, 0], [0, 500, 250, 125, 125]]


def test_one_expert_a_word_learns_by_switchs_router():
    model = expert_load.model_of(4, 1, 0)
    router = model.stack.blocks[0].feed_forward.router
    assert (router.k, router.n_experts, router.choose) == (1, 4, route_unnormalised)
    again, other = (expert_load.model_of(4, 1, seed).embedding.weight for seed in (0, 1))
    assert torch.equal(model.embedding.weight, again)
    assert not torch.equal(again, other)


def test_a_short_run_notes_its_loads(monkeypatch):
    monkeypatch.setattr(expert_load, "ROWS", 100)
    run = expert_load.one_run(3, 1, 0.1, 0, steps=9)
    assert [len(run["load"]), len(run["load"][0]), len(run["load"][0][0])] == [3, 2, 3]
    assert all(abs(sum(layer) - 1000) <= 2 for point in run["load"] for layer in point)
    assert run["above_floor"] > 0


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch, capsys):
    place = tmp_path / "expert_load.json"
    shutil.copy(expert_load.PLACE, place)
    monkeypatch.setattr(expert_load, "PLACE", place)
    monkeypatch.setattr(expert_load, "one_run", lambda **run: pytest.fail("done twice"))
    monkeypatch.setattr("sys.argv", ["expert_load.py", "8", "1", "0.1"])
    expert_load.main()
    assert capsys.readouterr().out == ""


def test_the_record_is_whole_and_packaged():
    assert record_of("expert_load") == RECORD
    keys = [tuple(run[key] for key in expert_load.KEY) for run in RECORD["runs"]]
    wanted = {(E, k, balance, seed) for E, k in ((8, 1), (16, 1), (8, 2))
              for balance in (0.0, 0.01, 0.1) for seed in (0, 1, 2)}  # fmt: skip
    assert set(keys) == wanted
    assert len(keys) == len(wanted)
    points = expert_load.STEPS // expert_load.EVERY + 1
    for run in RECORD["runs"]:
        assert len(run["load"]) == points
        shape = {(len(point), *map(len, point)) for point in run["load"]}
        assert shape == {(2, run["experts"], run["experts"])}
    assert expert_load.PACKAGED.stat().st_size < 200_000
