"""Latent attention: it equals its expanded form and the equation, and caches one vector a token."""

import math

import pytest
import torch

from pieces import masks
from pieces.attention import CausalCore, LatentAttention
from pieces.cache import GrowingCache, RollingCache
from pieces.positions import Rotary

EXACT = {"atol": 1e-12, "rtol": 1e-9}


def build(rotary=4, core=None, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 4, "latent": 6, "head_dim": 5} | options
    turned = Rotary(rotary) if rotary else None
    return LatentAttention(**sizes, rotary=turned, core=core).double()


def in_loops(layer, x):
    """Each head, each pair of causal tokens, by the equation of the paper."""
    T, (H, K, C) = x.shape[0], (layer.n_heads, layer.head_dim, layer.latent)
    R = layer.rotary.head_dim if layer.rotary else 0
    q = layer.query(x).view(T, H, K + R)
    c, r = layer.down(x).split((C, R), dim=-1)
    k, v = layer.key(c).view(T, H, K), layer.value(c).view(T, H, K)
    rows = []
    for i in range(T):
        heads = []
        for n in range(H):
            scores = []
            for j in range(i + 1):
                score = q[i, n, :K] @ k[j, n]
                if R:
                    places = torch.tensor([i]), torch.tensor([j])
                    one = [
                        layer.rotary.rotate(a.view(1, 1, 1, R), a.view(1, 1, 1, R), at)[0].flatten()
                        for a, at in zip((q[i, n, K:], r[j]), places, strict=True)
                    ]
                    score = score + one[0] @ one[1]
                scores.append(score / math.sqrt(K + R))
            weights = torch.stack(scores).softmax(0)
            heads.append(weights @ v[: i + 1, n])
        rows.append(layer.output(torch.cat(heads)))
    return torch.stack(rows)


@pytest.mark.parametrize("rotary", [0, 4])
def test_is_the_equation(rotary):
    layer, x = build(rotary, CausalCore()), torch.randn(5, 16).double()
    torch.testing.assert_close(layer(x[None])[0], in_loops(layer, x), **EXACT)


@pytest.mark.parametrize("rotary", [0, 4])
@pytest.mark.parametrize("mask", [None, masks.causal(7), masks.sliding_window(7, 3)])
def test_equals_its_expanded_form(rotary, mask):
    layer, x = build(rotary), torch.randn(2, 7, 16).double()
    torch.testing.assert_close(layer(x, mask=mask), layer.expanded(x, mask=mask), **EXACT)


def test_gradients_equal_those_of_the_expanded_form():
    layer, x = build(core=CausalCore()), torch.randn(2, 4, 16).double()
    found = []
    for form in (layer, layer.expanded):
        layer.zero_grad()
        form(x).square().sum().backward()
        found.append([p.grad.clone() for p in layer.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("rotary", [0, 4])
@pytest.mark.parametrize("steps", [[1] * 7, [3, 4], [5, 1, 1]])
def test_with_a_cache_it_equals_the_whole_text(rotary, steps):
    layer, x, cache = build(rotary, CausalCore()), torch.randn(2, 7, 16).double(), GrowingCache()
    with torch.no_grad():
        parts = [layer(part, cache=cache[0]) for part in x.split(steps, dim=1)]
        torch.testing.assert_close(torch.cat(parts, dim=1), layer(x), **EXACT)


def test_a_window_with_a_rolling_cache():
    layer, x, cache = build(core=CausalCore(window=3)), torch.randn(1, 8, 16), RollingCache(3)
    x = x.double()
    with torch.no_grad():
        parts = [layer(part, cache=cache[0]) for part in x.split(1, dim=1)]
        torch.testing.assert_close(torch.cat(parts, dim=1), layer(x), **EXACT)
    with pytest.raises(ValueError, match="a layer looks back at all keys"):
        build(core=CausalCore())(x, cache=RollingCache(3)[0])


@pytest.mark.parametrize("heads", [1, 4, 16])
def test_the_cache_does_not_know_how_many_heads_there_are(heads):
    layer, cache = build(n_heads=heads), GrowingCache()
    with torch.no_grad():
        layer(torch.randn(1, 3, 16).double(), cache=cache[0])
    kept, values = cache.read(0)
    assert kept.shape == (1, 1, 3, 6 + 4)
    assert values.numel() == 0
    assert cache.n_bytes() == 2 * 3 * (6 + 4) * 8, "room for twice the text, nothing held twice"


def test_the_score_depends_on_the_distance_alone():
    layer, x = build(core=CausalCore()), torch.randn(1, 5, 16).double()
    moved = layer(x, positions=torch.arange(90, 95))
    torch.testing.assert_close(moved, layer(x), atol=1e-9, rtol=1e-7)
    assert not torch.allclose(layer(x, positions=torch.tensor([0, 2, 4, 6, 8])), layer(x))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("bad", [{"latent": 0}, {"n_heads": 0}, {"head_dim": -1}])
def test_refuses_sizes_that_are_none(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        build(**bad)
