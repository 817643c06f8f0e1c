"""How many parameters a model has, and in which of its parts."""

from torch import nn

from pieces.attention import MultiHeadAttention
from pieces.checks import checked
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, GatedFeedForward
from pieces.moe import ExpertList, GatedExperts, Router
from pieces.norms import BatchNorm, LayerNorm, RMSNorm
from pieces.positions import PositionalEncoding

KINDS: dict[str, tuple[type[nn.Module], ...]] = {
    "embedding": (TokenEmbedding,),
    "positions": (PositionalEncoding,),
    "attention": (MultiHeadAttention,),
    "feed-forward": (FeedForward, GatedFeedForward, GatedExperts, ExpertList),
    "router": (Router,),
    "norms": (LayerNorm, RMSNorm, BatchNorm),
}
PARTS = (*KINDS, "head", "other")


@checked
def count_parameters(model: nn.Module) -> dict[str, int]:
    """The number of parameters in each of ``PARTS``, and in "total".

    A parameter belongs to the innermost known module around it, and what is shared (a tied head, a
    bias table of all layers) is counted once, where it is met first. "head" is a module of that
    name, "other" what has no other part. Works on the meta device.
    """
    counts, seen = dict.fromkeys(PARTS, 0), set()
    _visit(model, "other", counts, seen)
    return counts | {"total": sum(counts.values())}


def _visit(module: nn.Module, part: str, counts: dict[str, int], seen: set[int]) -> None:
    part = next((name for name, kinds in KINDS.items() if isinstance(module, kinds)), part)
    for parameter in module.parameters(recurse=False):
        if id(parameter) not in seen:
            seen.add(id(parameter))
            counts[part] += parameter.numel()
    for name, child in module.named_children():
        _visit(child, "head" if name == "head" else part, counts, seen)
