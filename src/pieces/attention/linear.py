"""Linear attention: keys and values are added up in one square, and a query reads from it.

Without a softmax the sum over the keys can be taken before the query comes. What is kept of a text
then has one size, however long the text is.
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces import masks
from pieces.attention.function import share_heads
from pieces.attention.multi_head import merge_heads, split_heads
from pieces.checks import Divides, DivisorOf, DtypeOf, Size, checked, divided
from pieces.precision import in_float32
from pieces.types import Output, Queries

FeatureMap = Callable[[Tensor], Tensor]
OwnKeys = Annotated[Float[Tensor, "B G T K"], Divides("G", "H"), DtypeOf("q")]  # T = S
OwnValues = Annotated[Float[Tensor, "B G T Kv"], DtypeOf("q")]


class Sums(NamedTuple):
    """What linear attention keeps of a text, of one size whatever its length.

    ``pairs`` [B, H, K, Kv] is the sum of all φ(k_j) v_jᵀ, ``keys`` [B, H, K, 1] that of all φ(k_j).
    """

    pairs: Tensor
    keys: Tensor


@checked
def elu_plus_one(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Make every number positive, so that no weight is below 0.

    φ(x) = x + 1 above 0, exp(x) below

    Source: Katharopoulos et al. 2020, 3.2.1, eq. (7). Shapes: any.
    """
    return F.elu(x) + 1


@checked
def linear_attention(
    q: Queries,
    k: OwnKeys,
    v: OwnValues,
    *,
    features: FeatureMap = elu_plus_one,
    state: Sums | None = None,
) -> tuple[Output, Sums]:
    """Causal linear attention, one token after another, and the state to go on from.

    S_t = S_{t-1} + φ(k_t) v_tᵀ,  z_t = z_{t-1} + φ(k_t),  o_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t

    Source: Katharopoulos et al. 2020, 3.4. Time grows with T, the state does not.
    Shapes: q [B, H, T, K]; k [B, G, T, K]; v [B, G, T, Kv], G divides H -> output [B, H, T, Kv].
    ``features`` is φ, any function that gives no number below 0, of any number of features. A query
    that matches no key gets zeros. ``state`` is what an earlier part of the text has left; it is
    float32 at least, for in 16 bits a sum soon stops growing.
    """
    k, v = share_heads(k, q.shape[1]), share_heads(v, q.shape[1])
    q, k, wide = in_float32(features(q)), in_float32(features(k)), in_float32(v)
    pairs, keys = (0.0, 0.0) if state is None else state
    outputs = []
    for q_t, k_t, v_t in zip(*(x.split(1, dim=2) for x in (q, k, wide)), strict=True):
        pairs = pairs + k_t.mT @ v_t
        keys = keys + k_t.mT
        outputs.append(ratio(q_t @ pairs, q_t @ keys))
    return torch.cat(outputs, dim=2).to(v.dtype), Sums(pairs, keys)


@checked
def linear_attention_quadratic(
    q: Queries, k: OwnKeys, v: OwnValues, *, features: FeatureMap = elu_plus_one
) -> tuple[Output, Float[Tensor, "B H T T"]]:
    """The same as a matrix of weights, all tokens at once: how it is trained, and how it is seen.

    a_ij = φ(q_i)ᵀ φ(k_j) / (sum of φ(q_i)ᵀ φ(k_n) over n <= i),  and 0 where j > i

    Source: Katharopoulos et al. 2020, 3.2 and 3.3. Time and memory grow with T².
    Shapes: as ``linear_attention`` -> output [B, H, T, Kv], weights [B, H, T, T].
    """
    k, v = share_heads(k, q.shape[1]), share_heads(v, q.shape[1])
    scores = in_float32(features(q)) @ in_float32(features(k)).mT
    if q.shape[2] > 0:
        scores = scores.masked_fill(~masks.causal(q.shape[2], device=q.device), 0.0)
    weights = ratio(scores, scores.sum(dim=-1, keepdim=True)).to(v.dtype)
    return weights @ v, weights


def ratio(part: Tensor, whole: Tensor) -> Tensor:
    """What each part is of the whole; of nothing, nothing."""
    return part / whole.masked_fill(whole == 0, 1.0)


@checked
class LinearAttention(nn.Module):
    """Several heads of linear attention side by side, causal, mixed by an output projection.

    y = Concat(head_1, ..., head_H) W_O,  head_h = linear_attention(X W_Q^h, X W_K^g, X W_V^g)

    ``forward`` takes the whole text at once, ``recurrent`` goes through it and remembers.
    Source: Katharopoulos et al. 2020, 3.2 to 3.4. Sizes left out: n_kv_heads is n_heads, head_dim
    is d_model / n_heads. Its state is H K (K + 1) numbers for each sequence, with φ as it is.
    """

    def __init__(
        self,
        d_model: Size,
        n_heads: Size,
        *,
        n_kv_heads: Annotated[Size, DivisorOf("n_heads")] | None = None,
        head_dim: Size | None = None,
        bias: bool = False,
        features: FeatureMap = elu_plus_one,
    ) -> None:
        super().__init__()
        K, G = head_dim or divided(d_model=d_model, n_heads=n_heads), n_kv_heads or n_heads
        self.d_model, self.n_heads, self.head_dim = d_model, n_heads, K
        self.features = features
        self.query = nn.Linear(d_model, n_heads * K, bias=bias)
        self.key = nn.Linear(d_model, G * K, bias=bias)
        self.value = nn.Linear(d_model, G * K, bias=bias)
        self.output = nn.Linear(n_heads * K, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Shapes: x [B, T, D] -> [B, T, D]."""
        q, k, v = self.project(x)
        heads, _ = linear_attention_quadratic(q, k, v, features=self.features)
        return self.output(merge_heads(heads))

    def recurrent(
        self, x: Float[Tensor, "B T D"], *, state: Sums | None = None
    ) -> tuple[Float[Tensor, "B T D"], Sums]:
        """The same for the next T tokens, with the state they leave. Shapes: as ``forward``."""
        q, k, v = self.project(x)
        heads, state = linear_attention(q, k, v, features=self.features, state=state)
        return self.output(merge_heads(heads)), state

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [B, H, T, K], keys and values [B, G, T, K]."""
        maps = (self.query, self.key, self.value)
        q, k, v = (split_heads(linear(x), self.head_dim) for linear in maps)
        return q, k, v
