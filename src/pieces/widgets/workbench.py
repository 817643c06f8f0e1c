"""Workbench: a block whose parts are swapped, what that costs, and the code that builds it."""

import functools
from typing import Any

from traitlets import default

from pieces.book.measured import record_of
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result, Switch

SCORES = ("scaled", "dot", "bilinear", "additive")
MASKS = ("causal", "window", "prefix", "full")
POSITIONS = ("none", "sinusoidal", "learned", "rope", "alibi", "t5")
NORMS = ("rms", "layer", "none")
PLACES = ("pre", "post", "sandwich", "deep")
ACTIVATIONS = ("relu", "gelu", "swish", "reglu", "glu", "swiglu", "geglu", "bilinear")
SEEDS = 3  # of each trained variant


@functools.cache
def trained() -> dict[str, Any]:
    """Return the trained variants: what each swaps, and how far above the floor its seeds end."""
    record = record_of("workbench")
    variants: dict[str, dict[str, Any]] = {}
    for run in record["runs"]:
        if run["seed"] in record["rates_seeds"]:
            continue
        empty = {"name": run["model"], "swap": run["swap"], "rate": run["lr"], "above": []}
        variants.setdefault(run["model"], empty)["above"].append(run["above_floor"])
    whole = [one for one in variants.values() if len(one["above"]) == SEEDS]
    return {"base": record["base"], "steps": record["runs"][0]["steps"], "variants": whole}


class Workbench(PieceWidget):
    """A decoder of which each part can be another: its shapes, its costs, its signals and its code.

    Parts that cannot be together are told so: the wish is kept, and what is built instead is said.

    Args:
        score: "scaled", "dot", "bilinear" or "additive": how a query meets a key.
        mask: "causal", "window", "prefix" or "full".
        position: "none", "sinusoidal", "learned", "rope", "alibi" or "t5".
        norm: "rms", "layer" or "none".
        place: of the norm, "pre", "post", "sandwich" or "deep".
        activation: "relu", "gelu" or "swish"; gated, "reglu", "glu", "swiglu", "geglu", "bilinear".
        n_layers: blocks, 1 to 256.
        d_model: width of the stream, 1 to 32,768.
        n_heads: query heads, 1 to 256.
        n_kv_heads: key-value heads; the largest divisor of n_heads within it is built.
        head_dim: numbers of a head, 1 to 512; with "rope", the even number within it.
        d_ff: width of a feed-forward network of two matrices, up to 131,072; the three of a gated
            one are two thirds as wide.
        n_experts: feed-forward networks side by side, 1 to 256.
        n_chosen: of which a token visits so many, at most all.
        vocab_size: tokens that it knows, 1 to 1,000,000.
        length: of the text, and of a table of learned positions, up to 1,048,576.
        window: keys that a query sees with the mask "window".
        prefix_len: keys that all see with the mask "prefix", at most length.
        bias: in all matrices of attention and feed-forward.
        tied: the head is the embedding.

    Read back:
        preset: the name of the known model that has these parts, "" if there is none.
        code: the lines of `pieces` that build the model, which run as they stand.
        built: the parts that are built, where they are not as wished.
        parameters: by part, and "total".
        operations: of the matrix products of the last token of the text.
        cache: numbers that one token leaves in the cache; None where nothing can be kept.
        forward, backward: the size of the stream, and of the gradient, below the first sublayer
            and behind each, before training.
        above_floor: of the trained variant with these parts, one number a seed; None if none was.
        before: the parts before the last change; None before the first.
        measured: the trained variants.

    Raises:
        ValueError: an unknown argument, or a value that its trait refuses.
    """

    title = "The workbench"

    score = Choice("scaled", SCORES)
    mask = Choice("causal", MASKS)
    position = Choice("rope", POSITIONS)
    norm = Choice("rms", NORMS)
    place = Choice("pre", PLACES)
    activation = Choice("swiglu", ACTIVATIONS)
    n_layers = Count(2, 1, 256)
    d_model = Count(64, 1, 32_768)
    n_heads = Count(4, 1, 256)
    n_kv_heads = Count(4, 1, 256)
    head_dim = Count(16, 1, 512)
    d_ff = Count(256, 1, 131_072)
    n_experts = Count(1, 1, 256)
    n_chosen = Count(1, 1, 256)
    vocab_size = Count(496, 1, 1_000_000)
    length = Count(128, 1, 1_048_576)
    window = Count(32, 1, 1_048_576)
    prefix_len = Count(32, 1, 1_048_576)
    bias = Switch(False)
    tied = Switch(True)
    preset = Result()
    code = Result()
    built = Result()
    parameters = Result()
    operations = Result()
    cache = Result()
    forward = Result()
    backward = Result()
    above_floor = Result()
    before = Result()
    measured = Result()

    @default("measured")
    def _read_measured(self) -> dict[str, Any]:
        """The numbers of the record."""
        return trained()

    def describe(self) -> str:
        """Return the parts."""
        sizes = f"{self.n_layers} layers of {self.d_model}, {self.n_heads} heads of {self.head_dim}"
        norm = self.norm if self.norm == "none" else f"{self.norm} {self.place}"
        parts = f"{self.score} score, {self.mask} mask, positions {self.position}, norm {norm}"
        experts = f", {self.n_experts} experts" if self.n_experts > 1 else ""
        return f"{sizes}; {parts}, {self.activation}{experts}"
