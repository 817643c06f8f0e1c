"""FillMask: pictures that its oracle must take, on which faults are tried."""

from pieces import masks
from pieces.widgets import FillMask


def example(**more):
    """Return one with a question; `more` are arguments."""
    return FillMask(
        **{"question": "Fill in a causal mask.", "answer": masks.causal(4), "why": "j <= i."} | more
    )


def wrong_fill(page):
    """A reader's try at the mask: the main diagonal, checked, its faults outlined."""
    board = page.locator(".p-board")
    for i in range(3):
        board.press("Escape")
        for key in ["ArrowDown"] * (i + 1) + ["ArrowRight"] * i + ["Enter"]:
            board.press(key)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Show which").click()


# A widget, and what a reader does with it.
PICTURES = {
    "fill": (lambda: FillMask(question="Causal?", answer=masks.causal(3, 4), rows=list("abc"),
                              columns=list("wxyz")), wrong_fill),
    "no mask": (lambda: FillMask(question="Which?", answer=masks.causal(4), rows=list("abcd"),
                                 marks=["turned by it", "not turned"]), wrong_fill),
}  # fmt: skip
