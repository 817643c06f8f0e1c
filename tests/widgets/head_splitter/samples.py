"""HeadSplitter: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import HeadSplitter


def open_table(page):
    page.locator("details:has(> .p-tables)").evaluate("(one) => { one.open = true; }")


def another_silence(page):
    """Another head is silenced: other numbers come back."""
    open_table(page)
    page.locator("[data-trait=silenced] input").press("ArrowRight")


def another_size(page):
    """One token more, and a new table."""
    page.locator("[data-trait=T] input").press("ArrowRight")


# What may be told as a power of ten, by where it stands.
NO_CHANCE = r"The queries|The keys|The values"
# A widget, and what a reader does with it.
PICTURES = {
    "splitter": (lambda: HeadSplitter(B=2, T=3, heads=3, head_dim=2, step=2), open_table),
    "splitter's view": (lambda: HeadSplitter(T=5, heads=4, head_dim=3, step=1, silenced=4), None),
    "splitter's silence": (lambda: HeadSplitter(B=2, T=6, heads=3, head_dim=3, step=4,
                                                silenced=2), open_table),
    "another silence": (lambda: HeadSplitter(B=2, T=3, heads=3, head_dim=3, step=5, silenced=1),
                        another_silence),
    "another size": (lambda: HeadSplitter(T=3, heads=3, head_dim=3, step=2), another_size),
    "another size in silence": (lambda: HeadSplitter(B=2, T=3, heads=3, head_dim=2, step=5,
                                                     silenced=2), another_size),
    "splitter's mix": (lambda: HeadSplitter(heads=4, head_dim=2, step=6, silenced=1), open_table),
}  # fmt: skip
