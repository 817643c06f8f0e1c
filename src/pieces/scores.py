"""Score functions s(q, k): how well a query matches a key, before any softmax.

Which score is used is one choice; where queries and keys come from (self or cross) is another.
Leading axes are free: q [..., T, K] against k [..., S, K] gives scores [..., T, S].
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import refuse, require_features, require_float, require_int


def dot(
    q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
) -> Float[Tensor, "*batch T S"]:
    """Dot product.

    s(q, k) = q · k

    Source: Luong et al. 2015, 3.1 ("dot"); source text, list of scores.
    Shapes: q [..., T, K], k [..., S, K] -> [..., T, S]. Its spread grows as sqrt(K).
    Raises: TypeError, ValueError if they do not fit.
    """
    require_float("q", q)
    require_float("k", k)
    if q.shape[-1] != k.shape[-1]:
        rule = f"must have the size of q, {q.shape[-1]}, in its last axis"
        refuse("k.shape", tuple(k.shape), rule, "use AdditiveScore or BilinearScore")
    return q @ k.transpose(-2, -1)


def scaled_dot(
    q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
) -> Float[Tensor, "*batch T S"]:
    """Dot product in units of its own spread: 1 for any K, if q and k have unit variance.

    s(q, k) = q · k / sqrt(K)

    Source: Vaswani et al. 2017, 3.2.1, eq. (1); source text (5.5), where K is written D.
    Shapes: q [..., T, K], k [..., S, K] -> [..., T, S]. Raises: as ``dot``.
    """
    # The queries are divided, not the scores: fewer divisions, and float16 overflows later.
    require_float("q", q)
    return dot(q / math.sqrt(q.shape[-1]), k)


class DotScore(nn.Module):
    """``dot`` as a module, to be passed in where a score is wanted."""

    def forward(
        self, q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
    ) -> Float[Tensor, "*batch T S"]:
        """See ``dot``."""
        return dot(q, k)


class ScaledDotScore(nn.Module):
    """``scaled_dot`` as a module, to be passed in where a score is wanted."""

    def forward(
        self, q: Float[Tensor, "*batch T K"], k: Float[Tensor, "*batch S K"]
    ) -> Float[Tensor, "*batch T S"]:
        """See ``scaled_dot``."""
        return scaled_dot(q, k)


class AdditiveScore(nn.Module):
    """A small network on query and key, which may differ in size.

    s(q, k) = v · tanh(W k + U q)

    Source: Bahdanau et al. 2015, A.1.2; source text, list of scores.
    Shapes: W [hidden_dim, key_dim], U [hidden_dim, query_dim], v [1, hidden_dim].
    Raises: TypeError, ValueError if a size is not an int of at least 1.
    """

    def __init__(self, query_dim: int, key_dim: int, hidden_dim: int) -> None:
        super().__init__()
        require_int("query_dim", query_dim)
        require_int("key_dim", key_dim)
        require_int("hidden_dim", hidden_dim)
        self.W = nn.Linear(key_dim, hidden_dim, bias=False)
        self.U = nn.Linear(query_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(
        self, q: Float[Tensor, "*batch T Kq"], k: Float[Tensor, "*batch S Kk"]
    ) -> Float[Tensor, "*batch T S"]:
        """Shapes: q [..., T, query_dim], k [..., S, key_dim] -> [..., T, S].

        Every pair passes through tanh, so T * S * hidden_dim numbers are held at once.
        Raises: ValueError if the last axis of q or k is not the size the module was built for.
        """
        require_features("q", q, self.U.in_features)
        require_features("k", k, self.W.in_features)
        pairs = self.W(k).unsqueeze(-3) + self.U(q).unsqueeze(-2)
        return self.v(torch.tanh(pairs)).squeeze(-1)


class BilinearScore(nn.Module):
    """A dot product through a learned matrix: query and key may differ in size, and in role.

    s(q, k) = k · W q

    Source: Luong et al. 2015, 3.1 ("general"); source text, list of scores.
    Shapes: W [key_dim, query_dim].
    Raises: TypeError, ValueError if a size is not an int of at least 1.
    """

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        require_int("query_dim", query_dim)
        require_int("key_dim", key_dim)
        self.W = nn.Linear(query_dim, key_dim, bias=False)

    def forward(
        self, q: Float[Tensor, "*batch T Kq"], k: Float[Tensor, "*batch S Kk"]
    ) -> Float[Tensor, "*batch T S"]:
        """Shapes: q [..., T, query_dim], k [..., S, key_dim] -> [..., T, S].

        Raises: ValueError if the last axis of q or k is not the size the module was built for.
        """
        require_features("q", q, self.W.in_features)
        require_features("k", k, self.W.out_features)
        return dot(self.W(q), k)
