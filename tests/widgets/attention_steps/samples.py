"""AttentionSteps: pictures that its oracle must take, on which faults are tried."""

from oracle import right
from samples import X

from browser import PAINTED
from pieces.widgets import AttentionSteps

# The third row turned round: its scores are large and below 0.
NEGATIVE = [
    [-3 * x for x in row] if n == 2 else row for n, row in enumerate((X.abs() + 1).tolist())
]


def twice(page):
    """A cell that is pressed again is let go; the page remembers what is to be seen then."""
    line = page.locator(".p-work li").nth(4)
    line.click()
    page.mouse.move(0, 0)
    page.evaluate(PAINTED)
    right(page.locator(".p-work .p-on").count() == 0, "a line pressed twice stays lit")


# A widget, and what a reader does with it.
PICTURES = {
    "project": (lambda: AttentionSteps(X=X, step=0, row=3), None),
    "key": (lambda: AttentionSteps(X=X, step=1, row=3, tokens=[], column=0), None),
    "value": (lambda: AttentionSteps(X=X, step=2, row=1, column=3), None),
    "score": (lambda: AttentionSteps(X=X, step=3, row=2, column=5), None),
    "a large negative score": (lambda: AttentionSteps(X=NEGATIVE, step=3, row=1, column=0), None),
    "pressed twice": (lambda: AttentionSteps(X=X, step=3, row=2, column=5), twice),
    "scale": (lambda: AttentionSteps(X=X, step=4, row=5), None),
    "softmax": (lambda: AttentionSteps(X=X, step=5, row=4, mask="causal"), None),
    "softmax, the last row": (lambda: AttentionSteps(X=X, step=5, row=6, mask="causal"), None),
    "mix": (lambda: AttentionSteps(X=X, step=6, row=3, column=2), None),
}  # fmt: skip
