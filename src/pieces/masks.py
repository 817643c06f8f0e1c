"""Who may attend to whom: bool masks, True = may attend, composed with ``&``.

Row i is a query, column j a key. ``T`` queries stand at the end of ``S >= T`` keys: the last query
sees the last key, and the ``S - T`` keys before the first query are a cache of older ones.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.checks import Natural, Size, checked, require, require_whole
from pieces.types import Device


@checked
def lag(T: Size, S: Size | None = None, *, device: Device = None) -> Int[Tensor, "{T} S"]:
    """How many steps key j lies behind query i: 0 is the query's own key, below 0 is the future.

    lag[i, j] = (S - T + i) - j
    Shapes: T queries, S keys (default T) -> [T, S], in positions.
    """
    query, key = places(T, S, device=device)
    return query - key


def places(T: Size, S: Size | None = None, *, device: Device = None) -> tuple[Tensor, Tensor]:
    """Where T queries and S keys stand, [T, 1] and [S]: the queries are the last of the keys."""
    S = T if S is None else S
    require(S >= T, "S", S, "the T queries are the last of the S keys", "pass S >= T, or no S")
    key = torch.arange(S, device=device)
    return key[S - T :, None], key


@checked
def full(T: Size, S: Size | None = None, *, device: Device = None) -> Bool[Tensor, "{T} S"]:
    """Every query sees every key.

    mask[i, j] = True

    Source: Vaswani et al. 2017, 3.2.3 (encoder). Shapes: T queries, any S keys -> [T, S].
    """
    return torch.ones(T, T if S is None else S, dtype=torch.bool, device=device)


@checked
def causal(T: Size, S: Size | None = None, *, device: Device = None) -> Bool[Tensor, "{T} S"]:
    """A query sees its own key and all earlier ones.

    mask[i, j] = (j <= i)

    Source: Vaswani et al. 2017, 3.2.3 (decoder). Shapes: T queries, S >= T keys -> [T, S].
    """
    query, key = places(T, S, device=device)
    return key <= query


@checked
def sliding_window(
    T: Size, window: Size, S: Size | None = None, *, device: Device = None
) -> Bool[Tensor, "{T} S"]:
    """A query sees the last ``window`` keys, its own among them.

    mask[i, j] = (i - window < j <= i)

    Source: Child et al. 2019 (Sparse Transformer), the first head of their strided attention;
    Jiang et al. 2023 (Mistral), 2. That of Beltagy et al. 2020 (Longformer), 3.1, is two-sided.
    A bool mask hides scores that were computed: it saves no work by itself.
    Shapes: T queries, S >= T keys -> [T, S]; ``window`` in keys.
    """
    query, key = places(T, S, device=device)
    return (key <= query).logical_and_(key > query - window)


@checked
def dilated(
    T: Size, window: Size, dilation: Size, S: Size | None = None, *, device: Device = None
) -> Bool[Tensor, "{T} S"]:
    """A query sees ``window`` keys of its past, every ``dilation``-th, its own the first of them.

    mask[i, j] = (j = i - n dilation, 0 <= n < window)

    Source: Child et al. 2019 (Sparse Transformer), the second head of their strided attention, for
    every ``dilation``-th key of the past; Beltagy et al. 2020 (Longformer), 3.1, for a dilated
    window, two-sided there. Shapes: T queries, S >= T keys -> [T, S].
    """
    query, key = places(T, S, device=device)
    on_the_grid = query % dilation == key % dilation
    return on_the_grid.logical_and_(sliding_window(T, window * dilation, S, device=device))


@checked
def global_window(
    T: Size, window: Size, n_global: Natural, S: Size | None = None, *, device: Device = None
) -> Bool[Tensor, "{T} S"]:
    """A sliding window, and the first ``n_global`` keys stay visible to every later query.

    mask[i, j] = (i - window < j <= i) or (j < n_global and j <= i)

    Source: the causal half of Beltagy et al. 2020 (Longformer), 3.1, and Zaheer et al. 2020
    (BigBird), 2, whose windows are two-sided and whose global tokens also see everything.
    Shapes: T queries, S >= T keys -> [T, S].
    """
    query, key = places(T, S, device=device)
    near_or_first = (key > query - window).logical_or_(key < n_global)
    return near_or_first.logical_and_(key <= query)


@checked
def prefix(
    T: Size, prefix_len: Natural, S: Size | None = None, *, device: Device = None
) -> Bool[Tensor, "{T} S"]:
    """The first ``prefix_len`` keys are visible to all, the rest causally.

    mask[i, j] = (j <= i) or (j < prefix_len)

    Source: Raffel et al. 2020 (T5), 3.2.1. Shapes: T queries, S >= T keys -> [T, S].
    """
    query, key = places(T, S, device=device)
    return (key <= query).logical_or_(key < prefix_len)


@checked
def padding(
    lengths: Int[Tensor, "B"] | Sequence[int],
    S: Size,
    side: Literal["left", "right"] = "right",
    *,
    device: Device = None,
) -> Bool[Tensor, "B 1 1 {S}"]:
    """Real tokens are visible, padding is not: ``lengths[b]`` of the S keys of sequence b are real.

    mask[b, 0, 0, j] = (j < lengths[b]) if padded on the right, (j >= S - lengths[b]) on the left

    Shapes: lengths [B] in tokens -> [B, 1, 1, S], the same for every head and query.
    A length above S is taken as S, one below 0 as 0: numbers inside tensors are never inspected.
    """
    lengths = torch.as_tensor(lengths, device=device)
    require_whole("lengths", lengths)
    require(lengths.ndim == 1, "lengths.shape", tuple(lengths.shape), "must be [B]", "flatten it")
    key = torch.arange(S, device=lengths.device)
    from_real_end = key if side == "right" else S - 1 - key
    return (from_real_end < lengths[:, None])[:, None, None, :]


@checked
def torch_mha(mask: Bool[Tensor, "*axes"]) -> Bool[Tensor, "*axes"]:
    """To and from ``nn.MultiheadAttention``, where True = hidden: the way back is the way there.

    ``attn_mask`` takes a [T, S] mask as it is, ``key_padding_mask`` a padding mask's [:, 0, 0].
    Shapes: any -> the same.
    """
    return ~mask


@checked
def to_additive(
    mask: Bool[Tensor, "*axes"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*axes"]:
    """A mask to be added to the scores: 0 where visible, -inf where hidden.

    Shapes: any -> the same, in ``dtype``.
    """
    require(dtype.is_floating_point, "dtype", dtype, "must hold -inf", "use float32", TypeError)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)


@checked
def from_additive(additive: Float[Tensor, "*axes"]) -> Bool[Tensor, "*axes"]:
    """From a mask that is added to the scores: visible where it is 0.

    Hidden is -inf or, as ``transformers`` writes it, the dtype's smallest number. Anything else
    shifts scores and is no mask. It looks at the numbers, so keep it out of compiled code.
    Shapes: any -> the same. Raises: TypeError if not floating, ValueError for any other number.
    """
    visible = additive == 0
    other = additive[~visible & ~(additive <= torch.finfo(additive.dtype).min)]
    seen, rule = other[:3].tolist(), "must hold only 0 and -inf (or its dtype's smallest number)"
    require(other.numel() == 0, "additive", seen, rule, "pass it as bias= instead")
    return visible


@checked
def reach(mask: Bool[Tensor, "T T"], n_layers: Natural) -> Bool[Tensor, "T T"]:
    """Which inputs can influence which outputs after ``n_layers`` layers with this mask.

    reach = (mask or identity)^n_layers, a boolean matrix power; the identity is the residual
    connection, through which a position always keeps its own past value.
    A causal window w reaches n_layers (w - 1) + 1 tokens, so long as there are so many.
    Source: compare Beltagy et al. 2020 (Longformer), 3.1, for windows on both sides.
    Shapes: mask [T, T] -> [T, T], row = output, column = input.
    """
    influence = torch.eye(mask.shape[0], dtype=torch.float32, device=mask.device)
    one_layer = (mask | influence.bool()).float()
    for _ in range(n_layers):
        influence = (one_layer @ influence > 0).float()
    return influence.bool()
