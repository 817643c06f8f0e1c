"""Tokens to vectors, and vectors back to tokens."""

from typing import Annotated

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Compared, Natural, Positive, Size, checked, look_up

OTHER = "tokenize with the vocabulary that the model was built for"


@checked
class TokenEmbedding(nn.Module):
    """One trained vector for each token of the vocabulary.

    x_t = scale E[u_t]

    Rows start as N(0, std²), with std = 1 / sqrt(d_model) if left out. The 2017 model multiplies by
    ``scale=math.sqrt(d_model)``, which gives variance 1 with this start, beside a positional code
    of variance 1/2. With ``nn.Embedding``'s own start (std = 1) the same factor gives a standard
    deviation of sqrt(d_model) and drowns the code.

    The row ``padding_idx`` starts at 0 and gets no gradient from here. Its vector passes through
    the layers like any other: only a mask hides padding. If ``logits`` reads the same table, the
    row is trained there, so it does not stay 0.

    Source: Vaswani et al. 2017, 3.4; source text (5.1). Shapes: weight [vocab_size, d_model].
    """

    def __init__(
        self,
        vocab_size: Size,
        d_model: Size,
        *,
        scale: Positive = 1.0,
        std: Positive | None = None,
        padding_idx: Annotated[Natural, Compared("below", "vocab_size")] | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.vocab_size = d_model, vocab_size
        std = d_model**-0.5 if std is None else std
        self.scale, self.padding_idx = scale, padding_idx
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=std)
        if padding_idx is not None:
            nn.init.zeros_(self.weight[padding_idx])

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors. Shapes: ids [B, T] -> [B, T, D]."""
        x = look_up("ids", ids.long(), self.weight, OTHER, padding_idx=self.padding_idx)
        return x if self.scale == 1.0 else x * self.scale

    def logits(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The tied output head: how well x matches the vector of each token, not scaled.

        logits = x Eᵀ

        Source: Press and Wolf 2017, 2; Vaswani et al. 2017, 3.4; source text (5.11).
        """
        return F.linear(x, self.weight)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        vocab_size, d_model = self.weight.shape
        sizes = f"vocab_size={vocab_size}, d_model={d_model}, scale={self.scale}"
        return f"{sizes}, padding_idx={self.padding_idx}"
