"""How fast the pairs of a rotary encoding turn, and ways to slow them for longer texts.

A model trained up to ``max_seq_len`` has never seen the angles beyond; all but ``Unscaled`` bring
longer texts back among known angles. Each equals its namesake in transformers to rounding.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import Compared, Number, Positive, Size, check_fields, checked, require

Frequencies = Float[Tensor, "half"]
Base = Number | Float[Tensor, ""]


@checked
class Unscaled:
    """The plain frequencies: pair i turns by θ_i at each step, once in 2π / θ_i steps.

    θ_i = base^(-2i / dim), i = 0 .. dim/2 - 1

    The other classes override one of the two methods: they stretch the base or slow the pairs.
    ``attention_factor`` multiplies queries and keys alike, so the scores by its square.

    Source: Su et al. 2021 (RoFormer), 3.2.2; source text, RoPE frequencies and wavelength.
    """

    attention_factor: Number | None = 1.0

    def __post_init__(self) -> None:
        """Check the numbers of those that have some."""
        check_fields(self)

    def __call__(
        self,
        dim: int,
        base: Number,
        positions: Tensor | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Frequencies:
        """Angles a step. ``positions`` give the device and, to ``DynamicNTK``, the text length."""
        device = None if positions is None else positions.device
        stretched = self.stretch(dim, base, positions)
        plain = 1.0 / stretched ** (torch.arange(0, dim, 2, device=device).to(dtype) / dim)
        return self.slow(plain, dim, base)

    def stretch(self, dim: int, base: Number, positions: Tensor | None) -> Base:
        """The base to use in place of ``base``."""
        return base

    def slow(self, plain: Frequencies, dim: int, base: Number) -> Frequencies:
        """The frequencies to use in place of the plain ones."""
        return plain


@dataclass(frozen=True)
class Linear(Unscaled):
    """Position interpolation: every pair turns ``factor`` times slower.

    θ'_i = θ_i / factor

    Source: Chen et al. 2023 (Position Interpolation), 2.3.
    """

    factor: Positive

    def slow(self, plain: Frequencies, dim: int, base: Number) -> Frequencies:
        """All pairs alike."""
        return plain / self.factor


@dataclass(frozen=True)
class NTKAware(Unscaled):
    """A larger base: the fastest pair keeps its speed, the slowest turns ``factor`` times slower.

    base' = base factor^(dim / (dim - 2))

    Source: bloc97 2023; Peng et al. 2023 (YaRN), 3.1.
    """

    factor: Positive

    def stretch(self, dim: int, base: Number, positions: Tensor | None) -> Base:
        """By the whole factor."""
        return base * self.factor ** _exponent(dim)


@dataclass(frozen=True)
class DynamicNTK(Unscaled):
    """NTK-aware by as much as this text needs, nothing up to ``max_seq_len``.

    base' = base (factor L / max_seq_len - (factor - 1))^(dim / (dim - 2)),  L = text length

    L is the longest of the batch, 1 + its largest position, and at least max_seq_len. Keys that
    were cached at a smaller L keep their angles, so decoding step by step is then not the same
    as one pass over the whole text (nor is it in transformers).

    Source: emozilla 2023; Peng et al. 2023 (YaRN), 3.3.
    """

    factor: Positive
    max_seq_len: Size

    def stretch(self, dim: int, base: Number, positions: Tensor | None) -> Base:
        """By the part of the factor that the length asks for; no positions mean a short text."""
        if positions is None or positions.numel() == 0:
            return base
        # torch's default dtype, which an int would take on, may be a coarse one
        length = (positions.long().max() + 1).clamp(min=self.max_seq_len).float()
        needed = self.factor * length / self.max_seq_len - (self.factor - 1)
        return base * needed ** _exponent(dim)


@dataclass(frozen=True)
class YaRN(Unscaled):
    """Fast pairs keep their speed, slow ones are interpolated, those between are mixed.

    θ'_i = (1 - ramp_i) θ_i + ramp_i θ_i / factor

    ramp is 0 for pairs that turn more than ``beta_fast`` times within max_seq_len, 1 for those
    below ``beta_slow``, and linear in i between. attention_factor, if left out, is
    0.1 ln(factor) + 1, or 1 for a factor below 1.

    Source: Peng et al. 2023 (YaRN), 3.2 to 3.4, and its published code, which rounds the ends of
    the ramp to whole i (``truncate``).
    """

    factor: Positive
    max_seq_len: Size
    beta_fast: Positive = 32.0
    beta_slow: Positive = 1.0
    attention_factor: Positive | None = None
    truncate: bool = True

    def __post_init__(self) -> None:
        """Fill in the attention factor."""
        super().__post_init__()
        if self.attention_factor is None:
            factor = 0.1 * math.log(max(self.factor, 1.0)) + 1.0
            object.__setattr__(self, "attention_factor", factor)

    def slow(self, plain: Frequencies, dim: int, base: Number) -> Frequencies:
        """The slow pairs only."""
        low, high = (self._pair(turns, dim, base) for turns in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, dim - 1)
        width = high - low or 0.001  # as published: a step where the ends meet
        i = torch.arange(dim // 2, device=plain.device).to(plain.dtype)
        ramp = ((i - low) / width).clamp(0, 1)
        return plain * (1 - ramp) + plain / self.factor * ramp

    def _pair(self, turns: Number, dim: int, base: Number) -> float:
        """Which i, not rounded, turns so many times within max_seq_len."""
        return dim * math.log(self.max_seq_len / (turns * 2 * math.pi)) / (2 * math.log(base))


@dataclass(frozen=True)
class Llama3(Unscaled):
    """LLaMA 3.1: as YaRN, but the mix is linear in the turns, and nothing is multiplied.

    θ'_i = s θ_i + (1 - s) θ_i / factor
    s = (turns - low) / (high - low), held within 0 .. 1,  turns = max_seq_len θ_i / 2π

    Source: Grattafiori et al. 2024 (Llama 3), and its published code (apply_scaling).
    """

    factor: Positive
    max_seq_len: Size
    low: Positive = 1.0
    high: Annotated[Positive, Compared("above", "low")] = 4.0

    def slow(self, plain: Frequencies, dim: int, base: Number) -> Frequencies:
        """The pairs that turn rarely."""
        turns = self.max_seq_len / (2 * math.pi / plain)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return kept * plain + (1 - kept) * plain / self.factor


def _exponent(dim: int) -> float:
    """The power that makes the slowest of dim / 2 pairs turn ``factor`` times slower."""
    require(dim > 2, "dim", dim, "must be above 2: one pair has no slowest", "use Linear")
    return dim / (dim - 2)
