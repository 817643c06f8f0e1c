"""AttentionHeatmap: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter
from twins import build, vocabulary

from pieces.widgets import AttentionHeatmap


def example(name="attention-only", text="the blue book . Tom the blue ice-cream", **more):
    """Return an AttentionHeatmap of a small random model."""
    _, model = build(name)
    words = vocabulary(model.config.vocab_size)
    return AttentionHeatmap.from_model(model, text, vocabulary=words, **more)


def another_word(page):
    """A reader has had every head tried, and then follows another word."""
    page.locator(".p-arc-stage .p-chip").nth(4).click()
    page.mouse.move(2, 2)


REPEATED = "Tom Tom Tom Tom Tom the the the"

# A widget, and what a reader does with it.
PICTURES = {
    "a reading": (lambda: example(layer=2, head=3), None),
    "another letter": (lambda: example(text="the blue word5 . Tom", head=2), type_letter("6", 6)),
    "a head off, and another word leads": (lambda: example(off=[[1, 2]], layer=1, head=0), None),
    "four heads off": (
        lambda: example(text=REPEATED, off=[[1, 3], [2, 3], [1, 4], [2, 1]], head=4), None
    ),
    "heads that have a name": (lambda: example(text="Tom Tom Tom Tom Tom Tom", off=[[2, 4]]), None),
    "every head tried": (lambda: example(tried=8, layer=2, head=1), None),
    "tried for another word": (lambda: example(tried=8), another_word),
}  # fmt: skip
