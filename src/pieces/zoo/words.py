"""The words of a row: as the table prints them, and as the sources have them."""

from pieces.checks import checked
from pieces.zoo.row import Architecture, Row

# Each column of words, and the fields of an architecture that it speaks of.
COLUMNS = {
    "norm": ("norm", "arrangement"),
    "position": ("position",),
    "activation": ("feed_forward",),
}
PLACES = {"post, DeepNorm": "Post Deep", "sandwich": "Pre+Post RMS"}
RELATIVE = ("Transformer-XL", "T5 buckets")


@checked
def built_words(a: Architecture) -> dict[str, str]:
    """An architecture in the words of the table: "Pre RMS", "RoPE", "SwiGLU"."""
    norm = "RMS" if a.norm.startswith("RMSNorm") else "Layer"
    position = "Learned" if a.position == "learned" else a.position
    return {
        "norm": PLACES.get(a.arrangement, f"Pre {norm}"),
        "position": "Relative" if position in RELATIVE else position,
        "activation": a.feed_forward.removesuffix(" by tanh"),
    }


@checked
def sourced_words(row: Row) -> dict[str, str | None]:
    """A row by its sources: what the table says wrongly is put right, and a blank is filled.

    None where nothing but an assumption would fill it.
    """
    built = built_words(row.built)
    assumed = {field for one in row.sources if one.assumed for field in one.fields.split()}
    words = {}
    for column, fields in COLUMNS.items():
        printed = getattr(row.printed, column)
        known = printed == built[column] or not assumed.intersection(fields)
        words[column] = built[column] if known else printed
    return words
