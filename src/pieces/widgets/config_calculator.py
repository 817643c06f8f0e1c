"""ConfigCalculator: from the sizes of a LLaMA to parameters, memory and a bound on its speed."""

from collections.abc import Mapping
from typing import Any

from pieces.checks import require
from pieces.models.gemma import GemmaConfig
from pieces.models.llama import LlamaConfig
from pieces.models.mistral import MistralConfig
from pieces.models.qwen2 import Qwen2Config
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Even, Real, Result, Switch

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff",
         "max_seq_len", "window", "tied", "bias", "ff_bias")  # fmt: skip
KINDS = (LlamaConfig, MistralConfig, Qwen2Config, GemmaConfig)
DTYPES = ("float32", "bfloat16", "int8", "int4")


class ConfigCalculator(PieceWidget):
    """Every size of a LLaMA, its parameters by part, its memory, and a bound on its speed.

    Args:
        vocab_size: tokens that it knows, 1 to 1,000,000.
        d_model: width of the stream, 2 to 32,768.
        n_layers: blocks, 1 to 256.
        n_heads: query heads, 1 to 256.
        n_kv_heads: key and value heads, a divisor of n_heads; left out, n_heads. Where the reader
            turns n_heads later, the wish is kept, and the largest divisor within it is counted.
        head_dim: numbers of a head, even, 2 to 512; left out, d_model / n_heads.
        d_ff: width of the feed-forward network, 1 to 131,072.
        max_seq_len: the longest text, 1 to 1,048,576 tokens.
        window: keys that a query sees, up to 1,048,576; 0 for all.
        tied: the head is the embedding.
        bias: in the matrices of attention.
        out_bias: whether the last of the four has one with the others; Qwen2's has none.
        ff_bias: in the three of the feed-forward network.
        length: tokens in the cache, up to max_seq_len, which bounds what is counted later, too.
        batch: texts at once, 1 to 1,024.
        weights_dtype: "float32", "bfloat16", "int8" or "int4", in which the weights are kept.
        cache_dtype: the same for keys and values.
        bandwidth: of the memory, in GB a second, 1 to 100,000.

    Read back:
        preset: the name of the known model that has these sizes, "" if there is none.
        parameters: by part, and "total".
        operations: of the matrix products of one token.
        cache_bytes: keys and values of the whole batch.
        memory: bytes of "inference" and of "training", each by part.
        bytes_read: of weights and cache, in one step.
        tokens_per_second: at most, if the memory had nothing else to do.
        before: the sizes before the last change; empty before the first.

    Raises:
        ValueError: an unknown argument, a value out of range, sizes that do not fit together.
    """

    title = "What a config costs"

    vocab_size = Count(32_000, 1, 1_000_000)
    d_model = Count(4096, 2, 32_768)
    n_layers = Count(32, 1, 256)
    n_heads = Count(32, 1, 256)
    n_kv_heads = Count(32, 1, 256)
    head_dim = Even(128, 2, 512)
    d_ff = Count(11_008, 1, 131_072)
    max_seq_len = Count(2048, 1, 1_048_576)
    window = Count(0, 0, 1_048_576)
    tied = Switch(False)
    bias = Switch(False)
    out_bias = Switch(True)
    ff_bias = Switch(False)
    length = Count(2048, 1, 1_048_576)
    batch = Count(1, 1, 1024)
    weights_dtype = Choice("bfloat16", DTYPES)
    cache_dtype = Choice("bfloat16", DTYPES)
    bandwidth = Real(3350.0, 1.0, 100_000.0)
    preset = Result()
    parameters = Result()
    operations = Result()
    cache_bytes = Result()
    memory = Result()
    bytes_read = Result()
    tokens_per_second = Result()
    before = Result()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        remedy = "as in LlamaConfig"
        if "n_kv_heads" not in kwargs:
            self.n_kv_heads = self.n_heads
        if "head_dim" not in kwargs:
            rule = f"a multiple of n_heads = {self.n_heads}, if head_dim is left out"
            require(self.d_model % self.n_heads == 0, "d_model", self.d_model, rule, remedy)
            self.head_dim = self.d_model // self.n_heads
        rule = f"a divisor of n_heads = {self.n_heads}"
        require(self.n_heads % self.n_kv_heads == 0, "n_kv_heads", self.n_kv_heads, rule, remedy)
        if "length" not in kwargs:
            self.length = self.max_seq_len
        rule = f"at most max_seq_len = {self.max_seq_len}"
        require(self.length <= self.max_seq_len, "length", self.length, rule, "shorten it")

    @classmethod
    def of(cls, config: LlamaConfig, **more: Any) -> "ConfigCalculator":
        """Return the calculator with the sizes of a LLaMA, a Mistral, a Qwen2 or a Gemma."""
        names = ", ".join(kind.__name__ for kind in KINDS)
        require(type(config) in KINDS, "config", config, f"one of {names}", "pass one of these")
        first = getattr(config, "first_window_layer", 0)
        partly = bool(first and getattr(config, "window", None))
        rule = "one window in all layers, or none"
        require(not partly, "first_window_layer", first, rule, "leave the window out")
        own = {name: getattr(config, name, None) for name in SIZES}
        given = {name: value for name, value in own.items() if value is not None}
        given["out_bias"] = not isinstance(config, Qwen2Config)
        return cls(**given | more)

    @classmethod
    def revived(cls, state: Mapping[str, Any]) -> "ConfigCalculator":
        """Return the widget of a saved state, in which wishes may not fit each other."""
        widget = cls()
        for name in cls.inputs():
            if name in state:
                setattr(widget, name, state[name])
        return widget

    def counted(self) -> dict[str, int | bool]:
        """Return the sizes that are counted: the wishes, as far as they go together."""
        sizes = {name: getattr(self, name) for name in SIZES}
        kv_heads = range(min(self.n_kv_heads, self.n_heads), 0, -1)
        return sizes | {"n_kv_heads": next(n for n in kv_heads if self.n_heads % n == 0)}

    def config(self) -> MistralConfig | Qwen2Config:
        """Return these sizes as a config, from which `mistral` or `qwen2` builds the model."""
        kind = Qwen2Config if self.bias and not self.out_bias else MistralConfig
        return kind(**self.counted() | {"window": self.window or None})

    def describe(self) -> str:
        """Return the sizes that count most."""
        kv_heads = self.counted()["n_kv_heads"]
        heads = f"{self.n_heads} head{'s' * (self.n_heads > 1)} of size {self.head_dim}"
        heads += f" ({kv_heads} for keys and values)"
        others = f"a d_ff of {self.d_ff:,} and a vocabulary of {self.vocab_size:,}"
        layers = f"{self.n_layers} layer{'s' * (self.n_layers > 1)}"
        return f"{layers} of width {self.d_model:,}, {heads}, {others}"
