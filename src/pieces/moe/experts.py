"""Experts: given rows sorted by expert, each computes its own slice.

The rows of expert 0 come first, then those of expert 1, and so on; ``load`` says how many each
has. R rows are the N tokens, each repeated for its k choices.
"""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Size, checked, filled
from pieces.feedforward import Activation, swish

Rows = Float[Tensor, "R D"]
Load = Int[Tensor, "E"]


@checked(always=True)
class ExpertList(nn.Module):
    """Experts of any kind, such as ``FeedForward`` or ``GatedFeedForward``, one module each.

    y = [E_1(rows of expert 1), E_2(rows of expert 2), ...]

    Source: source text (5.36).
    """

    def __init__(self, experts: Iterable[nn.Module]) -> None:
        super().__init__()
        self.experts = filled("experts", experts)
        self.n_experts = len(self.experts)

    def forward(self, x: Rows, load: Load) -> Rows:
        """Shapes: x [R, D], sorted by expert, load [E], which sums to R -> [R, D]."""
        slices = x.split(load.tolist())
        pairs = zip(self.experts, slices, strict=True)
        return torch.cat([expert(rows) for expert, rows in pairs if _must_run(rows)] or [x])


@checked(always=True)
class GatedExperts(nn.Module):
    """E experts of the kind ``GatedFeedForward``, their weights stacked: the fast kind.

    E_e(x) = (σ(x W_G^e) ⊙ (x W_U^e)) W_D^e

    On a GPU in bfloat16 all slices run in one grouped kernel, elsewhere one after another.
    Source: Jiang et al. 2024 (Mixtral), 2.1; source text (5.23), (5.36).
    Shapes: gate_up [E, 2 F, D], the gate's rows first; down [E, D, F].
    """

    def __init__(
        self, n_experts: Size, d_model: Size, d_ff: Size, activation: Activation = swish
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.n_experts, self.activation = n_experts, activation
        self.gate_up = nn.Parameter(torch.empty(n_experts, 2 * d_ff, d_model))
        self.down = nn.Parameter(torch.empty(n_experts, d_model, d_ff))
        for weight in (self.gate_up, self.down):  # as nn.Linear starts
            bound = weight.shape[-1] ** -0.5
            nn.init.uniform_(weight, -bound, bound)

    def forward(self, x: Rows, load: Load) -> Rows:
        """Shapes: x [R, D], sorted by expert, load [E], which sums to R -> [R, D]."""
        if has_grouped_kernel(x, self.gate_up, self.down):
            return self._all_at_once(x, load)
        return self._one_by_one(x, load)

    def _one_by_one(self, x: Tensor, load: Tensor) -> Tensor:
        """A loop over the experts."""
        slices = x.split(load.tolist())
        outputs = []
        for rows, gate_up, down in zip(
            slices, self.gate_up.unbind(), self.down.unbind(), strict=True
        ):
            if _must_run(rows):
                gate, up = F.linear(rows, gate_up).chunk(2, dim=-1)
                outputs.append(F.linear(self.activation(gate) * up, down))
        return torch.cat(outputs or [x])

    def _all_at_once(self, x: Tensor, load: Tensor) -> Tensor:
        """All experts, in two grouped matrix products; the device need not tell us the load."""
        ends = load.cumsum(0).to(torch.int32)
        gate, up = F.grouped_mm(x, self.gate_up.mT, offs=ends).chunk(2, dim=-1)
        return F.grouped_mm(self.activation(gate) * up, self.down.mT, offs=ends)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        n_experts, d_model, d_ff = self.down.shape
        return f"n_experts={n_experts}, d_model={d_model}, d_ff={d_ff}"


@checked
def has_grouped_kernel(x: Tensor, *weights: Tensor) -> bool:
    """Whether torch's grouped matrix product is one kernel here: bfloat16, on a recent GPU.

    Its rows must be 16 bytes or a multiple. Other dtypes and the CPU run a loop inside it, slower
    than ours.
    """
    same = all(t.is_cuda and t.dtype == torch.bfloat16 for t in (x, *weights))
    if not same or not hasattr(F, "grouped_mm"):
        return False
    aligned = all(size % 8 == 0 for weight in weights for size in weight.shape[1:])
    return aligned and torch.cuda.get_device_capability(x.device) >= (8, 0)


def _must_run(rows: Tensor) -> bool:
    """Whether an expert is called: with no rows too, where its gradient is wanted to be 0, not None
    (as DistributedDataParallel does), and in a compiled graph, which is the same for every load.
    """
    return torch.compiler.is_compiling() or torch.is_grad_enabled() or rows.shape[0] > 0
