"""Chapter 11: blocks and small models whose norms stand where one wants them."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pieces.attention import CausalCore, MultiHeadAttention
from pieces.blocks import Block, Stack
from pieces.book.tables import Table, table
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward
from pieces.losses import next_token_loss
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

NAMES = {"post": "Post", "pre": "Pre", "sandwich": "Sandwich", "deep": "DeepNorm"}
TASK = Copy(16, 6)  # what the models of the race learn


def size(x: Tensor) -> float:
    """The size of a stream: the root of its mean square."""
    return x.square().mean().sqrt().item()


def connection(placement: str, layers: int, D: int) -> nn.Module:
    """One of the four connections, DeepNorm's for a stack of so many layers."""
    if placement == "sandwich":
        return SandwichNorm(LayerNorm(D), LayerNorm(D))
    if placement == "deep":
        return DeepNorm(LayerNorm(D), deepnorm_alpha_beta(0, layers)[1].alpha)
    return {"post": PostNorm, "pre": PreNorm}[placement](LayerNorm(D))


def stack(make: Callable[[], nn.Module], layers: int, D: int, n_heads: int, last: bool) -> Stack:
    """Blocks whose connections are made by calling `make`."""
    blocks = [
        Block(
            MultiHeadAttention(D, n_heads, core=CausalCore()),
            FeedForward(D, 4 * D),
            attention_residual=make(),
            feed_forward_residual=make(),
        )
        for _ in range(layers)
    ]
    return Stack(blocks, LayerNorm(D) if last else None)


def small_model(placement: str, layers: int, beta: bool | None = None) -> DecoderOnly:
    """A model of the race, 16 wide; `beta` starts it small (by default DeepNorm only)."""
    D = 16
    open_stream = placement in ("pre", "sandwich")
    made = stack(lambda: connection(placement, layers, D), layers, D, 2, open_stream)
    small = placement == "deep" if beta is None else beta
    deepnorm_init_(made, deepnorm_alpha_beta(0, layers)[1].beta if small else 1.0)
    position = Learned(12, D)
    nn.init.normal_(position.weight, std=D**-0.5)
    head = nn.Linear(D, TASK.vocab_size, bias=False)
    return DecoderOnly(TokenEmbedding(TASK.vocab_size, D), made, position=position, head=head)


def mean_loss(model: nn.Module, batch) -> Tensor:
    """The loss of a batch, in nats a symbol."""
    total, count = next_token_loss(model, batch)
    return total / count


def streams(layers: int = 12, D: int = 64) -> Table:
    """Compare the stream that leaves a stack with and without a last norm; it reads noise."""
    x = torch.randn(2, 10, D, generator=torch.Generator().manual_seed(0))
    rows = []
    for placement in ("post", "pre", "sandwich"):
        left = []
        for last in (False, True):
            torch.manual_seed(0)
            made = stack(lambda p=placement: connection(p, layers, D), layers, D, 4, last)
            deepnorm_init_(made, 1.0)  # Xavier's start, as in the race
            with torch.no_grad():
                left.append(size(made(x)))
        rows.append([NAMES[placement], size(x), *left])
    return table(
        rows,
        ["placement", "what goes in", f"after {layers} blocks", "with a last norm"],
        caption=f"Size (root of the mean square) of the stream in models {D} wide.",
    )
