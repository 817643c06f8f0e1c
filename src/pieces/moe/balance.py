"""What keeps a router healthy in training: losses on its logits, and a way to get at them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from pieces.checks import checked, require
from pieces.moe.router import Chosen, Router, RouterLogits, Routing
from pieces.precision import in_float32

Valid = Bool[Tensor, "..."] | None  # of a token: it is none of the padding


@checked
def load_balancing_loss(logits: RouterLogits, k: Chosen, mask: Valid = None) -> Float[Tensor, ""]:
    """k if all experts are used alike, up to E where the same k get everything.

    loss = E sum over e of f_e P_e,  f_e: how many of a token's k choices are e, P_e: its mean
    probability, both averaged over the tokens

    Only P has a gradient: it lowers the probability of what is chosen often. Several layers are
    averaged together if stacked: ``torch.stack(logits)``. ``mask`` (True = a real token) leaves
    padding out, and stretches to the leading axes of the logits.

    Source: Fedus et al. 2021 (Switch Transformer), 2.2, eq. (4) to (6), there with k = 1.
    Shapes: logits [..., E], mask [...] -> one number.
    """
    real, tokens = _real(logits, mask), tuple(range(logits.ndim - 1))
    probabilities = in_float32(logits).softmax(dim=-1)
    chosen = F.one_hot(probabilities.topk(k, dim=-1).indices, logits.shape[-1]).sum(dim=-2)
    number = real.sum().clamp(min=1)  # no token at all costs nothing
    share = (chosen * real).sum(dim=tokens) / number
    probability = (probabilities * real).sum(dim=tokens) / number
    return logits.shape[-1] * (share * probability).sum()


@checked
def router_z_loss(logits: RouterLogits, mask: Valid = None) -> Float[Tensor, ""]:
    """Keeps the logits small, where rounding harms the softmax least.

    loss = mean over tokens of (ln sum of exp(logits))²

    Source: Zoph et al. 2022 (ST-MoE), eq. (5). Shapes: logits [..., E], mask [...] -> one number.
    """
    real = _real(logits, mask).squeeze(-1)
    wide = in_float32(logits)
    return (wide.logsumexp(dim=-1).square() * real).sum() / real.sum().clamp(min=1)


@checked
@contextmanager
def watch_routing(model: nn.Module) -> Iterator[list[Routing]]:
    """The ``Routing`` of every ``Router`` call in ``model``, in order, with its gradient.

        with watch_routing(model) as routings:
            logits = model(ids)
        balance = load_balancing_loss(torch.stack([r.logits for r in routings]), k)

    For losses; to look only, use ``trace.record``. On leaving, all hooks are removed.
    """
    routers = [module for module in model.modules() if isinstance(module, Router)]
    seen, remedy = type(model).__name__, "pass a model with mixtures of experts"
    require(len(routers) > 0, "model", seen, "must contain a Router", remedy)
    routings: list[Routing] = []
    hooks = [r.register_forward_hook(lambda _, args, out: routings.append(out)) for r in routers]
    try:
        yield routings
    finally:
        for hook in hooks:
            hook.remove()


def _real(logits: Tensor, mask: Tensor | None) -> Tensor:
    """1 for a token that counts, 0 for padding: [..., 1]."""
    if mask is None:
        return torch.ones_like(logits[..., :1], dtype=torch.float32)
    tokens = logits.shape[:-1]
    pairs = zip(reversed(mask.shape), reversed(tokens), strict=False)
    fits = mask.ndim <= len(tokens) and all(a in (1, b) for a, b in pairs)
    rule = f"must stretch to the tokens {tuple(tokens)}"
    require(fits, "mask.shape", tuple(mask.shape), rule, "pass one bool a token")
    return mask.expand(tokens).unsqueeze(-1).float()
