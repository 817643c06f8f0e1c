"""One set of projections around the equation, with any score."""

from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.checks import Size, checked
from pieces.scores import scaled_dot
from pieces.types import Context, Mask, Score


@checked
class SingleHeadAttention(nn.Module):
    """Attention with one set of projections and any score; self, or cross with ``context=``.

    Q = X W_Q,  K = C W_K,  V = C W_V,  where C is the context, or X itself

    Source: source text (5.2) to (5.5). Sizes left out: head_dim and d_context are d_model,
    value_dim is head_dim.
    """

    def __init__(
        self,
        d_model: Size,
        head_dim: Size | None = None,
        *,
        d_context: Size | None = None,
        value_dim: Size | None = None,
        score: Score = scaled_dot,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.head_dim = head_dim or d_model
        self.d_context = d_context or d_model
        self.query = nn.Linear(d_model, self.head_dim, bias=bias)
        self.key = nn.Linear(self.d_context, self.head_dim, bias=bias)
        self.value = nn.Linear(self.d_context, value_dim or self.head_dim, bias=bias)
        self.core = AttentionCore(score)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Context = None,
        mask: Mask = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T Kv"] | tuple[Float[Tensor, "B T Kv"], Float[Tensor, "B T S"]]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, value_dim], weights [B, T, S].

        The mask has its head axis as everywhere: [T, S], or 4-D with 1 head.
        """
        context = x if context is None else context
        q, k, v = self.query(x), self.key(context), self.value(context)
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
        output, weights = self.core(q, k, v, mask=mask, return_weights=return_weights)
        return (output.squeeze(1), weights.squeeze(1)) if return_weights else output.squeeze(1)
