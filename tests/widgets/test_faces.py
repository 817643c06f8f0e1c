"""The heights kept for widgets hold on any machine, because the book brings its own text face."""

import shutil
from pathlib import Path

import matplotlib
import pytest
from samples import NAMES, example

from browser import ARGUMENTS, executable, opened, space

# All that this machine has: STIX, which has the measures of Times, a fifth narrower than DejaVu.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>"""


@pytest.fixture(scope="module")
def elsewhere(chromium, tmp_path_factory):
    """A browser of a machine with other fonts."""
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "fonts.conf").write_text(FONTS.format(folder=folder), encoding="utf-8")
    shipped = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name in ("STIXGeneral.ttf", "STIXGeneralBol.ttf"):
        shutil.copy(shipped / name, folder)
    there = chromium.browser_type.launch(
        executable_path=executable(),
        args=list(ARGUMENTS),
        env={"FONTCONFIG_FILE": str(folder / "fonts.conf")},
    )
    yield there
    there.close()


@pytest.fixture(scope="module")
def all_of_them(bench):
    """A page with every widget, in the book's own face, and one in the machine's."""
    return {faced: bench.url(*map(example, NAMES), faced=faced) for faced in (True, False)}


def heights(browser, url, width):
    """Return what is kept for each widget of a page, and how high it is, in px."""
    with opened(browser, url, width=width) as page:
        places = page.locator(".pieces-live").all()
        return dict(zip(NAMES, map(space, places), strict=True))


def jumps(found):
    return {name: both for name, both in found.items() if not -60 < both[0] - both[1] < 100}


@pytest.mark.parametrize("width", [1280, 430, 360])
def test_they_hold_with_other_fonts(elsewhere, all_of_them, width):
    assert jumps(heights(elsewhere, all_of_them[True], width)) == {}


def test_without_its_face_they_would_not(elsewhere, chromium, all_of_them):
    """So the fonts are others indeed, and it is the face that keeps the heights."""
    here, there = (heights(one, all_of_them[False], 430) for one in (chromium, elsewhere))
    other = [name for name in NAMES if abs(here[name][1] - there[name][1]) > 8]
    assert len(other) > len(NAMES) / 2
