"""Each placement at its own best: who chooses does not judge, and no winner stands at an edge."""

import json
import sys

import pytest

import norm_placement
import norm_rates
from pieces.book import measured


def line(lr, warmup, *end, placement="post", layers=2, steps=160):
    kind = {"placement": placement, "layers": layers, "steps": steps}
    return kind | {"lr": lr, "warmup": warmup, "seeds": [100, 101], "end": list(end)}


GRID = [
    line(1e-3, 0, 2.0, 2.2),
    line(1e-3, 40, 2.0, 2.0),
    line(1e-3, 80, 2.5, 2.5),
    line(2e-3, 0, 0.1, 1.9),
    line(2e-3, 40, 0.3, 0.5),
    line(2e-3, 80, 0.6, 0.6),
    line(4e-3, 0, 0.0, None),
    line(4e-3, 40, 1.0, 1.0),
    line(4e-3, 80, 1.0, 1.0),
]


def test_the_best_is_that_of_the_mean_and_not_one_that_broke():
    """Seed 100 alone would take no warm-up, or the rate whose other seed left the numbers."""
    assert norm_rates.best({"choose": GRID}, "post", 2, 160) == {"lr": 2e-3, "warmup": 40}


@pytest.mark.parametrize(("lr", "warmup"), [(1e-3, 0), (4e-3, 40), (2e-3, 80)])
def test_a_winner_at_the_edge_is_refused(lr, warmup):
    winner = [
        one | {"end": [0.0, 0.0]} for one in GRID if (one["lr"], one["warmup"]) == (lr, warmup)
    ]
    others = [one for one in GRID if (one["lr"], one["warmup"]) != (lr, warmup)]
    with pytest.raises(ValueError, match=r"post, 2 layers, 160 steps.*at the edge"):
        norm_rates.best({"choose": others + winner}, "post", 2, 160)


@pytest.mark.parametrize("warmup", [0, 160])
def test_no_warmup_at_all_is_no_edge_nor_the_whole_run(warmup):
    grid = [*GRID, *(line(rate, 160, 1.5, 1.5) for rate in (1e-3, 2e-3, 4e-3))]
    found = [
        one | {"end": [0.1, 0.1]} if (one["lr"], one["warmup"]) == (2e-3, warmup) else one
        for one in grid
    ]
    assert norm_rates.best({"choose": found}, "post", 2, 160) == {"lr": 2e-3, "warmup": warmup}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(norm_rates, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(norm_rates, "PACKAGED", tmp_path / "measured" / "record.json")
    return tmp_path


def test_grid_and_judges_are_made_once_and_kept(place, monkeypatch):
    small = {"SHORT": 20, "LONG": 50, "RATES": (1e-3, 4e-3), "WARMUPS": (0, 5), "LAYERS": (1,)}
    small |= {"LONG_RATES": (1e-3,), "LONG_WARMUPS": (0,), "SEEDS": (0, 1), "SHORT_POINTS": 4}
    for name, value in (small | {"CHOOSING": (100, 101)}).items():
        monkeypatch.setattr(norm_rates, name, value)
    monkeypatch.setattr(norm_rates, "best", lambda made, **race: {"lr": 2e-3, "warmup": 0})
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["norm_rates.py", part])
        norm_rates.main()
    kept = json.loads((place / "record.json").read_text("utf-8"))
    assert kept == json.loads((place / "measured" / "record.json").read_text("utf-8"))
    assert len(kept["choose"]) == 4 * 4 + 1
    assert {len(one["end"]) for one in kept["choose"]} == {2}
    assert len(kept["judge"]) == (4 + 1) * 2
    assert {(one["steps"], len(one["curve"])) for one in kept["judge"]} == {(20, 4), (50, 50)}
    monkeypatch.setattr(norm_rates, "run", lambda *_: pytest.fail("made twice"))
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["norm_rates.py", part])
        norm_rates.main()


class TestRecord:
    """What is committed."""

    def test_is_what_the_package_carries(self):
        assert norm_rates.RECORD.read_bytes() == norm_rates.PACKAGED.read_bytes()

    def test_has_the_whole_grid_and_seeds_that_do_not_judge(self):
        record = measured.record_of("norm_rates")
        keys = ("placement", "layers", "steps", "lr", "warmup")
        found = [tuple(one[key] for key in keys) for one in record["choose"]]
        wanted = [tuple(one[key] for key in keys) for grid in norm_rates.searched() for one in grid]
        assert sorted(found) == sorted(wanted)
        for one in record["choose"]:
            assert one["seeds"] == list(norm_rates.CHOOSING)
            assert len(one["end"]) == len(one["seeds"]) == 5
        judges = {one["seed"] for one in record["judge"]}
        assert judges == set(norm_rates.SEEDS)
        assert not judges & set(norm_rates.CHOOSING)

    def test_each_is_judged_at_what_it_chose(self):
        record = measured.record_of("norm_rates")
        for race in norm_rates.judged():
            setting = race | norm_rates.best(record, **race)
            own = [one for one in record["judge"] if race.items() <= one.items()]
            assert all(setting.items() <= one.items() for one in own)
            assert sorted(one["seed"] for one in own) == list(norm_rates.SEEDS)

    def test_its_models_are_those_of_the_race(self):
        """The same seed, rate and warm-up give the race's curve."""
        race = measured.record_of("norm_placement")
        assert norm_rates.SHORT == norm_placement.RACE["steps"]
        own = norm_rates.run(
            [{"placement": "pre", "layers": 2, "steps": 20, "lr": 4e-3, "warmup": 40}], (1,), 4
        )
        setting = {"placement": "pre", "layers": 2, "lr": 4e-3, "warmup": 40, "seed": 1}
        old = next(one for one in race["race"] if setting.items() <= one.items())
        assert own[0]["curve"] == pytest.approx(old["curve"][:4], abs=5e-3)
