"""torch.set_default_dtype is for new parameters: no constant of ours depends on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from pieces import (
    embeddings,
    feedforward,
    losses,
    measures,
    moe,
    norms,
    positions,
    state_space,
    tasks,
)
from pieces.attention import LinearAttention
from pieces.positions import scaling

D, H, K, V, T = 8, 2, 4, 11, 40
OTHERS = [torch.bfloat16, torch.float16, torch.float64]


@contextmanager
def default(dtype) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def q():
    return torch.randn(1, H, T, K)


def x():
    return torch.randn(2, T, D)


def rotary(stretched):
    return lambda: positions.Rotary(K, scaling=stretched)


PARTS = {
    "Unscaled": rotary(scaling.Unscaled()),
    "Linear": rotary(scaling.Linear(3.3)),
    "NTKAware": rotary(scaling.NTKAware(3.3)),
    "DynamicNTK": rotary(scaling.DynamicNTK(3.3, 7)),
    "YaRN": rotary(scaling.YaRN(3.3, 7)),
    "Llama3": rotary(scaling.Llama3(3.3, 7)),
    "Sinusoidal": lambda: positions.Sinusoidal(D),
    "Learned": lambda: positions.Learned(T, D),
    "ALiBi, 2 heads": lambda: positions.ALiBi(H),
    "ALiBi, 7 heads": lambda: positions.ALiBi(7),
    "T5Buckets": lambda: positions.T5Buckets(H, max_distance=20),
    "TransformerXLRelative": lambda: positions.TransformerXLRelative(D, H, K),
    "LayerNorm": lambda: norms.LayerNorm(D),
    "RMSNorm": lambda: norms.RMSNorm(D),
    "GemmaRMSNorm": lambda: norms.GemmaRMSNorm(D),
    "BatchNorm": lambda: norms.BatchNorm(D),
    "FeedForward": lambda: feedforward.FeedForward(D, 12),
    "GatedFeedForward": lambda: feedforward.GatedFeedForward(D, 12),
    "LinearAttention": lambda: LinearAttention(D, H),
    "SelectiveStateSpace": lambda: state_space.SelectiveStateSpace(D),
    "TokenEmbedding": lambda: embeddings.TokenEmbedding(V, D, scale=D**0.5),
    "Router": lambda: moe.Router(D, 4, 2, capacity_factor=1.3),
    "MixtureOfExperts": lambda: moe.MixtureOfExperts(
        moe.Router(D, 4, 2), moe.GatedExperts(4, D, 6)
    ),
}


def run(part):
    torch.manual_seed(1)
    if isinstance(part, positions.TransformerXLRelative):
        return part.bias(q(), q(), torch.arange(T))
    if isinstance(part, positions.PositionalEncoding):
        return part(torch.arange(T))
    if isinstance(part, embeddings.TokenEmbedding):
        return part(torch.arange(V)[None])
    return part(x())


def same(found, expected):
    found, expected = (y if isinstance(y, tuple) else (y,) for y in (found, expected))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", OTHERS)
@pytest.mark.parametrize("name", PARTS)
def test_a_part_computes_the_same(name, dtype, monkeypatch):
    part = PARTS[name]()
    expected = run(part)
    drawn = torch.randn
    monkeypatch.setattr(torch, "randn", lambda *n, **o: drawn(*n, **{"dtype": torch.float32} | o))
    with default(dtype):
        same(run(part), expected)
        again = PARTS[name]()
    again.float().load_state_dict(part.state_dict())  # built there, used here
    same(run(again), expected)


@pytest.mark.parametrize("dtype", OTHERS)
def test_functions_compute_the_same(dtype):
    numbers, ids = torch.randn(2, 6, V), torch.randint(V, (2, 6))
    calls = {
        "alibi_slopes": lambda: positions.alibi_slopes(6),
        "t5_bucket": lambda: positions.t5_bucket(torch.arange(-300, 300)),
        "layer_norm": lambda: norms.layer_norm(numbers),
        "rms_norm": lambda: norms.rms_norm(numbers),
        "rms": lambda: norms.rms(numbers),
        "swish": lambda: feedforward.swish(numbers, 1.7),
        "balance": lambda: moe.load_balancing_loss(numbers, 2, ids > 3),
        "z": lambda: moe.router_z_loss(numbers, ids > 3),
        "loss": lambda: losses.summed_cross_entropy(numbers, ids),
        "entropy": lambda: measures.entropy(numbers.softmax(-1)),
        "jacobian": lambda: measures.jacobian_norm(numbers.softmax(-1)),
        "cosine": lambda: measures.cosine(numbers, numbers.flip(0)),
    }
    expected = {name: call() for name, call in calls.items()}
    with default(dtype):
        for name, call in calls.items():
            same(call(), expected[name])


TASKS = [
    tasks.Copy,
    tasks.Reverse,
    tasks.Sorting,
    tasks.Induction,
    tasks.AssociativeRecall,
    tasks.Agreement,
    tasks.ModularSums,
    tasks.Translation,
    tasks.Introductions,
    tasks.Corpus,
]


@pytest.mark.parametrize("dtype", OTHERS)
@pytest.mark.parametrize("kind", TASKS)
def test_a_task_draws_the_same(kind, dtype):
    expected = kind().batch(6, generator=torch.Generator().manual_seed(0))
    with default(dtype):
        found = kind().batch(6, generator=torch.Generator().manual_seed(0))
    same(tuple(found), tuple(expected))


def test_new_parameters_do_follow():
    with default(torch.bfloat16):
        part = nn.Sequential(norms.RMSNorm(D), feedforward.FeedForward(D, 12))
    assert {p.dtype for p in part.parameters()} == {torch.bfloat16}
