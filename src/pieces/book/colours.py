"""The colours of figures: one for each role, on a light page and on a dark one.

They are those of the widgets (static/kit/kit.css); a test compares.
"""

import matplotlib as mpl

ROLE = {
    "query": "#133b8f",
    "key": "#946400",
    "value": "#004f00",
    "score": "#933934",
    "weight": "#8b51ad",
    "output": "#006175",
    "residual": "#5c6060",
    "negative": "#070b12",
}
DARK = {  # the same roles on a dark page
    "query": "#95a9fe",
    "key": "#dbbb4a",
    "value": "#44ab70",
    "score": "#f15b31",
    "weight": "#aa6af0",
    "output": "#2dc9cd",
    "residual": "#7e908d",
    "negative": "#ebfcdc",
}
PAPER = ("#ffffff", "#14181e")  # a light page and a dark one
INK, FAINT = "#010203", "#010204"  # stand-ins, replaced by the reader's text colour
ON_STRONG = "#010205"  # another, replaced by the colour of the page
# What a number on a cell may be written in: how it looks on a light page and on a dark one.
TONES = {INK: ("#1f2328", "#ced6dd"), ON_STRONG: PAPER} | {
    c: (c, c) for c in ("#ffffff", "#000000")
}


def tone(role: str, share: float) -> str:
    """Return the colour of a number on a cell that is easiest to read on both pages."""

    def light(colour, paper="#ffffff", share=1.0):
        mixed = zip(*map(mpl.colors.to_rgb, (colour, paper)), strict=True)
        red, green, blue = (
            ((share * a + (1 - share) * b + 0.055) / 1.055) ** 2.4 for a, b in mixed
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    cells = [
        light(ends[role], paper, share) for ends, paper in zip((ROLE, DARK), PAPER, strict=True)
    ]

    def contrast(ink):
        pairs = zip(cells, map(light, TONES[ink]), strict=True)
        return min(max(a, b) / min(a, b) for a, b in pairs)

    return max(TONES, key=contrast)
