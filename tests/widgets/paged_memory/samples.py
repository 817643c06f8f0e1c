"""PagedMemory: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import PagedMemory

FULL = [(0, 8, 16), (0, 8, 16), (0, 9, 15), (1, 10, 14), (1, 8, 16)]  # more than there is room for


def focus_on_the_second(page):
    page.locator(".p-request").nth(1).focus()


# A widget, and what a reader does with it.
PICTURES = {
    "pages": (lambda: PagedMemory(step=8), None),
    "pages, shared": (lambda: PagedMemory(step=9, shared=True, followed=4), None),
    "pages, full": (lambda: PagedMemory(requests=FULL, step=11, block_size=2, prefix=5,
                                        shared=True), focus_on_the_second),
    "pages, large blocks": (lambda: PagedMemory(requests=FULL, step=14, block_size=9), None),
    "pages, blocks through": (lambda: PagedMemory(step=22), None),
    "a request that has to wait again": (lambda: PagedMemory(step=11), None),
    "a step later": (lambda: PagedMemory(step=12), None),
    "pages, over": (lambda: PagedMemory(step=60, block_size=1), None),
    "pages, none": (lambda: PagedMemory(step=0), None),
}  # fmt: skip
