"""What attention costs in time: its sides compute the same, and the record is of this script."""

import pytest
import torch

import attention_cost
from pieces.book.measured import record_of

RECORD = record_of("attention_cost")


@pytest.mark.parametrize("G", attention_cost.GROUPS)
def test_three_ways_to_read_shared_keys_agree(G):
    torch.manual_seed(3)
    ways = {name: work() for name, work in attention_cost.grouped(G, 33).items()}
    for name in ("kernel", "rows"):
        found = ways[name].reshape(ways["written out"].shape)
        assert torch.allclose(found, ways["written out"], atol=1e-5), name


def test_one_side_is_the_measure():
    works = {"a": lambda: torch.randn(9).sum(), "b": lambda: torch.randn(99).sum()}
    found = attention_cost.compared(works, "a", rounds=3)
    assert found["a"] == {"median": 1, "low": 1, "high": 1}
    assert 0 < found["b"]["low"] <= found["b"]["median"] <= found["b"]["high"]


def test_the_record_is_of_this_script_and_names_no_machine():
    assert RECORD["layer"] == {
        "D": attention_cost.D,
        "H": attention_cost.H,
        "K": attention_cost.K,
    }
    told = {"rounds", "threads", "precision", "layer"}
    parts = {"by_length", "by_width", "decoding", "without_cache", "sharing"}
    assert set(RECORD) == told | parts, "ratios, and nothing of the machine"
    assert [(row["G"], row["S"]) for row in RECORD["sharing"]] == [
        (G, S) for S in (1024, 16384) for G in (4, 1)
    ]
