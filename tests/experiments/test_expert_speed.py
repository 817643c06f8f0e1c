import json

import pytest
import torch

import expert_speed
from pieces.book.measured import record_of

RECORD = json.loads(expert_speed.RECORD.read_text("utf-8"))


def test_both_sides_do_the_same_work():
    mixture = expert_speed.mixture(8)
    assert mixture.router.k * expert_speed.F == 2 * 256
    assert expert_speed.once_more(mixture, 3)().shape == (3, expert_speed.D)


def test_the_record_is_of_this_script_and_names_no_machine():
    rows = [(row["T"], row["E"]) for row in RECORD["rows"]]
    assert rows == [(T, E) for T in expert_speed.TOKENS for E in expert_speed.EXPERTS]
    dense = [row["E"] for row in RECORD["rows"] if "dense" in row]
    assert tuple(dense) == expert_speed.DENSE
    for row in RECORD["rows"]:
        for kind in {"sparse", "dense"} & set(row):
            assert 0 < row[kind]["low"] <= row[kind]["median"] <= row[kind]["high"] < 60
    assert set(RECORD) == {"rounds", "threads", "precision", "D", "F", "k", "rows"}
    assert record_of("expert_speed") == RECORD


@pytest.mark.parametrize("E", [2, 5])
def test_dense_is_the_layer_that_visits_all(E):
    layer = expert_speed.mixture(E, E)
    x = torch.randn(4, expert_speed.D)
    assert layer.router(x).experts.sort().values.tolist() == [list(range(E))] * 4
