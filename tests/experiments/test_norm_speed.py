import json

import pytest
import torch

import norm_speed
from pieces.book.measured import record_of

RECORD = json.loads(norm_speed.RECORD.read_text("utf-8"))


def figures(node):
    """Every ratio of a record."""
    if "median" in node:
        return [node]
    inner = [one for one in node.values() if isinstance(one, dict)]
    inner += [one for many in node.values() if isinstance(many, list) for one in many]
    return [figure for one in inner for figure in figures(one)]


def test_slow_work_takes_longer_than_quick_work():
    quick, slow = torch.zeros(10), torch.zeros(1_000_000)
    found = norm_speed.ratios(lambda: slow.exp(), lambda: quick.exp(), 4)
    assert found["median"] > 3
    assert found["low"] <= found["median"] <= found["high"]


def test_a_training_step_has_gradients():
    x = torch.randn(3, 4, requires_grad=True)
    norm = norm_speed.LayerNorm(4)
    norm_speed.training(norm, x)()
    assert norm.weight.grad.abs().sum() > 0
    assert x.grad is not None


@pytest.mark.parametrize("norm", [norm_speed.LayerNorm, norm_speed.RMSNorm])
def test_a_block_has_two_norms_of_its_kind(norm):
    block = norm_speed.block(norm, 8)
    assert sum(isinstance(m, norm) for m in block.modules()) == 2
    assert block(torch.randn(1, 3, 8)).shape == (1, 3, 8)


def test_the_record_is_of_this_script_and_names_no_machine():
    assert [(row["T"], row["D"]) for row in RECORD["norms"]] == list(norm_speed.SHAPES)
    assert len(figures(RECORD)) == 3 * len(norm_speed.SHAPES) + 2
    assert all(0 < f["low"] <= f["median"] <= f["high"] < 20 for f in figures(RECORD))
    told = {"rounds", "threads", "precision", "norms", "block"}
    assert set(RECORD) == told, "ratios, and nothing of the machine"
    assert record_of("norm_speed") == RECORD
