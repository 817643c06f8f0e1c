"""Checkers for chapter 15, LLaMA."""

from collections.abc import Callable

import torch

from pieces.book.exercises.verdict import WAITING, attempt, say
from pieces.models.llama import LLAMA_2_70B, LlamaConfig, llama
from pieces.zoo import count_parameters

# Each has what another lacks: shared keys, heads of their own size, a head that is the embedding.
CASES = (
    LlamaConfig(vocab_size=110, d_model=24, n_layers=2, n_heads=4, d_ff=50),
    LlamaConfig(vocab_size=130, d_model=24, n_layers=3, n_heads=6, d_ff=50, n_kv_heads=2),
    LlamaConfig(vocab_size=80, d_model=24, n_layers=2, n_heads=4, d_ff=50, head_dim=10),
    LlamaConfig(vocab_size=90, d_model=16, n_layers=1, n_heads=2, d_ff=30, tied=True),
    LLAMA_2_70B,
)


def counted(c: LlamaConfig) -> dict[str, int]:
    """Return the parameters by part of the model itself, built without memory."""
    with torch.device("meta"):
        return count_parameters(llama(c))


def _slips(c: LlamaConfig, parts: dict[str, int]) -> dict[str, int]:
    """Return what well-known mistakes would give, by a hint that helps."""
    total, D, L = parts["total"], c.d_model, c.n_layers
    H, G = c.n_heads, c.n_kv_heads or c.n_heads
    K = c.head_dim or D // H
    return {
        "The head is missing: it is a table as large as the embedding.": total - parts["head"],
        "The last norm is missing, the one after the stack.": total - D,
        "Each block has two norms, and one more comes after the stack.": total - L * D,
        "All norms are missing.": total - parts["norms"],
        "A gated network has three matrices, not two.": total - L * D * c.d_ff,
        "A tied head is the embedding itself: count it once.": total + c.vocab_size * D * c.tied,
        "Keys and values have n_kv_heads heads.": total + 2 * L * D * K * (H - G),
        "The output projection of attention is missing.": total - L * D * H * K,
        "A head has c.head_dim numbers, where that is given.": (
            total - parts["attention"] + L * 2 * D * (D // H) * (H + G)
        ),
    }


def my_size(function: Callable[[LlamaConfig], int]) -> None:
    """Check `f(config)`: how many parameters a LLaMA of this LlamaConfig has."""
    for c in CASES:
        result, complaint = attempt(function, c)
        if complaint:
            return say("15.4", complaint if complaint.startswith(WAITING) else f"{c}: {complaint}")
        if not isinstance(result, int) or isinstance(result, bool):
            return say("15.4", f"expected a whole number, got {type(result).__name__}.")
        parts = counted(c)
        if result != parts["total"]:
            slips = {wrong: words for words, wrong in _slips(c, parts).items()}
            hint = slips.get(result, "")
            off = f"{result - parts['total']:+,} of {parts['total']:,}".replace("-", "−")
            return say("15.4", f"{c}: you are off by {off}. {hint}".rstrip())
    return say("15.4", "")
