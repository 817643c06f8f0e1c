"""CacheMeter: what the keys and values of a text take, and whether the card has room for them."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Real, Result

SCHEMES = ("full", "grouped", "single", "window", "latent")
PRECISIONS = ("float32", "float16", "int8", "int4")


class CacheMeter(PieceWidget):
    """Five ways to keep keys and values, side by side, beside the weights on one card.

    Args:
        n_layers: layers, 1 to 160.
        n_heads: query heads H, 1 to 128.
        n_kv_heads: key-value heads G of the grouped scheme and of the window, 1 to 128; of those
            that do not divide the heads, the next smaller divisor is used.
        head_dim: head size K, 8 to 512.
        window: keys that a window keeps, 1 to 131,072.
        latent: numbers of a latent vector, 1 to 4,096.
        carried: numbers beside it that carry the position, 0 to 512.
        context: tokens of each text, 128 to 1,048,576.
        batch: texts at once, 1 to 256.
        precision: of the cache, "float32", "float16", "int8" or "int4".
        weights: of the model, in GB, 0 to 2,000.
        active: what a step reads of them, in GB; at most all.
        memory: of the card, in GB, 1 to 2,000.
        bandwidth: of its memory, in GB/s, 10 to 20,000.
        scheme: which row is worked out, "full" (a key-value head for each head), "grouped",
            "single" (one for all), "window" or "latent".

    Read back:
        preset: the name of the known model that has these sizes, "" if there is none.

    Read back, each by scheme:
        token_bytes: what one more token of one text takes.
        cache_bytes: what all texts take.
        longest: tokens of a text that still fit, None where no length is too long.
        speed: tokens a second at most, if all fits and reading is all that takes time.
        operations: additions and multiplications with the cache, for one more token of a text.
        before: the cache_bytes before the last change.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Does the cache fit on the card?"

    n_layers = Count(80, 1, 160)
    n_heads = Count(64, 1, 128)
    n_kv_heads = Count(8, 1, 128)
    head_dim = Count(128, 8, 512)
    window = Count(4096, 1, 131072)
    latent = Count(512, 1, 4096)
    carried = Count(64, 0, 512)
    context = Count(4096, 128, 1048576)
    batch = Count(1, 1, 256)
    precision = Choice("float16", PRECISIONS)
    weights = Real(138, 0, 2000)
    active = Real(138, 0, 2000)
    memory = Real(160, 1, 2000)
    bandwidth = Real(4000, 10, 20000)
    scheme = Choice("grouped", SCHEMES)
    preset = Result()
    token_bytes = Result()
    cache_bytes = Result()
    longest = Result()
    speed = Result()
    operations = Result()
    before = Result()

    def describe(self) -> str:
        """Return the sizes, the text and the card."""
        heads = f"{self.n_heads} heads, {self.n_kv_heads} of keys and values"
        model = f"{self.n_layers} layers, {heads}, size {self.head_dim}"
        texts = f"{self.batch} text{'s' * (self.batch > 1)} of {self.context:,} tokens"
        return f"{model}; {texts} in {self.precision}, {self.memory:g} GB of memory"
