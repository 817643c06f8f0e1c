"""Residual connections: a sublayer adds to its input, and a norm stands before, after, or around.

Each is called as ``residual(x, sublayer)``, where the sublayer is any function or module that
gives back a tensor of the same shape; further options go to it: ``residual(x, attend, mask=m)``.
What tells them apart is a sublayer that returns 0: PreNorm and SandwichNorm then return x,
PostNorm and DeepNorm a normalised x.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn

from pieces.checks import Natural, Positive, checked, refuse, require
from pieces.types import Features

Sublayer = Callable[..., Tensor]
SCALED = ("value", "output", "gate", "up", "down")  # DeepNorm starts these small


@checked
def branch(x: Features, sublayer: Sublayer, options: dict[str, Any]) -> Features:
    """What the sublayer makes of x, to be added to the stream: one tensor of the same shape.

    Another shape is refused, as torch might stretch it in silence.
    """
    y = sublayer(x, **options)
    if not isinstance(y, Tensor):
        remedy = "leave return_weights out; use trace.record"
        refuse("sublayer(x)", type(y).__name__, "must return one tensor", remedy, TypeError)
    if y.shape != x.shape:
        rule = f"must be the shape of x, {tuple(x.shape)}"
        refuse("sublayer(x).shape", tuple(y.shape), rule, "project it back to d_model")
    return y


@checked
class Residual(nn.Module):
    """The bare connection: the sublayer learns the difference from its input.

    y = x + f(x)

    ``dropout`` is a module on f(x), as in all of the family.
    Source: He et al. 2016, eq. (1).
    """

    def __init__(self, dropout: nn.Module | None = None) -> None:
        super().__init__()
        self.dropout = nn.Identity() if dropout is None else dropout

    def forward(self, x: Features, sublayer: Sublayer, **options: Any) -> Features:
        """Shapes: x [..., D] -> [..., D]."""
        return x + self.dropout(branch(x, sublayer, options))


@checked
class PostNorm(Residual):
    """The norm after the addition: the 2017 model.

    y = Norm(x + f(x))

    Source: Vaswani et al. 2017, 3.1; source text (5.17).
    """

    def __init__(self, norm: nn.Module, dropout: nn.Module | None = None) -> None:
        super().__init__(dropout)
        self.norm = norm

    def forward(self, x: Features, sublayer: Sublayer, **options: Any) -> Features:
        """Shapes: x [..., D] -> [..., D]."""
        return self.norm(x + self.dropout(branch(x, sublayer, options)))


@checked
class PreNorm(Residual):
    """The norm before the sublayer: the stream itself is never normalised.

    y = x + f(Norm(x))

    The stream grows with depth, so a stack of these needs one more norm at its end:
    ``Stack(blocks, final_norm)`` in ``pieces.blocks``.
    Source: Xiong et al. 2020, 3, Table 1; source text (5.18).
    """

    def __init__(self, norm: nn.Module, dropout: nn.Module | None = None) -> None:
        super().__init__(dropout)
        self.norm = norm

    def forward(self, x: Features, sublayer: Sublayer, **options: Any) -> Features:
        """Shapes: x [..., D] -> [..., D]."""
        return x + self.dropout(branch(self.norm(x), sublayer, options))


@checked
class SandwichNorm(Residual):
    """A norm on either side of the sublayer, so that what is added has a known size.

    y = x + Norm_out(f(Norm_in(x)))

    As with ``PreNorm`` the stream is not normalised: end the stack with a norm.
    Source: Ding et al. 2021 (CogView), 2.4; source text (5.19).
    """

    def __init__(
        self, norm_in: nn.Module, norm_out: nn.Module, dropout: nn.Module | None = None
    ) -> None:
        super().__init__(dropout)
        self.norm_in, self.norm_out = norm_in, norm_out

    def forward(self, x: Features, sublayer: Sublayer, **options: Any) -> Features:
        """Shapes: x [..., D] -> [..., D]."""
        output = self.norm_out(branch(self.norm_in(x), sublayer, options))
        return x + self.dropout(output)


@checked
class DeepNorm(PostNorm):
    """PostNorm that leans on the stream: for depths up to 1,000 layers.

    y = Norm(α x + f(x))

    α alone is half of it: start the sublayers small with ``deepnorm_init_``. Both numbers come
    from ``deepnorm_alpha_beta``. α = 1 is PostNorm.
    Source: Wang et al. 2022 (DeepNet), 2; source text (5.16), where α is lost.
    """

    def __init__(self, norm: nn.Module, alpha: Positive, dropout: nn.Module | None = None) -> None:
        super().__init__(norm, dropout)
        self.alpha = alpha

    def forward(self, x: Features, sublayer: Sublayer, **options: Any) -> Features:
        """Shapes: x [..., D] -> [..., D]."""
        added = self.dropout(branch(x, sublayer, options))
        return self.norm(self.alpha * x + added)

    def extra_repr(self) -> str:
        """The scale, for ``print(model)``."""
        return f"alpha={self.alpha:.4g}"


class AlphaBeta(NamedTuple):
    """The two numbers of DeepNorm: the stream's scale, and the gain of the first weights."""

    alpha: float
    beta: float


@checked
def deepnorm_alpha_beta(
    n_encoder_layers: Natural, n_decoder_layers: Natural
) -> tuple[AlphaBeta | None, AlphaBeta | None]:
    """DeepNorm's numbers for the encoder and for the decoder; None for the part with 0 layers.

    one part of N layers:   α = (2 N)^(1/4),              β = (8 N)^(-1/4)
    encoder N, decoder M:   α = 0.81 (N⁴ M)^(1/16),       β = 0.87 (N⁴ M)^(-1/16)
    its decoder:            α = (3 M)^(1/4),              β = (12 M)^(-1/4)

    Source: Wang et al. 2022 (DeepNet), Figure 2.
    """
    N, M = n_encoder_layers, n_decoder_layers
    names, remedy = "n_encoder_layers, n_decoder_layers", "pass the depth of one part, or both"
    require(N + M > 0, names, (N, M), "one part must have layers", remedy)
    if N and M:
        both = (N**4 * M) ** (1 / 16)
        return AlphaBeta(0.81 * both, 0.87 / both), AlphaBeta((3 * M) ** 0.25, (12 * M) ** -0.25)
    alone = AlphaBeta((2 * (N + M)) ** 0.25, (8 * (N + M)) ** -0.25)
    return (alone, None) if N else (None, alone)


@checked
def deepnorm_init_(module: nn.Module, beta: Positive) -> None:
    """Start all sublayers inside ``module`` as DeepNorm wants them, in place.

    W ~ N(0, gain² 2 / (fan_in + fan_out)), with gain β for feed-forward, value and output
    projections, 1 for query and key projections; biases 0

    The ``nn.Linear`` layers are told apart by their names in this package; weights stacked in
    ``moe.GatedExperts`` are left as they are.
    Source: Wang et al. 2022 (DeepNet), Figure 2.
    """
    gains = {"query": 1.0, "key": 1.0} | dict.fromkeys(SCALED, beta)
    found = 0
    for name, layer in module.named_modules():
        gain = gains.get(name.rpartition(".")[2])
        if gain is None or not isinstance(layer, nn.Linear):
            continue
        nn.init.xavier_normal_(layer.weight, gain=gain)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
        found += 1
    rule = f"must contain nn.Linear layers named {', '.join(gains)}"
    require(found > 0, "module", type(module).__name__, rule, "pass a whole block")
