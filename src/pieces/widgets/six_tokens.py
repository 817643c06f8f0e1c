"""The six tokens on which self-attention is worked out by hand, and three weight matrices."""

import torch

TABLE = (
    (0.13, 0.15, 0.89),
    (0.25, 0.87, 0.66),
    (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33),
    (0.77, 0.25, 0.10),
    (0.05, 0.80, 0.55),
)
TOKENS = ("Lily", "lost", "her", "small", "red", "ball")


def draws(seed: int = 168) -> list[list[list[float]]]:
    """Return three 3 × 3 matrices: what manual_seed(seed) and three torch.rand(3, 3) give.

    A generator of its own draws them, so that the reader's random numbers stay as they were.
    """
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(3, 3, generator=generator).tolist() for _ in range(3)]


WEIGHTS = draws()
