"""LinearState: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import LinearState

TWICE = "Tom red, Anna blue, Tom green, loose, Ben red, one two three, Mia kite"
MANY = ", ".join(f"n{n} w{n}" for n in range(27))


def type_a_pair(page):
    field = page.get_by_label("Pairs of a name")
    field.fill("Jo blue, Al red, Mia hat")


def go_back(page):
    page.get_by_role("slider", name="Pairs read").press("Home")


# A widget, and what a reader does with it.
PICTURES = {
    "a few": (lambda: LinearState(), None),
    "many": (lambda: LinearState(step=14, asked=1), None),
    "small": (lambda: LinearState(step=9, asked=3, size=5), None),
    "none": (lambda: LinearState(step=0), None),
    "gone back": (lambda: LinearState(step=3), go_back),
    "empty": (lambda: LinearState(text="", step=4), None),
    "twice": (lambda: LinearState(text=TWICE, step=5, asked=1), None),
    "too many": (lambda: LinearState(text=MANY, step=24, asked=24, size=3), None),
    "typed": (lambda: LinearState(step=2, asked=2), type_a_pair),
}  # fmt: skip
