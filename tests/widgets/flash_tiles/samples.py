"""FlashTiles: pictures that its oracle must take, on which faults are tried."""

import torch

from pieces.widgets import FlashTiles

DRAWN = torch.Generator().manual_seed(3)
Q, K, V = ((2 * torch.randn(n, 3, generator=DRAWN)).round(decimals=1) for n in (5, 7, 7))


def point_at_the_second_row(page):
    page.locator(".p-tile-query.p-in-block").nth(1).focus()


def press_the_last_row(page):
    page.locator(".p-tile-query").last.click()
    page.mouse.move(1, 1)


# What may be told as a power of ten, by where it stands: scores, and sums that are not divided yet.
NO_CHANCE = r""
# A widget, and what a reader does with it.
PICTURES = {
    "tiles": (lambda: FlashTiles(step=6), None),
    "tiles, late": (lambda: FlashTiles(step=8, late=True, rows=2, columns=2), point_at_the_second_row),
    "tiles, causal": (lambda: FlashTiles(step=7, mask="causal", rows=3, columns=2, row=6), None),
    "tiles, other": (lambda: FlashTiles(Q=Q, K=K, V=V, step=6, rows=2, columns=3, mask="causal",
                                        row=4), None),
    "tiles, a row to come": (lambda: FlashTiles(step=9), press_the_last_row),
    "tiles, a row before": (lambda: FlashTiles(step=9, row=1), None),
    "tiles, a row of no key": (lambda: FlashTiles(Q=K, K=Q, V=Q, step=2, mask="causal", row=1), None),
    "tiles, divided": (lambda: FlashTiles(step=17), None),
    "tiles, none": (lambda: FlashTiles(step=0, mask="causal"), None),
}  # fmt: skip
