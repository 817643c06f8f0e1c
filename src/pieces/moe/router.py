"""The router: which experts a token visits, and how much each of them counts.

Axes: E experts, k of them chosen. Weights are float32 at least, whatever the model computes in.
"""

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pieces.checks import AtMostAxis, Compared, Positive, Size, checked
from pieces.precision import in_float32

RouterLogits = Float[Tensor, "*batch E"]
ExpertWeights = Float[Tensor, "*batch k"]
Experts = Int[Tensor, "*batch k"]
Chosen = Annotated[Size, AtMostAxis("logits")]  # experts a token visits
Chooser = Callable[[Tensor, int], tuple[Tensor, Tensor]]


class Routing(NamedTuple):
    """What a router decides: weights and experts [..., k], best first, and all logits [..., E]."""

    weights: Tensor
    experts: Tensor
    logits: Tensor


@checked
def route(logits: RouterLogits, k: Chosen) -> tuple[ExpertWeights, Experts]:
    """The k largest logits, softmax over these: a token's weights sum to 1.

    weights = softmax(topk(logits))

    With k = 1 the weight is always 1, and the router gets no gradient from the output.
    Source: Jiang et al. 2024 (Mixtral), 2.1; source text (5.35).
    Shapes: logits [..., E] -> weights, experts [..., k], best first.
    """
    best, experts = logits.topk(k, dim=-1)
    return in_float32(best).softmax(dim=-1), experts


@checked
def route_softmax_first(logits: RouterLogits, k: Chosen) -> tuple[ExpertWeights, Experts]:
    """Softmax over all, the k largest, divided by their sum: the same numbers as ``route``.

    Source: Mixtral's code in transformers. Shapes and errors: as ``route``.
    """
    weights, experts = route_unnormalised(logits, k)
    return weights / weights.sum(dim=-1, keepdim=True), experts


@checked
def route_unnormalised(logits: RouterLogits, k: Chosen) -> tuple[ExpertWeights, Experts]:
    """Softmax over all, and the k largest of it as they are: the router learns even with k = 1.

    weights = topk(softmax(logits))

    Source: Fedus et al. 2021 (Switch Transformer), 2.1, with k = 1.
    Shapes and errors: as ``route``.
    """
    return in_float32(logits).softmax(dim=-1).topk(k, dim=-1)


@checked
def within_capacity(experts: Experts, n_experts: Size, capacity: Size) -> Bool[Tensor, "*batch k"]:
    """Which choices still find room, if an expert takes ``capacity`` tokens and drops the rest.

    All first choices come before all second ones; among equals, earlier tokens come first.

    Source: Lepikhin et al. 2020 (GShard), 2.2. Shapes: experts [..., k] -> bool [..., k].
    """
    k, experts = experts.shape[-1], experts.long()
    in_order = experts.reshape(-1, k).mT.flatten()  # first choices of all tokens, then second ones
    taken = F.one_hot(in_order, n_experts).cumsum(dim=0)
    place = taken.gather(1, in_order[:, None]).squeeze(1)  # 1 is the first in the queue
    return (place <= capacity).view(k, -1).mT.reshape(experts.shape)


@checked
class Router(nn.Module):
    """One linear map scores the experts; ``choose`` takes the k best and weighs them.

    G(x) = softmax(topk(x W_G))

    With ``capacity_factor`` an expert takes at most ceil(factor N k / E) of the N tokens in a
    batch. A choice that finds no room gets weight 0: the expert adds nothing, and the token passes
    by through the residual connection. The other weights stay as they are. A token's fate then
    depends on the other tokens, later ones too: it is for training, and no causal model at
    inference should have it.

    Source: source text (5.35). Shapes: gate.weight [n_experts, d_model], no bias.
    """

    def __init__(
        self,
        d_model: Size,
        n_experts: Size,
        k: Annotated[Size, Compared("at most", "n_experts")],
        *,
        choose: Chooser = route,
        capacity_factor: Positive | None = None,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.n_experts, self.k, self.choose = n_experts, k, choose
        self.capacity_factor = capacity_factor
        self.gate = nn.Linear(d_model, n_experts, bias=False)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Routing:
        """Shapes: x [..., D] -> weights, experts [..., k], logits [..., E]."""
        logits = self.gate(x)
        weights, experts = self.choose(logits, self.k)
        if self.capacity_factor is not None:
            fair_share = experts.numel() / self.n_experts
            capacity = max(1, math.ceil(self.capacity_factor * fair_share))
            weights = weights * within_capacity(experts, self.n_experts, capacity)
        return Routing(weights, experts, logits)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"n_experts={self.n_experts}, k={self.k}, capacity_factor={self.capacity_factor}"
