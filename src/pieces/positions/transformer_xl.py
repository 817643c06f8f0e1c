"""Scores that know the distance: content and position of a key meet the query apart."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked, divided, require
from pieces.positions.encoding import PositionalEncoding
from pieces.positions.sinusoidal import Sinusoidal
from pieces.types import Positions


@checked
def relative_shift(by_distance: Float[Tensor, "*batch T distances"], S: Size) -> Tensor:
    """From columns by distance to columns by key: row i moves left by T - 1 - i.

    shifted[i, j] = by_distance[i, T - 1 - i + j]

    Column c of the input is the distance i - j = S - 1 - c. In memory the next row starts T + S
    numbers later; read on with rows one shorter, and each row has moved by one: no gather.

    Source: Dai et al. 2019 (Transformer-XL), appendix B.
    Shapes: by_distance [..., T, T + S] -> [..., T, S].
    """
    T, width = by_distance.shape[-2:]
    return by_distance.flatten(-2)[..., T - 1 : -1].unflatten(-1, (T, width - 1))[..., :S]


@checked
class TransformerXLRelative(PositionalEncoding):
    """Three terms beside q · k: position for this query, content for all, position for all.

    score[i, j] = (q_i · k_j  +  q_i · W_R r_(i-j)  +  u · k_j  +  v · W_R r_(i-j)) / sqrt(K)

    The first term is the attention's own; ``bias`` gives the other three, which need q and k, so
    it cannot be shared between layers as other biases can. r is the sinusoidal code of the
    distance. Only distances count: ``positions`` must have no gaps between tokens that see each
    other. Memory is T (T + S) numbers a head, as the scores themselves, not T S vectors.

    Source: Dai et al. 2019 (Transformer-XL), 3.3; source text, Transformer-XL score.
    Shapes: u, v [n_heads, head_dim]; W_R is relative [n_heads head_dim, d_model].
    """

    def __init__(self, d_model: Size, n_heads: Size, head_dim: Size | None = None) -> None:
        super().__init__()
        head_dim = head_dim or divided(d_model=d_model, n_heads=n_heads)
        self.d_model, self.n_heads, self.head_dim = d_model, n_heads, head_dim
        self.code = Sinusoidal(d_model)
        self.relative = nn.Linear(d_model, n_heads * head_dim, bias=False)
        self.u = nn.Parameter(torch.empty(n_heads, head_dim))
        self.v = nn.Parameter(torch.empty(n_heads, head_dim))
        nn.init.normal_(self.u, std=0.02)
        nn.init.normal_(self.v, std=0.02)

    def forward(self, T: int, S: int) -> Float[Tensor, "H distances K"]:
        """W_R r for the distances S - 1 down to -T: what T queries meet at the end of S keys."""
        require(T <= S, "T", T, f"must be at most S = {S}", "pass all keys")
        distances = torch.arange(S - 1, -T - 1, -1, device=self.u.device)
        code = self.code(distances, self.u.dtype)
        return self.relative(code).unflatten(-1, self.u.shape).transpose(0, 1)

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Positions]:
        """The positions: the bias needs each layer's own queries and keys."""
        return {"positions": positions}

    def bias(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"], positions: Positions
    ) -> Float[Tensor, "B H T S"]:
        """The three terms. Shapes: q [B, H, T, K], k [B, G, S, K] -> [B, H, T, S]."""
        T, S = q.shape[2], k.shape[2]
        groups = self.u.unflatten(0, (k.shape[1], -1))
        content = torch.einsum("gnk,bgsk->bgns", groups, k).flatten(1, 2).unsqueeze(2)
        by_distance = (q + self.v[:, None]) @ self(T, S).transpose(1, 2)
        return (content + relative_shift(by_distance, S)) / math.sqrt(q.shape[-1])
