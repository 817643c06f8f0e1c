"""State spaces: a state that fades by a factor and takes in something new, token after token.

scan, parallel_scan       the recurrence alone, step by step and in doubling strides
SelectiveStateSpace       a layer around it, which reads from its input what to keep
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked

States = Float[Tensor, "B T *state"]
OneState = Float[Tensor, "B *state"]
Scan = Callable[..., Tensor]


@checked
def scan(decay: States, inputs: States, *, start: OneState | None = None) -> States:
    """A state that fades and takes in, one step after another.

    h_t = a_t ⊙ h_{t-1} + b_t,  h_0 = start, or 0

    Source: Gu and Dao 2023 (Mamba), 2, eq. (2a). Shapes: decay a and inputs b [B, T, ...], start
    [B, ...] -> all states [B, T, ...].
    """
    state = torch.zeros_like(inputs[:, :1]) if start is None else start.unsqueeze(1)
    states = []
    for a, b in zip(decay.split(1, dim=1), inputs.split(1, dim=1), strict=True):
        state = a * state + b
        states.append(state)
    return torch.cat(states, dim=1)


@checked
def parallel_scan(decay: States, inputs: States, *, start: OneState | None = None) -> States:
    """The same in about log2 T strides, each of them over all steps at once.

    Two steps in a row are one: (a, b) then (a', b') is (a' a, a' b + b'). After the stride of 2^n
    each place holds its last 2^(n+1) steps in one.

    Source: Hillis and Steele 1986 (data parallel algorithms); Blelloch 1990 (prefix sums) for this
    recurrence. Shapes: as ``scan``.
    """
    if start is not None:
        first = inputs[:, :1] + decay[:, :1] * start.unsqueeze(1)
        inputs = torch.cat((first, inputs[:, 1:]), dim=1)
    stride = 1
    while stride < inputs.shape[1]:
        taken_in = inputs[:, stride:] + decay[:, stride:] * inputs[:, :-stride]
        faded = decay[:, stride:] * decay[:, :-stride]
        inputs = torch.cat((inputs[:, :stride], taken_in), dim=1)
        decay = torch.cat((decay[:, :stride], faded), dim=1)
        stride = 2 * stride
    return inputs


class Selected(NamedTuple):
    """What one token does to the state: how much stays and what comes in, and how it is read."""

    decay: Tensor
    inputs: Tensor
    read: Tensor


@checked
class SelectiveStateSpace(nn.Module):
    """Each feature keeps ``d_state`` fading numbers; the input says how fast, and what goes in.

    h_t = exp(Δ_t A) ⊙ h_{t-1} + (Δ_t u_t) B_tᵀ,   y_t = h_t C_t + α ⊙ u_t
    u, g = x W_in,  Δ = softplus(u W_Δ + b_Δ),  B = u W_B,  C = u W_C,  out = (y ⊙ swish(g)) W_out

    A is negative, so each factor lies between 0 and 1. Small: without the short convolution and the
    narrow W_Δ of the paper's block. ``forward`` takes the whole text at once, ``recurrent`` goes
    through it and remembers. ``scan`` is what ``forward`` runs: ``parallel_scan``, or ``scan``.

    Source: Gu and Dao 2023 (Mamba), 3.2, algorithm 2 (S6), and 3.4; the start of A is that of 3.6.
    Shapes: A [d_inner, d_state]; d_inner is d_model if left out.
    """

    def __init__(
        self,
        d_model: Size,
        d_state: Size = 16,
        *,
        d_inner: Size | None = None,
        scan: Scan = parallel_scan,
    ) -> None:
        super().__init__()
        inner = d_inner or d_model
        self.d_model, self.d_state, self.d_inner, self.scan = d_model, d_state, inner, scan
        self.inward = nn.Linear(d_model, 2 * inner, bias=False)
        self.step = nn.Linear(inner, inner)
        self.write = nn.Linear(inner, d_state, bias=False)
        self.read = nn.Linear(inner, d_state, bias=False)
        self.log_rate = nn.Parameter(torch.arange(1.0, d_state + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.output = nn.Linear(inner, d_model, bias=False)
        start_steps_(self.step.bias)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Shapes: x [B, T, D] -> [B, T, D]."""
        u, gate = self.inward(x).chunk(2, dim=-1)
        decay, inputs, read = self.select(u)
        states = self.scan(decay, inputs)
        return self.answer(states, read, u, gate)

    def recurrent(
        self, x: Float[Tensor, "B T D"], *, state: Float[Tensor, "B I N"] | None = None
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B I N"]]:
        """The same for the next T tokens, with the state they leave: [B, d_inner, d_state]."""
        u, gate = self.inward(x).chunk(2, dim=-1)
        decay, inputs, read = self.select(u)
        states = scan(decay, inputs, start=state)
        return self.answer(states, read, u, gate), states[:, -1]

    def select(self, u: Float[Tensor, "B T I"]) -> Selected:
        """What each token keeps and takes in, [B, T, I, N] both, and how it reads, [B, T, N]."""
        step = F.softplus(self.step(u)).unsqueeze(-1)
        decay = torch.exp(-step * self.log_rate.exp())
        inputs = step * u.unsqueeze(-1) * self.write(u).unsqueeze(-2)
        return Selected(decay, inputs, self.read(u))

    def answer(self, states: Tensor, read: Tensor, u: Tensor, gate: Tensor) -> Tensor:
        """y_t = h_t C_t + α ⊙ u_t, gated and mixed: [B, T, D]."""
        y = (states @ read.unsqueeze(-1)).squeeze(-1) + self.skip * u
        return self.output(y * F.silu(gate))


@torch.no_grad()
def start_steps_(bias: Tensor, shortest: float = 0.001, longest: float = 0.1) -> None:
    """Let softplus(bias) start anywhere between two steps, each order of size equally likely.

    Source: Gu and Dao 2023 (Mamba), 3.6.
    """
    step = torch.empty_like(bias).uniform_(math.log(shortest), math.log(longest)).exp()
    bias.copy_(step + torch.log(-torch.expm1(-step)))
