"""`make widget`: one widget on a page of its own, alive from disk."""

import subprocess
import sys

import pytest

import pieces.widgets
from browser import ROOT, opened

SCRIPT = ROOT / "gallery" / "widget.py"
CALLS = [
    "MaskExplorer",
    'MaskExplorer(kind="prefix", T=6)',
    "AttentionHeatmap(head=2)",
    'PredictNumber(question="1 + 1?", answer=2)',
]


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("call", CALLS)
def test_the_page_is_alive(chromium, call):
    said = run(call)
    assert said.returncode == 0, said.stderr
    (address,) = (word for word in said.stdout.split() if word.startswith("file:"))
    with opened(chromium, address, width=800) as page:
        assert page.record.errors == []
        assert page.locator(".pieces-live").get_attribute("data-state") == "live"
        assert page.locator(".pieces").is_visible()
        page.get_by_role("button", name="390 px").click()
        assert page.locator("main").evaluate("(main) => main.clientWidth") <= 390


@pytest.mark.parametrize("call", ["", "Nope", "print(1)"])
def test_another_name_is_refused_in_words(call):
    said = run(call)
    assert said.returncode == 1
    assert f"one of {', '.join(sorted(pieces.widgets.__all__))}" in said.stderr
