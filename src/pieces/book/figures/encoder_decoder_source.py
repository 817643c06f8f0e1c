"""Chapter 13's answers to the source texts: steps, counts and norms of the shipped translator."""

import torch

from pieces.attention import CausalCore, CrossAttention, MultiHeadAttention
from pieces.book.tables import Table, table
from pieces.models.encoder_decoder import EncoderDecoder
from pieces.tasks import Introductions


def steps(model: EncoderDecoder, task: Introductions, source: str, target: str) -> Table:
    """Show what the decoder reads at each step of a translation, and what it writes next."""
    ids, words = task.encode(source)[None], target.split()
    rows = []
    for n in range(len(words)):
        read = ["<bos>", *words[:n]]
        odds = model(ids, task.encode(" ".join(read))[None])[0, -1].softmax(-1)
        rows.append([n + 1, " ".join(read), task.vocabulary[int(odds.argmax())], odds.max().item()])
    return table(rows, ["step", "the decoder reads", "next", "with"], digits=3)


def attentions(model: EncoderDecoder) -> Table:
    """Count the attention modules of a layer, and say which of them sees no later word."""
    rows = []
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        parts = [one for one in stack.blocks[0].children() if isinstance(one, MultiHeadAttention)]
        causal = sum(isinstance(one.core, CausalCore) for one in parts)
        crossed = sum(isinstance(one, CrossAttention) for one in parts)
        rows.append([name, len(parts), causal, crossed])
    return table(rows, ["a layer of the", "attentions", "masked", "crossed"])


@torch.no_grad()
def closing_norm(model: EncoderDecoder, task: Introductions, text: str) -> Table:
    """Show mean and deviation of the vectors behind each layer, added only and normalised.

    What is normalised is told before its gain and shift.
    """
    x = model.embedding(task.encode(text)[None])
    x = model.encoder_position.add(x, torch.arange(x.shape[1]))
    rows = []
    for n, block in enumerate(model.encoder.blocks, 1):
        middle = block.attention_residual(x, block.attention)
        added = middle + block.feed_forward(middle)
        norm = block.feed_forward_residual.norm
        x = norm(added)
        for name, y in (("sum", added), ("normalised", (x - norm.bias) / norm.weight)):
            means, spread = y.mean(-1).abs(), y.std(-1, correction=0)
            rows.append([f"{n}, {name}", means.max(), spread.min(), spread.max()])
    rows = [[name, *(one.item() for one in numbers)] for name, *numbers in rows]
    return table(rows, ["layer", "largest mean", "least std", "largest std"])


def parts(model: EncoderDecoder) -> Table:
    """Show the parts of a whole model with their parameters, and which of them a block has."""
    layers = [
        (f"{side} layer {n}", block)
        for side, stack in (("encoder", model.encoder), ("decoder", model.decoder))
        for n, block in enumerate(stack.blocks, 1)
    ]
    named = [("embedding, and head", model.embedding), *layers]
    rows = [
        [name, sum(one.numel() for one in part.parameters()), "one" if part is layers[0][1] else ""]
        for name, part in named
    ]
    rows.append(["positions", 0, ""])
    return table(rows, ["part", "parameters", "listing 4-8 has"], digits=0)
