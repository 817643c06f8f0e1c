"""RotaryClock: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import RotaryClock


def one_on(page):
    """The query's word goes one place on, and each hand leaves a ghost where it stood."""
    page.was = {"i": 6, "j": 2}
    page.locator("[data-grip=i]").press("ArrowRight")


def both_on(page):
    """Both words go two places on: no angle between two hands has changed."""
    page.was = {"i": 7, "j": 3}
    for _ in range(2):
        page.locator("[data-grip=both]").press("ArrowRight")
        page.wait_for_timeout(800)  # two changes, not one drag


# What may be told as a power of ten, by where it stands: an angle.
NO_CHANCE = r""
# A widget, and what a reader does with it.
PICTURES = {
    "clock": (lambda: RotaryClock(i=9, j=3, pair=0), None),
    "clock moved": (lambda: RotaryClock(i=6, j=2, pair=1), one_on),
    "clock, both moved": (lambda: RotaryClock(i=6, j=2, pair=1), both_on),
    "clock's score": (lambda: RotaryClock(view="score", i=10, j=1, peak=20), None),
    "clock's pairs": (lambda: RotaryClock(view="pairs", pair=2, pairing="mixed"), None),
    "clock's neighbours": (lambda: RotaryClock(view="pairs", pair=3, pairing="interleaved"), None),
    "clock, far": (lambda: RotaryClock(view="scaling", skip=250), None),
    "clock slowed": (lambda: RotaryClock(view="scaling", skip=50, scaling="yarn", factor=4), None),
    "clock by LLaMA 3": (lambda: RotaryClock(view="scaling", skip=200, scaling="llama3"), None),
    "clock, dynamic": (lambda: RotaryClock(view="scaling", skip=100, scaling="dynamic"), None),
}  # fmt: skip
