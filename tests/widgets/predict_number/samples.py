"""PredictNumber: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import PredictNumber


def example(**more):
    """Return one with a question; `more` are arguments."""
    return PredictNumber(
        **{"question": "What is 1/4?", "answer": 0.25, "hint": "Divide.", "why": "1 : 4."} | more
    )


def right_number(page):
    page.get_by_label("Your answer").fill("0.254")
    page.get_by_label("Your answer").press("Enter")


# A widget, and what a reader does with it.
PICTURES = {
    "predict": (lambda: PredictNumber(question="1/4?", answer=0.25), right_number),
}  # fmt: skip
