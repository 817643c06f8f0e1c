"""Normalisation: give each vector a fixed size again, so that depth neither grows nor shrinks it.

LayerNorm and RMSNorm look at one token's D features, and at nothing else. BatchNorm looks at one
feature over all tokens of the batch, so a token's result depends on its neighbours.
``LayerNorm`` and ``RMSNorm`` run torch's fused kernels; ``layer_norm`` and ``rms_norm`` say what
these compute.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import NotNegative, Positive, Probability, Size, checked, refuse
from pieces.precision import in_float32

WIDE = (torch.float32, torch.float64)  # what needs no wider numbers to work in


@checked
def layer_norm(x: Float[Tensor, "*batch D"], eps: NotNegative = 1e-5) -> Float[Tensor, "*batch D"]:
    """Mean 0 and variance 1 over the features of each token; the shape of the histogram stays.

    LN(x) = (x - μ) / sqrt(σ² + eps),  μ = mean of x_i,  σ² = mean of (x_i - μ)²

    Source: Ba et al. 2016, 3, eq. (3); source text (5.12), (5.13). Shapes: x [..., D] -> [..., D].
    """
    wide = in_float32(x)
    centred = wide - wide.mean(dim=-1, keepdim=True)
    return (centred * torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + eps)).to(x.dtype)


@checked
def rms(x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch 1"]:
    """The root of the mean of the squares: the typical size of a feature, its mean included.

    RMS(x) = sqrt(mean of x_i²), the length of x divided by sqrt(D)

    Where x is 0, so is the gradient here: the root itself has none there.
    Source: Zhang and Sennrich 2019, eq. (4); source text (5.15). Shapes: x [..., D] -> [..., 1].
    """
    length = torch.linalg.vector_norm(in_float32(x), dim=-1, keepdim=True)
    return (length / math.sqrt(max(1, x.shape[-1]))).to(x.dtype)


@checked
def rms_norm(x: Float[Tensor, "*batch D"], eps: NotNegative = 1e-6) -> Float[Tensor, "*batch D"]:
    """Root mean square 1 over the features of each token; the mean is not taken away.

    RN(x) = x / sqrt(mean of x_i² + eps),  the mean being RMS(x)²

    Source: Zhang and Sennrich 2019, eq. (4); source text (5.14). Shapes: x [..., D] -> [..., D].
    """
    wide = in_float32(x)
    return (wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)).to(x.dtype)


@checked
class LayerNorm(nn.Module):
    """``layer_norm`` with a trained gain and, unless ``bias=False``, a trained shift.

    y = γ LN(x) + β

    Source: Ba et al. 2016, 3; source text (5.12). Shapes: γ, β [D], called weight and bias.
    """

    def __init__(self, d_model: Size, *, eps: Positive = 1e-5, bias: bool = True) -> None:
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"{self.weight.shape[0]}, eps={self.eps}, bias={self.bias is not None}"


@checked
class RMSNorm(nn.Module):
    """``rms_norm`` with a trained gain: cheaper than LayerNorm, and without its shift.

    y = γ RN(x)

    Computed in float32 and cast back before the gain, as in LLaMA: squares overflow float16.
    Source: Zhang and Sennrich 2019, eq. (4); source text (5.14). Shapes: γ [D], called weight.
    """

    def __init__(self, d_model: Size, *, eps: Positive = 1e-6) -> None:
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        if x.dtype == self.weight.dtype and x.dtype in WIDE:
            return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
        return self.weight * self._normalised(x).to(x.dtype)

    def _normalised(self, x: Tensor) -> Tensor:
        """``rms_norm``, in float32 at least."""
        return F.rms_norm(in_float32(x), self.weight.shape, eps=self.eps)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"{self.weight.shape[0]}, eps={self.eps}"


@checked
class GemmaRMSNorm(RMSNorm):
    """RMSNorm whose weight is the gain's distance from 1, so that weight decay pulls it to 1.

    y = (1 + w) RN(x)

    The gain is applied in float32, before the cast. w starts at 0.
    Source: Gemma's published code (Gemma Team 2024). Shapes and errors: as ``RMSNorm``.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps=eps)
        nn.init.zeros_(self.weight)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        normalised = self._normalised(x)
        return ((1 + self.weight.to(normalised.dtype)) * normalised).to(x.dtype)


@checked
class BatchNorm(nn.Module):
    """For comparison: each feature over all tokens of the batch, padding among them.

    y = γ (x - μ) / sqrt(σ² + eps) + β,  μ and σ² of one feature over batch and positions

    In training μ and σ² are the batch's, and the running ones move a step of ``momentum`` towards
    them (σ² with n - 1 in place of n). In evaluation the running ones are used.

    Source: Ioffe and Szegedy 2015, Alg. 1 and 2. Shapes: weight, bias, running_mean, running_var
    [D].
    """

    def __init__(self, d_model: Size, *, eps: Positive = 1e-5, momentum: Probability = 0.1) -> None:
        super().__init__()
        self.d_model = d_model
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("running_mean", torch.zeros(d_model))
        self.register_buffer("running_var", torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        wide = in_float32(x)
        mean, variance = self.of_batch(wide) if self.training else self.of_before()
        y = self.weight * (wide - mean) / torch.sqrt(variance + self.eps) + self.bias
        return y.to(x.dtype)

    def of_batch(self, x: Float[Tensor, "*batch D"]) -> tuple[Tensor, Tensor]:
        """μ and σ² [D] over all tokens of the batch; the running ones move towards them."""
        tokens = _several_tokens(x)
        mean, variance = tokens.mean(dim=0), tokens.var(dim=0, correction=0)
        with torch.no_grad():
            n = len(tokens)
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
            unbiased = variance * n / (n - 1)
            self.running_var.lerp_(unbiased.to(self.running_var.dtype), self.momentum)
        return mean, variance

    def of_before(self) -> tuple[Tensor, Tensor]:
        """The running μ and σ² [D]."""
        return self.running_mean, self.running_var

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"{self.weight.shape[0]}, eps={self.eps}, momentum={self.momentum}"


def _several_tokens(x: Tensor) -> Tensor:
    """The tokens of all texts in one table [n, D]."""
    rows = x.reshape(-1, x.shape[-1])
    if rows.shape[0] < 2:
        refuse("x.shape", tuple(x.shape), "one token has no variance", "pass more, or eval()")
    return rows
