"""Linear attention: without the softmax, all that is past fits into one square."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.attention.function import share_heads
from pieces.attention.multi_head import merge_heads, split_heads
from pieces.checks import Divides, DtypeOf, Size, checked, divided, require
from pieces.types import Bias, Keys, Mask, Output, Queries, Stream, Values, Weights

FeatureMap = Callable[[Tensor], Tensor]


@checked
def positive(x: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """Features that are never negative, one for each number: elu(x) + 1.

    φ(x) = x + 1 where x > 0, exp(x) elsewhere

    Source: Katharopoulos et al. 2020, eq. (7).
    """
    return x.clamp(min=0) + x.clamp(max=0).exp()


class LinearState(NamedTuple):
    """All that linear attention keeps of the past, whatever its length.

    ``pairs`` [B, H, K, Kv] is the sum of φ(k) vᵀ, ``total`` [B, H, K] that of φ(k).
    """

    pairs: Tensor
    total: Tensor

    def add(self, k: Tensor, v: Tensor) -> "LinearState":
        """Add tokens: k [B, H, T, K], whose features are taken already, and v [B, H, T, Kv]."""
        return LinearState(self.pairs + k.mT @ v, self.total + k.sum(dim=2))


@checked
def linear_attention(
    q: Queries,
    k: Annotated[Float[Tensor, "B G S K"], Divides("G", "H"), DtypeOf("q")],
    v: Values,
    *,
    features: FeatureMap = positive,
    chunk: Size = 64,
    state: LinearState | None = None,
) -> tuple[Output, LinearState]:
    """Causal attention whose weights are products of features, in one pass over the text.

    y_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t,  S_t = S_{t-1} + φ(k_t) v_tᵀ,  z_t = z_{t-1} + φ(k_t)

    ``chunk`` tokens at a time: with 1 it is this recurrence, with all of them the quadratic form,
    ``linear_weights`` times the values. What comes out is the same.
    Source: Katharopoulos et al. 2020, 3.3 and 3.4; in chunks Hua et al. 2022, 3.
    Shapes: q [B, H, T, K], k [B, G, S, K], v [B, G, S, Kv] -> [B, H, T, Kv], and the state after
    it. The queries are those of the last T keys. ``state`` is what an earlier call returned.
    """
    q, k, v = features(q), features(share_heads(k, q.shape[1])), share_heads(v, q.shape[1])
    earlier = _earlier(q, k)
    now = state or LinearState(torch.zeros_like(k[:, :, :1].mT @ v[:, :, :1]), k[:, :, 0] * 0)
    now = now.add(k[:, :, :earlier], v[:, :, :earlier])
    outputs = []
    parts = (x.split(chunk, dim=2) for x in (q, k[:, :, earlier:], v[:, :, earlier:]))
    for Q, K, V in zip(*parts, strict=True):
        inside = (Q @ K.mT).tril()
        above = Q @ now.pairs + inside @ V
        below = Q @ now.total.unsqueeze(-1) + inside.sum(dim=-1, keepdim=True)
        outputs.append(above / below)
        now = now.add(K, V)
    return torch.cat(outputs, dim=2), now


@checked
def linear_weights(q: Queries, k: Keys, *, features: FeatureMap = positive) -> Weights:
    """The weights that linear attention never writes out: row by row, they sum to 1.

    weights[t, s] = φ(q_t) · φ(k_s) / (sum of φ(q_t) · φ(k_n) over n <= t), and 0 for s > t

    Source: Katharopoulos et al. 2020, eq. (4) and (8).
    Shapes: q [B, H, T, K], k [B, G, S, K] -> [B, H, T, S]; the queries are those of the last T.
    """
    q, k = features(q), features(share_heads(k, q.shape[1]))
    products = (q @ k.mT).tril(_earlier(q, k))
    return products / products.sum(dim=-1, keepdim=True)


def _earlier(q: Tensor, k: Tensor) -> int:
    """How many keys stand before the first query."""
    T, S = q.shape[2], k.shape[2]
    rule = "must be keys of at least as many tokens as q"
    require(T <= S, "k", f"{S} tokens beside {T} queries", rule, "pass the keys of all tokens")
    return S - T


@checked(always=("mask", "bias"))
class LinearCore(AttentionCore):
    """Linear attention between the projections of any attention layer; it is always causal.

    Source and shapes: as ``linear_attention``. A state cannot forget a single token, so there is
    no mask and no bias: padding stands at the end, where it disturbs nobody.
    """

    def __init__(self, features: FeatureMap = positive, chunk: Size = 64) -> None:
        super().__init__()
        self.features, self.chunk = features, chunk

    def forward(
        self,
        q: Queries,
        k: Keys,
        v: Values,
        *,
        mask: Mask = None,
        bias: Bias = None,
        return_weights: bool = False,
    ) -> tuple[Output, Weights | None]:
        """Return (output, weights), or (output, None). Shapes: as ``linear_attention``."""
        for name, given in (("mask", mask), ("bias", bias)):
            rule = "must be None: linear attention has no scores that it could change"
            shape = () if given is None else tuple(given.shape)
            require(given is None, name, shape, rule, "put padding at the end, or use CausalCore")
        output, _ = linear_attention(q, k, v, features=self.features, chunk=self.chunk)
        weights = linear_weights(q, k, features=self.features) if return_weights else None
        return output, weights


@checked
class LinearAttention(nn.Module):
    """Multi-head linear attention that carries its state from call to call.

    MultiHead(X) = Concat(head_1, ..., head_H) W_O,  head_h = linear_attention of X's projections

    Source: Katharopoulos et al. 2020, 3.4. With grouped heads, or in a block: any attention layer
    with ``core=LinearCore()``.
    """

    def __init__(
        self, d_model: Size, n_heads: Size, *, features: FeatureMap = positive, chunk: Size = 64
    ) -> None:
        super().__init__()
        self.head_dim = divided(d_model=d_model, n_heads=n_heads)
        self.features, self.chunk = features, chunk
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, x: Stream, *, state: LinearState | None = None) -> tuple[Stream, LinearState]:
        """Shapes: x [B, T, D], the next T tokens -> [B, T, D], and the state after them."""
        q, k, v = (
            split_heads(project(x), self.head_dim) for project in (self.query, self.key, self.value)
        )
        options = {"features": self.features, "chunk": self.chunk, "state": state}
        heads, state = linear_attention(q, k, v, **options)
        return self.output(merge_heads(heads)), state
