"""ScoreFunctions: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import ScoreFunctions


def hotter(page):
    """The temperature goes up: bars and balance keep what was before."""
    page.was = {"temperature": 2.0}
    page.locator("[data-trait=temperature] input").fill("5")


def another_score(page):
    """The same query and keys under another score: the ground is another."""
    page.get_by_label("score", exact=True).select_option("additive")


def again(page):
    """Other keys are drawn: the ground is another."""
    page.get_by_role("button", name="Draw again").click()


# What may be told as a power of ten, by where it stands.
NO_CHANCE = r"score|output|weight × value|value"
# A widget, and what a reader does with it.
PICTURES = {
    "plane": (lambda: ScoreFunctions(temperature=2.0, n_keys=5, query_x=1.4, query_y=-0.8), None),
    "hotter": (lambda: ScoreFunctions(temperature=2.0, n_keys=5), hotter),
    "compared": (lambda: ScoreFunctions(n_keys=4), another_score),
    "drawn again": (lambda: ScoreFunctions(n_keys=6), again),
    "additive": (lambda: ScoreFunctions(score="additive", n_keys=4), None),
    "curve": (lambda: ScoreFunctions(score="dot", K=64, n_keys=6, temperature=2.0), None),
    "learned": (lambda: ScoreFunctions(score="additive", K=256, n_keys=4), None),
    "bilinear": (lambda: ScoreFunctions(score="bilinear", K=16, n_keys=9, temperature=0.5), None),
    "silenced": (lambda: ScoreFunctions(score="dot", query_x=0.4, query_y=1.8), None),
    "line": (lambda: ScoreFunctions(score="dot", K=1, n_keys=3), None),
}  # fmt: skip
