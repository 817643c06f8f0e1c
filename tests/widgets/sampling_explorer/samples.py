"""SamplingExplorer: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from twins import build, vocabulary

from pieces.widgets import SamplingExplorer


def example(text="the blue book . Tom the blue ice-cream", **more):
    """Return a SamplingExplorer of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    return SamplingExplorer.from_model(model, text, vocabulary=words, **more)


TYPED = "There once was a kind boy named Max. He had a red ball. One day, he took the red"  # "bell" is a word as well
# A widget, and what a reader does with it.
PICTURES = {
    "writer": (lambda: SamplingExplorer(temperature=1.4, top_k=6, top_p=0.7, seed=3), None),
    "writer's world": (lambda: SamplingExplorer(written=["met", "a"], temperature=0.7), None),
    "writer's other": (lambda: SamplingExplorer(text="In a quiet street there lived a kind boy "
                                                "named Tom. He found"), None),
    "writer astray": (lambda: SamplingExplorer(written=["took", "zebra", "clouds", "a"]), None),
    "another letter": (lambda: SamplingExplorer(text=TYPED), type_letter("e", 28)),
}  # fmt: skip
