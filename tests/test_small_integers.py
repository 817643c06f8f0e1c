"""Positions, ids and targets in a byte or two are those of 64 bits, to the last one."""

import pytest
import torch

from pieces import losses, moe, positions
from pieces.embeddings import TokenEmbedding
from pieces.positions import scaling

pytestmark = pytest.mark.usefixtures("unchecked")
ENDS = {torch.uint8: (0, 255), torch.int8: (-128, 127), torch.int16: (-999, 999)}
ENDS |= {torch.int32: (-999, 999)}
ENCODINGS = {
    "ALiBi": lambda: positions.ALiBi(2),
    "T5Buckets": lambda: positions.T5Buckets(2),
    "T5Buckets, one side": lambda: positions.T5Buckets(2, bidirectional=False),
    "Sinusoidal": lambda: positions.Sinusoidal(8),
    "Rotary": lambda: positions.Rotary(4),
    "DynamicNTK": lambda: positions.Rotary(4, scaling=scaling.DynamicNTK(2.0, 100)),
    "Learned": lambda: positions.Learned(1000, 8),
}


def to_the_end(dtype):
    lowest, highest = ENDS[dtype]
    return torch.cat((torch.arange(lowest, lowest + 9), torch.arange(highest - 8, highest + 1)))


def equal(found, expected):
    found, expected = (y if isinstance(y, tuple) else (y,) for y in (found, expected))
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("dtype", ENDS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_positions(name, dtype):
    encoding, places = ENCODINGS[name](), to_the_end(dtype)
    places = places.abs().clamp(max=ENDS[dtype][1]) if name == "Learned" else places
    equal(encoding(places.to(dtype)), encoding(places))
    equal(encoding(places.to(dtype)[None]), encoding(places[None]))


@pytest.mark.parametrize("dtype", ENDS)
@pytest.mark.parametrize("name", ["ALiBi", "T5Buckets"])
def test_what_a_layer_gets(name, dtype):
    encoding, places = ENCODINGS[name](), to_the_end(dtype)
    few, dtype_out = places.to(dtype)[-3:], torch.float32
    expected = encoding.for_layers(places[-3:], 300, dtype_out)["bias"]
    assert torch.equal(encoding.for_layers(few, 300, dtype_out)["bias"], expected)
    assert torch.equal(positions.key_positions(few, 300), positions.key_positions(places[-3:], 300))
    assert encoding.for_layers(few, 3, dtype_out)["bias"].shape == (1, 2, 3, 3)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("dtype", ENDS)
def test_buckets(dtype, bidirectional):
    relative = to_the_end(dtype)
    found = positions.t5_bucket(relative.to(dtype), bidirectional=bidirectional)
    assert torch.equal(found, positions.t5_bucket(relative, bidirectional=bidirectional))


@pytest.mark.parametrize("dtype", ENDS)
def test_ids_and_targets(dtype):
    embedding, ids = TokenEmbedding(120, 4), torch.randint(120, (2, 5))
    assert torch.equal(embedding(ids.to(dtype)), embedding(ids))
    logits = torch.randn(2, 5, 120)
    expected = losses.summed_cross_entropy(logits, ids)
    equal(losses.summed_cross_entropy(logits, ids.to(dtype)), expected)


@pytest.mark.parametrize("dtype", ENDS)
def test_experts(dtype):
    chosen = torch.randint(4, (50, 2))
    found = moe.within_capacity(chosen.to(dtype), 4, 9)
    assert torch.equal(found, moe.within_capacity(chosen, 4, 9))
    for experts in (moe.GatedExperts(3, 4, 6), moe.ExpertList([torch.nn.Identity()] * 3)):
        x, load = torch.randn(90, 4), torch.tensor([80, 0, 10])
        assert torch.equal(experts(x, load.to(dtype)), experts(x, load))
