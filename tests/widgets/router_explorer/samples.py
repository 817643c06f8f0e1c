"""RouterExplorer: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from twins import build, vocabulary

from pieces.widgets import RouterExplorer


def example(text="the blue book . Tom the blue ice-cream", **more):
    """Return a RouterExplorer of a small random model."""
    _, model = build("mixtral")
    words = vocabulary(model.config.vocab_size)
    return RouterExplorer.from_model(model, text, vocabulary=words, **more)


TYPED = "One sunny day, Lily found a red ball. She"  # "bell" is a word as well
# A widget, and what a reader does with it.
PICTURES = {
    "routes": (lambda: RouterExplorer(token=18), None),
    "routes, shut": (lambda: RouterExplorer(layer=2, token=7, closed=[[2, 2], [1, 4]],
                                            capacity=0.75), None),
    "another letter": (lambda: RouterExplorer(text=TYPED), type_letter("e", 7)),
    "a tie": (lambda: RouterExplorer(text="ball"), None),
}  # fmt: skip
