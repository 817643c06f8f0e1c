"""What the heads of a model do: scores over many random texts, and what the removal of one costs.

A text here is a stretch of random words, said twice: nothing but the first time helps to foretell
the second. Source of the scores: Olsson et al. 2022 (induction heads), appendix on head metrics.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.losses import summed_cross_entropy
from pieces.trace import record

TEXTS, STRETCH, SEED = 200, 25, 777

Scores = Float[Tensor, "layers heads"]


def repeated(words: Int[Tensor, "W"], rows: int, stretch: int) -> Int[Tensor, "N R"]:
    """Random words said twice: [rows, 2 stretch]."""
    generator = torch.Generator().manual_seed(SEED)
    once = words[torch.randint(len(words), (rows, stretch), generator=generator)]
    return torch.cat((once, once), dim=1)


@torch.no_grad()
def scores(model: nn.Module, words: Int[Tensor, "W"]) -> dict[str, Scores]:
    """Mean weights of each head in the second saying.

    previous_token: on the word before; prefix_matching: on the word that followed the last time.
    """
    ids = repeated(words, TEXTS, STRETCH)
    with record(model) as trace:
        model(ids)
    weights = torch.stack([call["weights"] for call in trace.values()]).mean(dim=1)
    second = weights[:, :, STRETCH:]  # [layers, heads, STRETCH, 2 STRETCH]
    return {
        "previous_token": second.diagonal(STRETCH - 1, 2, 3).mean(-1),
        "prefix_matching": second.diagonal(1, 2, 3).mean(-1),
    }


@contextmanager
def without(model: nn.Module, layer: int, head: int) -> Iterator[None]:
    """The model without what one head writes into the stream."""
    attention = model.stack.blocks[layer].attention
    columns = slice(head * attention.head_dim, (head + 1) * attention.head_dim)
    before = attention.output.weight.detach().clone()
    with torch.no_grad():
        attention.output.weight[:, columns] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            attention.output.weight.copy_(before)


@torch.no_grad()
def second_saying(model: nn.Module, words: Int[Tensor, "W"]) -> float:
    """The loss on the second saying, nats a word; ln(number of words) knows nothing."""
    ids = repeated(words, TEXTS, STRETCH)
    logits = model(ids[:, :-1])[:, STRETCH - 1 :]
    loss, count = summed_cross_entropy(logits[:, 1:], ids[:, STRETCH + 1 :])
    return (loss / count).item()


def examine(model: nn.Module, words: Int[Tensor, "W"]) -> dict[str, Any]:
    """Scores of all heads; and for each head, what the second saying costs without it."""
    found = scores(model, words)
    whole = second_saying(model, words)
    layers, heads = found["prefix_matching"].shape
    costs = torch.zeros(layers, heads)
    for layer in range(layers):
        for head in range(heads):
            with without(model, layer, head):
                costs[layer, head] = second_saying(model, words) - whole
    table = {name: rounded(values) for name, values in found.items()}
    return {
        "heads": table | {"cost_of_removal": rounded(costs)},
        "second_saying_loss": whole,
        "induction_head": place(found["prefix_matching"]),
        "previous_token_head": place(found["previous_token"]),
        "costliest_head": place(costs),
    }


def rounded(values: Scores) -> list[list[float]]:
    """For the record."""
    return [[round(value, 4) for value in row] for row in values.tolist()]


def place(values: Scores) -> list[int]:
    """[layer, head] of the largest."""
    return list(divmod(int(values.argmax()), values.shape[1]))
