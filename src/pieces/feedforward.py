"""The feed-forward sublayer: two matrices with a bend between, applied to each token alone.

The gated family has a third matrix: one path is bent and opens or closes the other.
Activations are functions, element by element; any other function or module serves as well.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked

Activation = Callable[[Tensor], Tensor]
AnyShape = Float[Tensor, "..."]


@checked
def relu(x: AnyShape) -> AnyShape:
    """Cut off below 0.

    ReLU(x) = max(x, 0)

    Source: Vaswani et al. 2017, 3.3; source text (5.20). Shapes: any.
    """
    return F.relu(x)


@checked
def sigmoid(x: AnyShape) -> AnyShape:
    """A soft switch from 0 to 1: the gate of the first GLU.

    sigmoid(x) = 1 / (1 + exp(-x))

    Source: Dauphin et al. 2017, 2. Shapes: any.
    """
    return torch.sigmoid(x)


@checked
def swish(x: AnyShape, beta: float = 1.0) -> AnyShape:
    """A number times its own switch. β = 1 is SiLU; a large β nears ReLU; β = 0 is x / 2.

    Swish(x) = x sigmoid(β x)

    Source: Ramachandran et al. 2017; source text (5.21). Shapes: any.
    """
    return F.silu(x) if beta == 1 else x * torch.sigmoid(beta * x)


@checked
def gelu(x: AnyShape) -> AnyShape:
    """A number times the chance that a standard normal one is smaller.

    GELU(x) = x Φ(x) = x (1 + erf(x / sqrt(2))) / 2

    Source: Hendrycks and Gimpel 2016, 2; source text (5.22). Shapes: any.
    """
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


@checked
def gelu_tanh(x: AnyShape) -> AnyShape:
    """GELU as GPT-2 and Gemma compute it, within 0.0005 of the exact one.

    GELU(x) ≈ x (1 + tanh(sqrt(2 / π) (x + 0.044715 x³))) / 2

    Source: Hendrycks and Gimpel 2016, 2. Shapes: any.
    """
    return F.gelu(x, approximate="tanh")


@checked
def identity(x: AnyShape) -> AnyShape:
    """No bend: as a gate it gives the bilinear layer. Source: Shazeer 2020, 2."""
    return x


@checked
def two_thirds(d_ff: Size, multiple_of: Size = 1) -> int:
    """The width at which three matrices have the parameters of two of width ``d_ff``.

    d = 2 d_ff / 3, rounded down, then up to a multiple

    LLaMA 7B: two_thirds(4 * 4096, 256) = 11008.
    Source: Shazeer 2020, 2; Touvron et al. 2023, 2.2.
    """
    return max(1, -(-(2 * d_ff // 3) // multiple_of)) * multiple_of


@checked
class FeedForward(nn.Module):
    """Widen, bend, narrow.

    FFN(x) = σ(x W_U + b_1) W_D + b_2

    ``dropout`` is a module between the bend and W_D. Sizes left out: out_bias is bias.
    Source: Vaswani et al. 2017, 3.3, eq. (2); source text (5.8).
    Shapes: up.weight [d_ff, d_model], down.weight [d_model, d_ff].
    """

    def __init__(
        self,
        d_model: Size,
        d_ff: Size,
        activation: Activation = relu,
        *,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.activation = activation
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias if out_bias is None else out_bias)
        self.dropout = nn.Identity() if dropout is None else dropout

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        return self.down(self.dropout(self.activation(self.up(x))))


@checked
class GatedFeedForward(FeedForward):
    """Widen twice; the one, bent, says how much of the other passes; narrow.

    FFN(x) = (σ(x W_G) ⊙ (x W_U)) W_D

    σ is swish for SwiGLU (5.23), gelu or gelu_tanh for GeGLU (5.24), relu for ReGLU, sigmoid for
    GLU, identity for the bilinear layer. W_D is left out in (5.23) and (5.24), but is needed.
    ``dropout`` is a module before W_D. Sizes left out: out_bias is bias.

    Source: Shazeer 2020, 2, eq. (6); source text (5.23), (5.24).
    Shapes: gate.weight, up.weight [d_ff, d_model], down.weight [d_model, d_ff].
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: Activation = swish,
        *,
        bias: bool = False,
        out_bias: bool | None = None,
        dropout: nn.Module | None = None,
    ) -> None:
        options = {"bias": bias, "out_bias": out_bias, "dropout": dropout}
        super().__init__(d_model, d_ff, activation, **options)
        self.gate = nn.Linear(d_model, d_ff, bias=bias)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        return self.down(self.dropout(self.activation(self.gate(x)) * self.up(x)))
