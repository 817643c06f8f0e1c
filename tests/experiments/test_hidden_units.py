import json

import pytest
import torch

import hidden_units
from pieces.models.llama import LlamaConfig, llama

SIZE = 30


@pytest.fixture
def model():
    torch.manual_seed(0)
    return llama(LlamaConfig(SIZE, 12, 2, 3, 20)).eval()


@pytest.fixture
def ids():
    return torch.randint(SIZE, (6, 9), generator=torch.Generator().manual_seed(1))


def test_values_are_gate_times_up(model, ids):
    found = hidden_units.values(model, ids)
    assert found.shape == (2, 6, 9, 20)
    block = model.stack.blocks[0]
    x = model.embedding(ids)
    mixed = x + block.attention(block.attention_residual.norm(x))
    z = block.feed_forward_residual.norm(mixed)
    feed = block.feed_forward
    torch.testing.assert_close(
        found[0], torch.nn.functional.silu(feed.gate(z)) * feed.up(z), atol=1e-6, rtol=1e-4
    )


@torch.no_grad()
def test_a_unit_held_is_another_model_and_the_hook_goes(model, ids):
    plain = model(ids).softmax(-1)
    held = hidden_units.with_unit(model, ids, 1, 4, 50.0)
    assert not torch.allclose(held, plain)
    down = model.stack.blocks[1].feed_forward.down
    before = down.weight.clone()
    down.weight[:, 4] = 0
    torch.testing.assert_close(
        model(ids).softmax(-1), hidden_units.with_unit(model, ids, 1, 4, 0.0)
    )
    down.weight.copy_(before)
    torch.testing.assert_close(model(ids).softmax(-1), plain)


def test_what_opens_a_unit():
    """Word 3 at 10, word 7 at 6, all others near 0: a family of two, which open it always."""
    ids = torch.arange(10).repeat(40, 1)
    value = torch.zeros(40, 10)
    value[:, 3], value[:, 7] = 10.0, 6.0
    found = hidden_units.opened(value, ids, 10)
    assert [i for i, _ in found["words"][:2]] == [3, 7]
    assert (found["peak"], found["family"], found["specific"]) == (10.0, 2, 1.0)
    assert found["open"] == pytest.approx(0.2)
    known = found | {"rises": [[4, 0.1], [8, 0.1], [0, 0.0]]}
    assert hidden_units.followed(value, ids, known) == 1.0
    assert hidden_units.followed(value, ids, known | {"rises": [[4, 0.1]]}) == 0.5
    assert hidden_units.opened(-value, ids, 10)["peak"] == -10.0


def test_who_is_picked():
    unit = {"family": 8, "followed": 1.0, "held": 0.5}
    more = [unit | {"held": 0.7}, unit | {"family": 7, "held": 0.9}, unit | {"followed": 0.9}]
    assert hidden_units.picked([unit, *more]) == [more[0], unit]


def test_the_record_says_which_unit_the_chapter_shows():
    place = hidden_units.RECORDS / "hidden_units.json"
    units = json.loads(place.read_text(encoding="utf-8"))["units"]
    first = hidden_units.picked(units)[0]
    assert (first["layer"], first["unit"]) == (3, 147)
    packaged = (hidden_units.PACKAGED / "hidden_units.json").read_text(encoding="utf-8")
    assert packaged == hidden_units.small(units)
