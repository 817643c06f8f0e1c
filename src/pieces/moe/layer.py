"""The layer that stands in the place of a feed-forward network."""

from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Knows, agreed, checked


@checked(shields=False)
class MixtureOfExperts(nn.Module):
    """Each token visits the experts its router chooses; their outputs are added, by weight.

    o_t = sum over i of G(x_t)_i E_i(x_t)  (+ shared(x_t))

    ``shared`` is an expert that every token visits, unweighted. No loop runs over tokens: they are
    sorted by expert, so that each expert multiplies one matrix. What the router chose is seen by
    ``trace.record(model, outputs=[Router])``.

    Source: Shazeer et al. 2017, 2, eq. (1); shared: Dai et al. 2024 (DeepSeekMoE), 3.2; source text
    (5.36).
    """

    def __init__(
        self,
        router: Annotated[nn.Module, Knows("n_experts", "a Router")],
        experts: Annotated[nn.Module, Knows("n_experts", "GatedExperts or an ExpertList")],
        shared: nn.Module | None = None,
    ) -> None:
        super().__init__()
        agreed("n_experts", router=router, experts=experts)
        self.router, self.experts, self.shared = router, experts, shared

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Shapes: x [..., D] -> [..., D]."""
        weights, experts, _ = self.router(x)
        tokens, owner = x.reshape(-1, x.shape[-1]), experts.flatten()  # owner: of each visit
        k = experts.shape[-1]

        by_expert = owner.argsort()
        load = owner.new_zeros(self.experts.n_experts)
        load = load.index_add(0, owner, torch.ones_like(owner))
        visits = self.experts(tokens.index_select(0, by_expert // k), load)

        by_token = visits.index_select(0, by_expert.argsort()).view(-1, k, x.shape[-1])
        mixed = weights.reshape(-1, 1, k) @ by_token.to(weights.dtype)
        output = mixed.to(x.dtype).view(x.shape)
        return output if self.shared is None else output + self.shared(x)
