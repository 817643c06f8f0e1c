"""The colours of the roles, by computation: apart for every sight, legible, in light and dark."""

import itertools
import re

import pytest
from colours import SIGHTS, apart, ciede2000, contrast, rgb

from browser import ROOT
from pieces.book import plot
from pieces.widgets.base import STATIC

ROLES = ("query", "key", "value", "score", "weight", "output", "residual")
THEMES = ("light", "dark")
# From Sharma, Wu and Dalal 2005, table 1.
PAIRS = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1, 2), (50, 0, 0), 2.3669),
    ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, 2.5, 0), (58, 24, 15), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
]


def palette(theme):
    """Return the colours of a theme as the style sheet has them, by name."""
    css = (STATIC / "kit" / "kit.css").read_text(encoding="utf-8")
    blocks = re.findall(r"\{([^{}]*--p-paper:[^{}]*)\}", css)[:2]
    found = re.findall(r"--p-([a-z]+):\s*(#[0-9a-f]{6})", blocks[THEMES.index(theme)])
    return {name: rgb(colour) for name, colour in found}


def shade(paper, end, share):
    """Return the colour of a cell whose value is this share of the largest (static/kit/ramp.js)."""
    part = share**0.85
    return [round(a + (b - a) * part) for a, b in zip(paper, end, strict=True)]


@pytest.mark.parametrize(("one", "two", "distance"), PAIRS)
def test_the_distance_is_that_of_the_paper(one, two, distance):
    assert abs(ciede2000(one, two) - distance) < 5e-5
    assert abs(ciede2000(two, one) - distance) < 5e-5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
class TestApart:
    def test_roles(self, theme, sight):
        c = palette(theme)
        near = {
            f"{a} {b}": round(apart(c[a], c[b], sight), 1)
            for a, b in itertools.combinations(ROLES, 2)
        }
        assert {pair: far for pair, far in near.items() if far < 10} == {}

    @pytest.mark.parametrize("role", ROLES)
    def test_signs_of_a_map(self, theme, sight, role):
        c = palette(theme)
        for share in (0.8, 0.87, 1.0):
            plus, minus = (shade(c["paper"], c[end], share) for end in (role, "negative"))
            assert apart(plus, minus, sight) >= 20

    def test_signs_of_the_residual_stream(self, theme, sight):
        """Its grey is that of ink half-way to the paper, so its negative numbers tend to blue."""
        c = palette(theme)
        for share in (0.3, 0.5, 0.8, 1.0):
            minus = shade(c["paper"], c["accent"], share)
            assert apart(shade(c["paper"], c["residual"], 1.0), minus, sight) >= 14

    def test_a_sign_and_no_sign(self, theme, sight):
        """Half of the largest is already not paper."""
        c = palette(theme)
        for end in (*ROLES, "negative"):
            assert apart(shade(c["paper"], c[end], 0.5), c["paper"], sight) >= 10, end


@pytest.mark.parametrize("theme", THEMES)
class TestLegible:
    def test_words_in_a_roles_colour(self, theme):
        c = palette(theme)
        for name in (*ROLES, "ink", "faint", "accent", "leak"):
            for ground in ("paper", "soft"):
                assert contrast(c[name], c[ground]) >= 4.5, f"{name} on {ground}"

    def test_rings_and_lines(self, theme):
        """A ring stands on its halo of paper, whatever the cell's colour is."""
        c = palette(theme)
        for name in ("leak", "ink", "negative", *ROLES):
            assert contrast(c[name], c["paper"]) >= 3, name

    def test_numbers_in_cells(self, theme):
        """Ink, paper, black or white: one of them can always be read (readable in ramp.js)."""
        c = palette(theme)
        pens = (c["ink"], c["paper"], (0, 0, 0), (255, 255, 255))
        for end in (*ROLES, "negative"):
            for step in range(65):
                cell = shade(c["paper"], c[end], step / 64)
                assert max(contrast(cell, pen) for pen in pens) >= 4.5, (end, step)


def test_figures_have_the_colours_of_the_widgets():
    c = palette("light")
    for role, colour in plot.ROLE.items():
        assert rgb(colour) == c[role], role


def test_drawings_have_the_colours_of_the_widgets():
    known = {tuple(colour) for colour in palette("light").values()}
    for path in (ROOT / "src" / "pieces" / "book" / "drawings").glob("*.svg"):
        used = re.findall(r'"(#[0-9a-f]{6})"', path.read_text(encoding="utf-8"))
        assert {colour for colour in used if tuple(rgb(colour)) not in known} == set(), path.name
