import inspect

import pytest
import torch

from pieces import masks
from pieces.checkpoints import from_transformers
from tiny import FAMILIES, ROPES, SEEDS, caches, config_of, theirs, tokens

CASES = [(family, seed) for family in FAMILIES for seed in SEEDS]
EACH = pytest.mark.parametrize(("family", "seed"), CASES)


def assert_close(ours, expected):
    """1e-5 of the largest logit, which is a few units: rounding of float32, and nothing else."""
    assert ours.shape == expected.shape
    error = ((ours - expected).abs().max() / expected.abs().max().clamp(min=1)).item()
    assert error <= 1e-5


def is_dynamic(model):
    """Their angles then depend on the length of each call."""
    rope = getattr(model.config, "rope_parameters", None) or {}
    return rope.get("rope_type") == "dynamic"


def their_logits(model, ids, mask=None):
    """``mask`` is [B, T], 1 = real. Positions count the real tokens."""
    options = {} if mask is None else {"attention_mask": mask.long()}
    if mask is not None and "position_ids" in inspect.signature(model.forward).parameters:
        options["position_ids"] = positions_of(mask)
    with torch.no_grad():
        return model(ids, use_cache=False, **options).logits


def positions_of(mask):
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


def in_parts(model, ids, sizes, cache, mask=None):
    """Our logits, some tokens at a time; ``mask`` [B, T] is cut to the keys so far."""
    logits, start = [], 0
    for size in sizes:
        end, options = start + size, {}
        if mask is not None:
            options["mask"] = mask[:, None, None, :end]
            options["positions"] = positions_of(mask)[:, start:end]
        logits.append(model(ids[:, start:end], cache=cache, **options))
        start = end
    return torch.cat(logits, dim=1)


@EACH
@torch.no_grad()
def test_logits_are_equal(family, seed, device):
    model = theirs(family, seed)
    ours = from_transformers(model).to(device)
    for B, T in [(2, 13), (1, 1), (3, 24)]:
        ids = tokens(B, T)
        assert_close(ours(ids.to(device)).cpu(), their_logits(model, ids))


HAVE_AN_END = ("gpt2", "opt", "mpt")  # a table; their MPT also cuts its bias to max_seq_len


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in HAVE_AN_END])
@torch.no_grad()
def test_logits_are_equal_beyond_the_trained_length(family):
    for seed in (0, 4):
        model, ids = theirs(family, seed), tokens(1, 41)
        if is_dynamic(model):
            model = type(model)(model.config).eval()  # it keeps the longest length it has seen
        assert_close(from_transformers(model)(ids), their_logits(model, ids))


@EACH
@torch.no_grad()
def test_cached_logits_are_equal(family, seed):
    model, ids = theirs(family, seed), tokens()
    ours, expected = from_transformers(model), their_logits(model, ids)
    for sizes in ([1] * 13, [5, 1, 7], [1, 12], [12, 1]):
        for cache in caches(ours.config):
            assert_close(in_parts(ours, ids, sizes, cache()), expected)


@EACH
@pytest.mark.parametrize("side", ["left", "right"])
@torch.no_grad()
def test_padded_logits_are_equal(family, seed, side):
    model, ids = theirs(family, seed), tokens(3)
    real = masks.padding([13, 6, 1], 13, side)[:, 0, 0]
    ids = ids.where(real, 0)
    ours, expected = from_transformers(model), their_logits(model, ids, real)
    whole = ours(ids, mask=real[:, None, None], positions=positions_of(real))
    assert_close(whole[real], expected[real])
    for cache in caches(ours.config):
        assert_close(in_parts(ours, ids, [5, 1, 7], cache(), real)[real], expected[real])


def test_every_kind_of_rotation_is_among_the_cases():
    kinds = {config_of("llama", seed).rope_parameters["rope_type"] for seed in SEEDS}
    assert kinds == {rope["rope_type"] for rope in ROPES}
