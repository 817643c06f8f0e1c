"""MaskExplorer: pictures that its oracle must take, on which faults are tried."""

from oracle import right

from pieces.widgets import MaskExplorer


def twice(page):
    """A word that is pressed again is let go; another picture's cell stays chosen."""
    chip = page.locator(".p-chip").nth(2)
    chip.click()
    right(chip.get_attribute("aria-checked") == "true", "a word pressed once is not chosen")
    chip.click()
    right(chip.get_attribute("aria-checked") == "false", "a word pressed twice stays chosen")
    page.mouse.move(0, 0)


# A widget, and what a reader does with it.
PICTURES = {
    "causal": (lambda: MaskExplorer(T=6, flips=[[1, 4], [3, 0]], layers=2, token=2), None),
    "named": (lambda: MaskExplorer(kind="sliding_window", tokens=list("abcdefg"), window=2), None),
    "prefix": (lambda: MaskExplorer(kind="prefix", T=5, prefix_len=3, flips=[[0, 4]]), None),
    "reach": (lambda: MaskExplorer(T=7, view="reach", kind="sliding_window", layers=2,
                                   flips=[[1, 5]], token=3), None),
    "layers": (lambda: MaskExplorer(T=7, view="layers", kind="sliding_window", layers=2,
                                    flips=[[1, 4]], tokens=list("abcdefg")), None),
    "source": (lambda: MaskExplorer(T=6, view="layers", layers=3, kind="dilated", source=2), None),
    "dilated": (lambda: MaskExplorer(T=11, kind="dilated", window=3, dilation=3, token=9), None),
    "pressed twice": (lambda: MaskExplorer(T=5, tokens=list("abcde")), twice),
    "padded": (lambda: MaskExplorer(tokens=list("abcdefg"), also="padding", length=4, side="left",
                                    token=6), None),
    "padding opened": (lambda: MaskExplorer(T=6, also="padding", length=3, flips=[[1, 4], [0, 2]],
                                            view="reach", layers=2), None),
    "large": (lambda: MaskExplorer(kind="global_window", T=24, window=5, layers=3), None),
}  # fmt: skip
