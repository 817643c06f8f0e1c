"""A model of attention alone: no feed-forward networks, so what it does can be read off its heads.

Pre-norm with RMSNorm, learned positions, no biases, a head of its own. The positions are added
rather than rotated in, because a head that looks at the previous word, on which others can build,
is then learned within minutes; with rotary positions none had formed in the same time.
"""

from dataclasses import dataclass

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Stack, given
from pieces.cache import LayerCache
from pieces.checks import Positive, Size, checked
from pieces.embeddings import TokenEmbedding
from pieces.models.config import Config
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import RMSNorm
from pieces.positions import Learned, Rotation
from pieces.residual import PreNorm
from pieces.types import Bias, Mask, Positions, Stream


@dataclass(frozen=True)
class AttentionOnlyConfig(Config):
    """Sizes of an attention-only model. ``tied``: the head is the embedding.

    Two layers are the fewest in which one head can build on another: an induction head reads what
    a head of the layer before has noted about the previous token.
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    max_seq_len: Size = 256
    norm_eps: Positive = 1e-6
    tied: bool = False


@checked(shields=False)
class AttentionBlock(nn.Module):
    """Attention in its residual connection, and nothing else.

    y = residual(x, attention)

    Source: Elhage et al. 2021 (A Mathematical Framework for Transformer Circuits).
    """

    def __init__(self, attention: nn.Module, residual: nn.Module) -> None:
        super().__init__()
        self.attention, self.attention_residual = attention, residual

    def forward(
        self,
        x: Stream,
        *,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        cache: LayerCache | None = None,
    ) -> Stream:
        """Shapes: x [B, T, D] -> [B, T, D]. The options go to the attention."""
        options = given(mask=mask, bias=bias, positions=positions, cache=cache)
        return self.attention_residual(x, self.attention, **options)


def attention_only(config: AttentionOnlyConfig) -> DecoderOnly:
    """Build an attention-only model of random weights.

    Source: Elhage et al. 2021, who have no norms and add the positions to queries and keys alone.
    """
    D, eps = config.d_model, config.norm_eps

    def block() -> AttentionBlock:
        attention = CachedAttention(D, config.n_heads, core=CausalCore())
        return AttentionBlock(attention, PreNorm(RMSNorm(D, eps=eps)))

    embedding, position = TokenEmbedding(config.vocab_size, D), Learned(config.max_seq_len, D)
    stack = Stack((block() for _ in range(config.n_layers)), RMSNorm(D, eps=eps))
    head = None if config.tied else nn.Linear(D, config.vocab_size, bias=False)
    return DecoderOnly(embedding, stack, position=position, head=head, config=config)
