"""AttentionHeatmap: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from twins import build, vocabulary

from pieces.widgets import AttentionHeatmap


def example(name="attention-only", text="the blue book . Tom the blue ice-cream", **more):
    """Return an AttentionHeatmap of a small random model."""
    _, model = build(name)
    words = vocabulary(model.config.vocab_size)
    return AttentionHeatmap.from_model(model, text, vocabulary=words, **more)


# A widget, and what a reader does with it.
PICTURES = {
    "a reading": (lambda: example(layer=2, head=3), None),
    "another letter": (lambda: example(text="the blue word5 . Tom", head=2), type_letter("6", 6)),
}  # fmt: skip
