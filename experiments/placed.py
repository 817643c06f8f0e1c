"""A small decoder-only model whose norms stand where one wants them; nothing else differs."""

from torch import nn

from pieces.attention import CausalCore, MultiHeadAttention
from pieces.blocks import Block, Stack
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import Learned
from pieces.residual import (
    DeepNorm,
    PostNorm,
    PreNorm,
    SandwichNorm,
    deepnorm_alpha_beta,
    deepnorm_init_,
)
from pieces.tasks import Copy

TASK, LENGTH = Copy(16, 6), 12
WIDTH, HEADS = 32, 4


def residual(placement: str, n_layers: int, D: int) -> nn.Module:
    """The connection of one sublayer."""
    if placement == "post":
        return PostNorm(LayerNorm(D))
    if placement == "pre":
        return PreNorm(LayerNorm(D))
    if placement == "sandwich":
        return SandwichNorm(LayerNorm(D), LayerNorm(D))
    _, (alpha, _) = deepnorm_alpha_beta(0, n_layers)
    return DeepNorm(LayerNorm(D), alpha)


def build(
    placement: str, n_layers: int, start: str, D: int = WIDTH, n_heads: int = HEADS
) -> DecoderOnly:
    """A decoder-only model with its norms there; ``start`` "scaled" is DeepNorm's, by β."""
    blocks = [
        Block(
            MultiHeadAttention(D, n_heads, core=CausalCore()),
            FeedForward(D, 4 * D),
            attention_residual=residual(placement, n_layers, D),
            feed_forward_residual=residual(placement, n_layers, D),
        )
        for _ in range(n_layers)
    ]
    open_stream = placement in ("pre", "sandwich")
    stack = Stack(blocks, LayerNorm(D) if open_stream else None)
    _, (_, beta) = deepnorm_alpha_beta(0, n_layers)
    deepnorm_init_(stack, beta if start == "scaled" else 1.0)
    position = Learned(LENGTH, D)
    nn.init.normal_(position.weight, std=D**-0.5)
    head = nn.Linear(D, TASK.vocab_size, bias=False)
    embedding = TokenEmbedding(TASK.vocab_size, D)
    return DecoderOnly(embedding, stack, position=position, head=head)
