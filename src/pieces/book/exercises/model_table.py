"""Checkers for chapter 16, the model table."""

from collections.abc import Callable
from typing import Any

from pieces.book.exercises.verdict import WAITING, attempt, say
from pieces.zoo import MODEL_TABLE, OUR_MODELS, Architecture

ROWS = MODEL_TABLE | OUR_MODELS
CASES = ("DeepSeek", "Mistral NeMo", "YuLan", "LLaMA-3.1")
NAMES = {
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "hidden_size": "d_model",
    "intermediate_size": "d_ff",
    "vocab_size": "vocab_size",
}
WORDS = {"norm": "RMSNorm", "position": "RoPE", "feed_forward": "SwiGLU", "arrangement": "pre",
         "biases": "none", "embedding": "plain", "category": "causal"}  # fmt: skip
HINTS = {
    "kv_heads": "Keys and values have num_key_value_heads heads; left out, as many as the queries.",
    "head_size": "A head has head_dim numbers, where that is given, else D / H.",
    "head": 'A tied head is the embedding itself; any other is "own".',
    "d_ff": "The feed-forward width is intermediate_size.",
    "norm": 'The text says RMSNorm; left out, a row gets "LayerNorm".',
    "position": 'The text says rotary; left out, a row gets "learned".',
    "feed_forward": 'The text says SwiGLU; left out, a row gets "GELU".',
}


def published(name: str) -> dict[str, Any]:
    """Return a row as its published configuration has it: some leave out what is usual."""
    a = ROWS[name].built
    sizes = {theirs: getattr(a, ours) for theirs, ours in NAMES.items()}
    sizes["tie_word_embeddings"] = a.head == "tied"
    given = {"num_key_value_heads": a.n_kv_heads, "head_dim": a.head_dim}
    return sizes | {key: size for key, size in given.items() if size is not None}


def tied() -> dict[str, Any]:
    """Return the configuration of a small model whose head is its embedding."""
    sizes = dict(zip(NAMES, (2, 6, 24, 50, 90), strict=True))
    return sizes | {"tie_word_embeddings": True, "num_key_value_heads": 2}


def wanted(c: dict[str, Any]) -> dict[str, Any]:
    """Return what a row of this configuration has, by field."""
    H, D = c["num_attention_heads"], c["hidden_size"]
    found = {ours: c[theirs] for theirs, ours in NAMES.items()}
    found["kv_heads"] = c.get("num_key_value_heads", H)
    found["head_size"] = c.get("head_dim", D // H)
    found["head"] = "tied" if c["tie_word_embeddings"] else "own"
    return found | WORDS


def my_row(function: Callable[[dict[str, Any]], Architecture]) -> None:
    """Check `f(config)`: the Architecture of a LLaMA, from its published configuration."""
    for c in [*map(published, CASES), tied()]:
        result, complaint = attempt(function, dict(c))
        if complaint:
            told = complaint if complaint.startswith(WAITING) else f"{c}: {complaint}"
            return say("16.4", told)
        if not isinstance(result, Architecture):
            return say("16.4", f"expected an Architecture, got {type(result).__name__}.")
        for field, value in wanted(c).items():
            if getattr(result, field) != value:
                seen = f"{field} is {getattr(result, field)!r}, not {value!r}."
                return say("16.4", f"{c}: {seen} {HINTS.get(field, '')}".rstrip())
    return say("16.4", "")
