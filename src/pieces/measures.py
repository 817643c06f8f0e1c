"""Numbers that say how an attention row is shaped: spread, sensitivity, likeness."""

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import checked, require


@checked
def entropy(weights: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    """How spread the weights are: ln S where all are equal, 0 where one takes all.

    H(p) = −Σ_j p_j ln p_j, with 0 ln 0 = 0

    Shapes: weights [..., S], rows that sum to 1 (or to 0) → [...], in nats.
    """
    # A weight of 0, such as a masked one, has the logarithm of 1, for its own has no gradient.
    return -(weights * weights.where(weights != 0, 1).log()).sum(-1)


@checked
def softmax_jacobian(weights: Float[Tensor, "... S"]) -> Float[Tensor, "... S S"]:
    """How each weight moves with each score, at the weights p = softmax(scores).

    J = diag(p) − p pᵀ

    It is 0 where one weight takes all: a saturated softmax passes no gradient.

    Shapes: weights [..., S] → [..., S, S].
    """
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


@checked
def jacobian_norm(weights: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    """The Frobenius norm of the softmax Jacobian.

    ‖diag(p) − p pᵀ‖_F

    Shapes: weights [..., S] → [...].
    """
    return torch.linalg.matrix_norm(softmax_jacobian(weights))


@checked
def cosine(a: Float[Tensor, "... K"], b: Float[Tensor, "... K"]) -> Float[Tensor, "..."]:
    """Likeness of direction, whatever the lengths.

    cos(a, b) = a·b / (|a| |b|)

    Shapes: a, b [..., K] → [...], from −1 to 1; 0 where a vector is zero.
    """
    require(a.shape[-1] > 0, "a.shape", tuple(a.shape), "K must be at least 1", "pass numbers")
    return (_direction(a) * _direction(b)).sum(-1).clamp(-1, 1)


def _direction(x: Float[Tensor, "... K"]) -> Float[Tensor, "... K"]:
    """The vector of length 1; divided by its largest number first, whose square may not fit."""
    largest = x.abs().amax(dim=-1, keepdim=True)
    x = x / largest.where(largest != 0, 1)
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / length.where(length != 0, 1)
