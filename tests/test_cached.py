"""``CachedAttention`` alone: what does not fit is refused before its cache is written."""

import pytest
import torch

from pieces import masks
from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import CrossBlock
from pieces.cache import GrowingCache, RollingCache
from pieces.feedforward import FeedForward
from pieces.models.bert import BertConfig, bert
from pieces.positions import ALiBi, Rotary
from pieces.residual import Residual

pytestmark = pytest.mark.usefixtures("unchecked")
X = torch.randn(2, 3, 8)


@pytest.mark.parametrize("core", [None, CausalCore(), CausalCore(window=5)])
def test_a_cache_narrower_than_the_core_is_refused(core):
    layer = CachedAttention(8, 2, core=core)
    with pytest.raises(ValueError, match=r"cache = 'window 4': a layer looks back at .*Remedy"):
        layer(X, cache=RollingCache(4)[0])


def test_a_cache_as_wide_as_the_core_and_a_mask_that_is_the_window_are_taken():
    narrow, cache = CachedAttention(8, 2, core=CausalCore(window=4)), RollingCache(4)
    for step in X.split(1, dim=1):
        narrow(step, cache=cache[0])
    free, cache = CachedAttention(8, 2), RollingCache(4)
    free(X, mask=masks.sliding_window(3, 4), cache=cache[0])


WRONG = {
    "keys of the mask": {"mask": torch.ones(1, 9).bool()},
    "batch of the mask": {"mask": torch.ones(3, 1, 1, 6).bool()},
    "heads of the mask": {"mask": torch.ones(2, 3, 1, 6).bool()},
    "queries of the mask": {"mask": torch.ones(2, 6).bool()},
    "a float mask": {"mask": torch.ones(3, 6)},
    "keys of the bias": {"bias": torch.zeros(3, 5)},
    "heads of the bias": {"bias": torch.zeros(1, 5, 3, 6)},
}


@pytest.mark.parametrize("position", [None, Rotary(4), ALiBi(2)])
@pytest.mark.parametrize("name", WRONG)
def test_a_refused_call_leaves_the_cache_as_it_was(name, position):
    layer, cache = CachedAttention(8, 2, position=position, core=CausalCore()), GrowingCache()
    layer(X, cache=cache[0])
    with pytest.raises((TypeError, ValueError), match=next(iter(WRONG[name]))):
        layer(X, cache=cache[0], **WRONG[name])
    assert cache.length() == 3
    whole = layer(torch.cat((X, X), dim=1))[:, 3:]
    torch.testing.assert_close(layer(X, cache=cache[0]), whole)


@pytest.mark.parametrize("position", [Rotary(6), ALiBi(4)])
def test_an_encoding_of_other_sizes_is_refused_when_the_layer_is_built(position):
    with pytest.raises(ValueError, match=r"position\.(head_dim|n_heads) = .*must be"):
        CachedAttention(8, 2, position=position)


def test_a_cross_block_refuses_a_float_mask():
    parts = {f"{n}_residual": Residual() for n in ("attention", "cross", "feed_forward")}
    parts["cross_residual"] = parts.pop("cross_residual")
    own, cross = CachedAttention(8, 2), torch.nn.Identity()
    block = CrossBlock(own, cross, FeedForward(8, 8), **parts)
    for name in ("mask", "context_mask"):
        with pytest.raises(TypeError, match=rf"{name}\.dtype = .*must be bool"):
            block(X, X, **{name: torch.ones(3, 3)})


def test_bert_refuses_what_could_be_padding_or_is_empty():
    model = bert(BertConfig(11, 8, 1, 2, 8, max_seq_len=6))
    ids = torch.zeros(3, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="where B = T, a mask"):
        model(ids, mask=torch.ones(3, 3).bool())
    for empty in (ids[:0], ids[:, :0]):
        with pytest.raises(ValueError, match="at least one text of at least one token"):
            model(empty)
    model(ids, mask=torch.ones(3, 1, 1, 3).bool())
    model(ids[:2], mask=torch.ones(3, 3).bool())
