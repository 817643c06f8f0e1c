"""How the next token is chosen from its logits: pure functions, applied one after another."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pieces.checks import NotNegative, Positive, Probability, Size, checked
from pieces.precision import in_float32
from pieces.types import Logits


@checked
def tempered(logits: Logits, temperature: Positive) -> Logits:
    """Below 1 the likely tokens gain, above 1 the unlikely ones.

    softmax(logits / temperature)

    Source: Ackley et al. 1985. Shapes: [..., V] -> the same.
    """
    return logits / temperature


@checked
def top_k(logits: Logits, k: Size) -> Logits:
    """The k largest stay, and what ties with the last of them; the others become -inf.

    Source: Fan et al. 2018, 5.4. Shapes: [..., V] -> the same; k above V keeps all.
    """
    least = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


@checked
def top_p(logits: Logits, p: Probability) -> Logits:
    """The fewest tokens whose probability is p or more stay; the others become -inf.

    Of tokens that are equally likely the first ones stay; p = 1 keeps all.
    Source: Holtzman et al. 2020, 3.1 (nucleus sampling). Shapes: [..., V] -> the same.
    """
    limit = p if p < 1 else math.inf  # rounded sums may reach 1 before the last token
    ordered, order = in_float32(logits).sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    dropped = (before >= limit).scatter(-1, order, before >= limit)
    return logits.masked_fill(dropped, -torch.inf)


@checked
def choose(
    logits: Float[Tensor, "B V"],
    *,
    temperature: NotNegative = 0.0,
    k: Size | None = None,
    p: Probability | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "B"]:
    """One token for each row: the likeliest at temperature 0, else a draw from what is left.

    Temperature acts first, then ``top_k``, then ``top_p``, all in float32 at least: what a half
    precision rounds off is drawn too often or never. A ``generator`` draws on its own device: one
    seeded on the CPU draws the same for a model on a GPU.
    Shapes: logits [B, V] -> [B].
    """
    if temperature == 0:
        return logits.argmax(dim=-1)
    logits = in_float32(logits)
    logits = logits - logits.amax(dim=-1, keepdim=True)  # a small temperature cannot overflow
    numbers = torch.finfo(logits.dtype)
    logits = tempered(logits, min(max(temperature, numbers.tiny), numbers.max))
    logits = logits if k is None else top_k(logits, k)
    logits = logits if p is None else top_p(logits, p)
    probabilities = logits.softmax(dim=-1)
    there = probabilities if generator is None else probabilities.to(generator.device)
    return torch.multinomial(there, 1, generator=generator).squeeze(1).to(logits.device)
