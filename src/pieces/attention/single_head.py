"""One set of projections around the equation, with any score."""

from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.attention.function import Mask, Score
from pieces.checks import default_int, require_int, require_sequence


class SingleHeadAttention(nn.Module):
    """Attention with one set of projections and any score; self, or cross with ``context=``.

    Q = X W_Q,  K = C W_K,  V = C W_V,  where C is the context, or X itself

    Source: source text (5.2) to (5.5). Sizes left out: head_dim and d_context are d_model,
    value_dim is head_dim. Raises: TypeError, ValueError if a size is not an int of at least 1.
    """

    def __init__(
        self,
        d_model: int,
        head_dim: int | None = None,
        *,
        d_context: int | None = None,
        value_dim: int | None = None,
        score: Score | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        require_int("d_model", d_model)
        head_dim = default_int("head_dim", head_dim, d_model)
        d_context = default_int("d_context", d_context, d_model)
        value_dim = default_int("value_dim", value_dim, head_dim)
        self.query = nn.Linear(d_model, head_dim, bias=bias)
        self.key = nn.Linear(d_context, head_dim, bias=bias)
        self.value = nn.Linear(d_context, value_dim, bias=bias)
        self.core = AttentionCore(score)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Float[Tensor, "B S C"] | None = None,
        mask: Mask = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T Kv"] | tuple[Float[Tensor, "B T Kv"], Float[Tensor, "B T S"]]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, value_dim], weights [B, T, S].

        The mask has its head axis as everywhere: [T, S], or 4-D with 1 head.
        Raises: TypeError, ValueError as ``attention``, and if x or context do not fit.
        """
        context = x if context is None else context
        require_sequence("x", x, self.query.in_features)
        require_sequence("context", context, self.key.in_features)
        q, k, v = self.query(x), self.key(context), self.value(context)
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
        output, weights = self.core(q, k, v, mask=mask, return_weights=return_weights)
        return (output.squeeze(1), weights.squeeze(1)) if return_weights else output.squeeze(1)
