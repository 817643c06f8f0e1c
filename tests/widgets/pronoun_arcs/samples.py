"""PronounArcs: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from twins import build, vocabulary

from pieces.widgets import PronounArcs


def example(text="the blue book . Tom the blue ice-cream", **more):
    """Return a PronounArcs of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    others = ["book", "ice-cream"]
    return PronounArcs.from_model(model, vocabulary=words, text=text, others=others, **more)


# A widget, and what a reader does with it.
PICTURES = {
    "story": (lambda: example(layer=2, head=3), None),
    "story's middle": (lambda: example(head=4, token=4), None),
    "another letter": (lambda: example(text="the blue word5 . Tom", head=2), type_letter("6", 6)),
}  # fmt: skip
