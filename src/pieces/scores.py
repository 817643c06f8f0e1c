"""Score functions s(q, k): how well a query matches a key, before any softmax.

Which score is used is one choice; where queries and keys come from (self or cross) is another.
Leading axes are free: q [..., T, K] against k [..., S, K] gives scores [..., T, S].
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked
from pieces.precision import in_float32


@checked
def dot(
    q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
) -> Float[Tensor, "*batch T S"]:
    """Dot product.

    s(q, k) = q · k

    Source: Luong et al. 2015, 3.1 ("dot"); source text, list of scores.
    Shapes: q [..., T, K], k [..., S, K] -> [..., T, S]. Its spread grows as sqrt(K).
    Half precision is multiplied in float32, as in the kernels: float16 ends at 65,504.
    """
    return in_float32(q) @ in_float32(k).mT


@checked
def scaled_dot(
    q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
) -> Float[Tensor, "*batch T S"]:
    """Dot product in units of its own spread: 1 for any K, if q and k have unit variance.

    s(q, k) = q · k / sqrt(K)

    Source: Vaswani et al. 2017, 3.2.1, eq. (1); source text (5.5), where K is written D.
    Shapes: q [..., T, K], k [..., S, K] -> [..., T, S].
    """
    K = q.shape[-1]
    return dot(q, k) / math.sqrt(K)


@checked
class AdditiveScore(nn.Module):
    """A small network on query and key, which may differ in size.

    s(q, k) = v · tanh(W k + U q)

    Source: Bahdanau et al. 2015, A.1.2; source text, list of scores.
    Shapes: W [hidden_dim, key_dim], U [hidden_dim, query_dim], v [1, hidden_dim].
    """

    def __init__(self, query_dim: Size, key_dim: Size, hidden_dim: Size) -> None:
        super().__init__()
        self.query_dim, self.key_dim = query_dim, key_dim
        self.W = nn.Linear(key_dim, hidden_dim, bias=False)
        self.U = nn.Linear(query_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(
        self, q: Float[Tensor, "*batch T Kq"], k: Float[Tensor, "*batch S Kk"]
    ) -> Float[Tensor, "*batch T S"]:
        """Shapes: q [..., T, query_dim], k [..., S, key_dim] -> [..., T, S].

        Every pair passes through tanh, so T * S * hidden_dim numbers are held at once.
        """
        pairs = self.W(k).unsqueeze(-3) + self.U(q).unsqueeze(-2)
        return self.v(torch.tanh(pairs)).squeeze(-1)


@checked
class BilinearScore(nn.Module):
    """A dot product through a learned matrix: query and key may differ in size, and in role.

    s(q, k) = k · W q

    Source: Luong et al. 2015, 3.1 ("general"); source text, list of scores.
    Shapes: W [key_dim, query_dim].
    """

    def __init__(self, query_dim: Size, key_dim: Size) -> None:
        super().__init__()
        self.query_dim, self.key_dim = query_dim, key_dim
        self.W = nn.Linear(query_dim, key_dim, bias=False)

    def forward(
        self, q: Float[Tensor, "*batch T Kq"], k: Float[Tensor, "*batch S Kk"]
    ) -> Float[Tensor, "*batch T S"]:
        """Shapes: q [..., T, query_dim], k [..., S, key_dim] -> [..., T, S]."""
        return dot(self.W(q), k)
