"""From the words of a row to the pieces: one dict for each column."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from pieces.attention import AttentionCore, CausalCore
from pieces.blocks import Block, ParallelBlock
from pieces.feedforward import (
    Activation,
    FeedForward,
    GatedFeedForward,
    gelu,
    gelu_tanh,
    relu,
    swish,
)
from pieces.norms import GemmaRMSNorm, LayerNorm, RMSNorm
from pieces.positions import (
    ALiBi,
    Learned,
    PositionalEncoding,
    Rotary,
    T5Buckets,
    TransformerXLRelative,
)
from pieces.residual import DeepNorm, PreNorm, SandwichNorm, deepnorm_init_
from pieces.zoo.row import Architecture


class Placement(NamedTuple):
    """An encoding in its place: the model's own, and what each attention layer is built with."""

    model: PositionalEncoding | None
    layer: Callable[[], PositionalEncoding | None] = lambda: None


def _rotary(a: Architecture) -> Placement:
    rotary = Rotary(a.head_size, rotary_dim=a.rotary_dim, base=a.rope_base)
    return Placement(rotary, lambda: rotary)


def _transformer_xl(a: Architecture) -> Placement:
    """One projection a layer; nothing in the model itself, as only distances count."""
    return Placement(None, lambda: TransformerXLRelative(a.d_model, a.n_heads, a.head_size))


POSITIONS: dict[str, Callable[[Architecture], Placement]] = {
    "learned": lambda a: Placement(Learned(a.max_seq_len, a.d_model)),
    "RoPE": _rotary,
    "ALiBi": lambda a: Placement(ALiBi(a.n_heads)),
    "Transformer-XL": _transformer_xl,
    "T5 buckets": lambda a: Placement(T5Buckets(a.n_heads, bidirectional=False)),
}

NORMS: dict[str, Callable[[Architecture], nn.Module]] = {
    "LayerNorm": lambda a: LayerNorm(a.d_model, eps=a.norm_eps),
    "LayerNorm without shift": lambda a: LayerNorm(a.d_model, eps=a.norm_eps, bias=False),
    "RMSNorm": lambda a: RMSNorm(a.d_model, eps=a.norm_eps),
    "RMSNorm, 1 + w": lambda a: GemmaRMSNorm(a.d_model, eps=a.norm_eps),
}


class Biases(NamedTuple):
    """Which linear layers have a bias."""

    attention: bool
    output: bool
    feed_forward: bool


BIASES = {
    "none": Biases(False, False, False),
    "all": Biases(True, True, True),
    "queries, keys, values": Biases(True, False, False),
}


def _ungated(activation: Activation, a: Architecture) -> FeedForward:
    return FeedForward(a.d_model, a.d_ff, activation, bias=BIASES[a.biases].feed_forward)


def _gated(activation: Activation, a: Architecture) -> GatedFeedForward:
    return GatedFeedForward(a.d_model, a.d_ff, activation, bias=BIASES[a.biases].feed_forward)


FEED_FORWARDS: dict[str, Callable[[Architecture], nn.Module]] = {
    "ReLU": partial(_ungated, relu),
    "GELU": partial(_ungated, gelu),
    "GELU by tanh": partial(_ungated, gelu_tanh),
    "SwiGLU": partial(_gated, swish),
    "GeGLU": partial(_gated, gelu),
    "GeGLU by tanh": partial(_gated, gelu_tanh),
}


CORES: dict[str, Callable[[Architecture], AttentionCore]] = {
    "causal": lambda a: CausalCore(a.window),
    "prefix": lambda a: AttentionCore(),
}


def _pre(a: Architecture, attention: nn.Module, feed_forward: nn.Module) -> Block:
    first, second = (PreNorm(NORMS[a.norm](a)) for _ in range(2))
    residuals = {"attention_residual": first, "feed_forward_residual": second}
    return Block(attention, feed_forward, **residuals)


def _sandwich(a: Architecture, attention: nn.Module, feed_forward: nn.Module) -> Block:
    first, second = (SandwichNorm(NORMS[a.norm](a), NORMS[a.norm](a)) for _ in range(2))
    residuals = {"attention_residual": first, "feed_forward_residual": second}
    return Block(attention, feed_forward, **residuals)


def _parallel(a: Architecture, attention: nn.Module, feed_forward: nn.Module) -> ParallelBlock:
    return ParallelBlock(attention, feed_forward, NORMS[a.norm](a))


def _parallel_two(a: Architecture, attention: nn.Module, feed_forward: nn.Module) -> ParallelBlock:
    return ParallelBlock(attention, feed_forward, *(NORMS[a.norm](a) for _ in range(2)))


def _glm(a: Architecture, attention: nn.Module, feed_forward: nn.Module) -> Block:
    """DeepNorm with GLM-130B's α = (2 L)^(1/2) = 1 / β, where DeepNet has (2 L)^(1/4).

    Source: Zeng et al. 2023 (GLM-130B), 2.1.
    """
    alpha = (2 * a.n_layers) ** 0.5
    first, second = (DeepNorm(NORMS[a.norm](a), alpha) for _ in range(2))
    residuals = {"attention_residual": first, "feed_forward_residual": second}
    block = Block(attention, feed_forward, **residuals)
    deepnorm_init_(block, 1 / alpha)
    return block


ARRANGEMENTS: dict[str, Callable[[Architecture, nn.Module, nn.Module], nn.Module]] = {
    "pre": _pre,
    "parallel": _parallel,
    "parallel, two norms": _parallel_two,
    "post, DeepNorm": _glm,
    "sandwich": _sandwich,
}

FINAL_NORMS = ("pre", "parallel", "parallel, two norms", "sandwich")


class NormHead(nn.Linear):
    """A head whose rows have length 1, so that rare tokens are not short.

    logits = x (W / |W|)ᵀ, each row by its own length

    Source: Yang et al. 2023 (Baichuan 2), 2, on NormHead. Shapes: weight [vocab_size, d_model].
    """

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        """Shapes: x [..., D] -> [..., V]."""
        return F.linear(x, F.normalize(self.weight, dim=-1))


HEADS: dict[str, Callable[[Architecture], nn.Module | None]] = {
    "tied": lambda a: None,
    "own": lambda a: nn.Linear(a.d_model, a.vocab_size, bias=False),
    "own, rows of length 1": lambda a: NormHead(a.d_model, a.vocab_size, bias=False),
}
