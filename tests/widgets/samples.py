"""One example of each widget of the book, for the tests that hold for all of them."""

import pieces.widgets
from pieces import masks

EXAMPLES = {
    "FillMask": lambda **more: pieces.widgets.FillMask(
        **{"question": "Fill in a causal mask.", "answer": masks.causal(4), "why": "j <= i."} | more
    ),
    "PredictNumber": lambda **more: pieces.widgets.PredictNumber(
        **{"question": "What is 1/4?", "answer": 0.25, "hint": "Divide.", "why": "1 : 4."} | more
    ),
}
NAMES = pieces.widgets.__all__


def example(name, **more):
    """Return a widget by its class name; `more` are arguments."""
    return EXAMPLES.get(name, getattr(pieces.widgets, name))(**more)
