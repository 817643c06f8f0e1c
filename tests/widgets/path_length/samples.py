"""PathLength: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import PathLength


def halfway(page):
    """The light is taken back three steps by hand."""
    for _ in range(3):
        page.get_by_role("button", name="Step back").click()


# A widget, and what a reader does with it.
PICTURES = {
    "as it comes": (lambda: PathLength(), None),
    "dilated": (lambda: PathLength(dilated=True, layers=5, length=1024), None),
    "too few layers": (lambda: PathLength(layers=3, first=3, second=14), None),
    "on its way": (lambda: PathLength(reach=2, layers=7, first=13, second=4), halfway),
}  # fmt: skip
