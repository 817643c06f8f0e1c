"""State spaces: a memory of fixed size that decays, and chooses by the token what to keep.

    scan, parallel_scan     one recurrence, token by token and in log T rounds
    SelectiveStateSpace     the layer around it (Mamba), with a state to go on from

Axes: B batch, T tokens, D d_model, I inner features, N numbers of state for each of them.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked
from pieces.types import Stream


@checked
def scan(
    decay: Float[Tensor, "B T *N"],
    inputs: Float[Tensor, "B T *N"],
    start: Float[Tensor, "B *N"] | None = None,
) -> Float[Tensor, "B T *N"]:
    """A linear recurrence, token by token.

    h_t = a_t h_{t-1} + b_t, with h_0 = ``start``, or 0

    Shapes: decay a and inputs b [B, T, ...] -> all states h [B, T, ...].
    """
    state = torch.zeros_like(inputs[:, 0]) if start is None else start
    states = []
    for a, b in zip(decay.unbind(dim=1), inputs.unbind(dim=1), strict=True):
        state = a * state + b
        states.append(state)
    return torch.stack(states, dim=1)


@checked
def parallel_scan(
    decay: Float[Tensor, "B T *N"],
    inputs: Float[Tensor, "B T *N"],
    start: Float[Tensor, "B *N"] | None = None,
) -> Float[Tensor, "B T *N"]:
    """The same states in log T rounds, each of which works on all tokens at once.

    Two steps are one step: a' (a h + b) + b' = (a' a) h + (a' b + b'). Round by round each token's
    step takes in twice as many tokens before it.

    Source: Hillis and Steele 1986; Blelloch 1990, 1.4. Shapes: as ``scan``.
    """
    if start is not None:
        inputs = torch.cat(((decay[:, :1] * start.unsqueeze(1) + inputs[:, :1]), inputs[:, 1:]), 1)
    reach = 1
    while reach < inputs.shape[1]:
        later = decay[:, reach:] * inputs[:, :-reach] + inputs[:, reach:]
        inputs = torch.cat((inputs[:, :reach], later), dim=1)
        decay = torch.cat((decay[:, :reach], decay[:, reach:] * decay[:, :-reach]), dim=1)
        reach *= 2
    return inputs


class SpaceState(NamedTuple):
    """What the layer keeps: the state h [B, I, N], and the last inputs [B, I, kernel - 1]."""

    h: Tensor
    last: Tensor


@checked
class SelectiveStateSpace(nn.Module):
    """A selective state space between two projections, with a short convolution and a gate: Mamba.

    h_t = exp(Δ_t A) h_{t-1} + Δ_t u_t B_tᵀ,  y_t = h_t C_t + d u_t,  out = (y · silu(gate)) W_O

    Δ, B and C are made from each token, so the token decides how much is forgotten, written and
    read; A is negative, so exp(Δ A) lies between 0 and 1. u is a causal convolution of the input.
    Source: Gu and Dao 2023 (Mamba), 3.2, 3.4 and algorithm 2; equal to ``MambaMixer`` of
    transformers. Sizes left out: d_inner is 2 d_model, rank of Δ is d_model / 16, rounded up.
    """

    def __init__(
        self,
        d_model: Size,
        *,
        d_state: Size = 16,
        d_inner: Size | None = None,
        kernel: Size = 4,
        parallel: bool = True,
    ) -> None:
        super().__init__()
        I, N, R = d_inner or 2 * d_model, d_state, math.ceil(d_model / 16)  # noqa: E741
        self.sizes, self.parallel = (R, N, N), parallel
        self.input = nn.Linear(d_model, 2 * I, bias=False)
        self.convolution = nn.Conv1d(I, I, kernel, groups=I)
        self.select = nn.Linear(I, R + 2 * N, bias=False)
        self.step = nn.Linear(R, I)
        self.log_decay = nn.Parameter(torch.arange(1.0, N + 1).log().repeat(I, 1))
        self.skip = nn.Parameter(torch.ones(I))
        self.output = nn.Linear(I, d_model, bias=False)
        self._start()

    def forward(self, x: Stream, *, state: SpaceState | None = None) -> tuple[Stream, SpaceState]:
        """Shapes: x [B, T, D], the next T tokens -> [B, T, D], and the state after them."""
        u, gate = self.input(x).chunk(2, dim=-1)
        u, last = self._convolved(u.mT, None if state is None else state.last)
        rank, write, read = self.select(u).split(self.sizes, dim=-1)
        delta = F.softplus(self.step(rank)).unsqueeze(-1)
        decay = torch.exp(delta * -self.log_decay.exp())
        inputs = delta * u.unsqueeze(-1) * write.unsqueeze(-2)
        through = parallel_scan if self.parallel else scan
        h = through(decay, inputs, None if state is None else state.h)
        y = (h @ read.unsqueeze(-1)).squeeze(-1) + self.skip * u
        return self.output(y * F.silu(gate)), SpaceState(h[:, -1], last)

    def _convolved(self, u: Tensor, last: Tensor | None) -> tuple[Tensor, Tensor]:
        """Each feature mixed with its own last values: [B, I, T] -> [B, T, I], and what to keep."""
        before = self.convolution.kernel_size[0] - 1
        last = u.new_zeros(*u.shape[:2], before) if last is None else last
        u = torch.cat((last, u), dim=-1)
        return F.silu(self.convolution(u)).mT, u[..., u.shape[-1] - before :]

    def _start(self) -> None:
        """Let Δ begin between 0.001 and 0.1, evenly by its logarithm."""
        first = torch.empty_like(self.step.bias).uniform_(math.log(0.001), math.log(0.1)).exp()
        with torch.no_grad():
            self.step.bias.copy_(first + torch.log(-torch.expm1(-first)))  # softplus, undone
