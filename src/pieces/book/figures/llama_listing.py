"""The tables of chapter 15's notes: where the LLaMA that a source text prints stops, and why."""

from collections.abc import Callable

import torch
import transformers
from transformers.models.llama import modeling_llama as library

from pieces import masks
from pieces.book.tables import Table, table

B, T, D = 3, 6, 32


def library_layer() -> tuple[library.LlamaDecoderLayer, dict[str, torch.Tensor]]:
    """One small layer of the library, and what it is called with today."""
    config = transformers.LlamaConfig(
        vocab_size=40, hidden_size=D, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=48, attn_implementation="eager",
    )  # fmt: skip
    states = torch.randn(B, T, D, generator=torch.Generator().manual_seed(0))
    angles = library.LlamaRotaryEmbedding(config)(states, torch.arange(T)[None])
    given = {"hidden_states": states, "position_embeddings": angles}
    return library.LlamaDecoderLayer(config, 0).requires_grad_(False), given


def steps() -> dict[str, Callable[[], object]]:
    """What the listing does, one step each, on the library's own layer (E-16, E-19)."""
    layer, given = library_layer()
    square = torch.ones(B, T, T, dtype=torch.bool)

    def embedded(input_ids: torch.Tensor | None = None, **inputs: torch.Tensor) -> torch.Tensor:
        return inputs["inputs_embeds"] if input_ids is None else input_ids

    def unpacked() -> None:
        _, _, _ = layer.self_attn(**given, attention_mask=None)

    return {
        "find its decorator’s constant": lambda: library.Llama_INPUTS_DOCSTRING,
        "pass a mask [B, T, T]": lambda: layer(**given, attention_mask=square),
        "call it with no input": embedded,
        "leave out the angles": lambda: layer(given["hidden_states"]),
        "unpack three results": unpacked,
        "take [0] of a layer": lambda: layer(**given)[0],
    }


def stops() -> Table:
    """Show what each step of the listing comes to: an error, or the shape of what it gives."""
    rows = []
    for name, step in steps().items():
        try:
            found = str(list(step().shape))
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            found = type(error).__name__
        rows.append([name, found])
    return table(rows, ["the listing’s step", "what happens"])


def who_sees(flags: tuple[int, ...] = (0, 0, 1, 1, 1)) -> Table:
    """Show who sees whom for a text padded on the left, rightly and as printed (E-17).

    A row is a query, an x a key that it sees, or that the printed mask marks.
    """
    size, real = len(flags), torch.tensor(flags).bool()
    right = masks.causal(size) & real
    printed = ~masks.causal(size) & real[:, None]
    rows = [
        ["word" if real[query] else "padding", *(_row(mask[query]) for mask in (right, printed))]
        for query in range(size)
    ]
    return table(rows, ["query", "causal and real", "as printed"])


def _row(seen: torch.Tensor) -> str:
    return " ".join("x" if one else "·" for one in seen.tolist())
