"""Several heads side by side: project, split, attend, merge, mix."""

from typing import Annotated

from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.checks import DivisorOf, Size, checked, divided
from pieces.types import Bias, Context, Keys, Mask, Queries, Values, Weights


def split_heads(x: Float[Tensor, "B T HK"], head_dim: int) -> Float[Tensor, "B H T {head_dim}"]:
    """Cut the last axis into heads: [B, T, H K] -> [B, H, T, K], a view."""
    return x.unflatten(-1, (-1, head_dim)).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T HK"]:
    """Put the heads side by side again: [B, H, T, K] -> [B, T, H K]."""
    return x.transpose(1, 2).flatten(2)


@checked
class MultiHeadAttention(nn.Module):
    """Several heads side by side, mixed by an output projection; self, or cross with ``context=``.

    MultiHead(X) = Concat(head_1, ..., head_H) W_O,  head_h = Attention(X W_Q^h, C W_K^g, C W_V^g)

    Source: Vaswani et al. 2017, 3.2.2; source text (5.6), (5.7). n_kv_heads < n_heads is grouped
    (Ainslie et al. 2023), 1 is multi-query attention (Shazeer 2019). ``core`` is what stands
    between the projections. With positions or a cache: ``CachedAttention``.
    Sizes left out: n_kv_heads is n_heads, head_dim is d_model / n_heads, d_context is d_model,
    out_bias is bias.
    """

    def __init__(
        self,
        d_model: Size,
        n_heads: Size,
        *,
        n_kv_heads: Annotated[Size, DivisorOf("n_heads")] | None = None,
        head_dim: Size | None = None,
        d_context: Size | None = None,
        bias: bool = False,
        out_bias: bool | None = None,
        core: AttentionCore | None = None,
    ) -> None:
        super().__init__()
        K = head_dim or divided(d_model=d_model, n_heads=n_heads)
        n_kv_heads, d_context = n_kv_heads or n_heads, d_context or d_model
        self.d_model, self.d_context = d_model, d_context
        self.n_heads, self.head_dim = n_heads, K
        self.query = nn.Linear(d_model, n_heads * K, bias=bias)
        self.key = nn.Linear(d_context, n_kv_heads * K, bias=bias)
        self.value = nn.Linear(d_context, n_kv_heads * K, bias=bias)
        self.output = nn.Linear(n_heads * K, d_model, bias=bias if out_bias is None else out_bias)
        self.core = core or AttentionCore()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Context = None,
        mask: Mask = None,
        bias: Bias = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Weights]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, D], weights [B, H, T, S].

        The mask (True = may attend) and the bias (added to the scores) are [T, S], or 4-D with each
        axis as in [B, H, T, S] or 1; padding [B, 1, 1, S] fits, [B, T, S] wants mask[:, None].
        """
        q, k, v = self.project(x, x if context is None else context)
        heads, weights = self.core(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
        output = self.output(merge_heads(heads))
        return (output, weights) if return_weights else output

    def project(
        self, x: Float[Tensor, "B T D"], context: Float[Tensor, "B S C"]
    ) -> tuple[Queries, Keys, Values]:
        """Queries of x, keys and values of the context, cut into heads.

        Shapes: x [B, T, D], context [B, S, d_context] -> [B, H, T, K], twice [B, G, S, K].
        """
        q, k, v = self.query(x), self.key(context), self.value(context)
        K = self.head_dim
        return split_heads(q, K), split_heads(k, K), split_heads(v, K)
