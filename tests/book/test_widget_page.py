"""`make widget`: one widget on a page of its own, alive from disk."""

import subprocess
import sys

import pytest

from browser import ROOT, opened
from pieces import widgets

GALLERY = ROOT / "gallery"


@pytest.fixture(scope="module")
def tool():
    """The module behind `make widget`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(GALLERY)
        import widget

        yield widget


def is_alive(chromium, address):
    """The page of one widget shows it, and as narrow as it is asked to be."""
    with opened(chromium, address, width=800) as page:
        assert page.record.errors == []
        assert page.locator(".pieces-live").get_attribute("data-state") == "live"
        assert page.locator(".pieces").is_visible()
        page.get_by_role("button", name="390 px").click()
        assert page.locator("main").evaluate("(main) => main.clientWidth") <= 390


def test_the_command_writes_the_page_and_says_how_high_its_widget_is(chromium):
    command = [sys.executable, str(GALLERY / "widget.py"), "AttentionHeatmap(head=2)"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (address,) = (word for word in done.stdout.split() if word.startswith("file:"))
    is_alive(chromium, address)
    *_, head, wide, _, _, narrow = done.stdout.splitlines()
    assert head.split() == ["page", "width", "height", "reserved"]
    for line, width in ((wide, 1280), (narrow, 360)):
        asked, height, reserved = map(int, line.split())
        assert asked == width
        assert -60 < reserved - height < 100


@pytest.mark.parametrize(
    "call",
    [
        "MaskExplorer",
        'MaskExplorer(kind="prefix", T=6)',
        'PredictNumber(question="1 + 1?", answer=2)',
    ],
)
def test_the_page_is_alive(chromium, tool, tmp_path, call):
    is_alive(chromium, tool.write(tool.made(call), tmp_path).as_uri())


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("NormAxes(eps=9)", "eps = 9: .* Remedy: "),
        (
            "RotaryClok",
            r"NAME=RotaryClok: there is no src/pieces/widgets/rotary_clok\.py\. Give one of ",
        ),
        ("Traits", "is not registered: .*\n  from pieces.widgets.traits import Traits as Traits"),
        *((call, f"one of {', '.join(sorted(widgets.__all__))}") for call in ("", "print(1)")),
    ],
)
def test_one_that_cannot_be_made_is_told_in_a_line(tool, call, told):
    with pytest.raises(SystemExit, match=told):
        tool.made(call)
