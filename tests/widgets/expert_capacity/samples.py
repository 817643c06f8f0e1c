"""ExpertCapacity: pictures that its oracle must take, on which faults are tried."""

from browser import PAINTED
from pieces.widgets import ExpertCapacity


def fewer(page):
    """From sixteen experts to five, of which a word still visits three."""
    page.locator("[data-trait=n_experts] input").fill("5")
    page.evaluate(PAINTED)


def again(page):
    """Other scores are drawn."""
    page.get_by_role("button", name="Draw again").click()
    page.evaluate(PAINTED)


# A widget, and what a reader does with it.
PICTURES = {
    "a favourite": (lambda: ExpertCapacity(lead=2.0), None),
    "two visits": (lambda: ExpertCapacity(k=2, lead=1.5, n_experts=6, noise=0.5,
                                          capacity=0.75), None),
    "fewer experts": (lambda: ExpertCapacity(n_experts=16, k=3, n_tokens=128, noise=2.0), fewer),
    "drawn again": (lambda: ExpertCapacity(lead=0.0, n_tokens=32, seed=9999), again),
    "room for all": (lambda: ExpertCapacity(n_experts=3, capacity=4.0, noise=1.0), None),
    "one is dropped": (lambda: ExpertCapacity(lead=0.0, seed=5), None),
}  # fmt: skip
