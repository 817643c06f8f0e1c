"""The built site: made once if it is missing or older than its sources, and served from here."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import ROOT, served

SOURCES = (
    "chapters",
    "src",
    "_ext",
    "_static",
    "_templates",
    "_config.yml",
    "_toc.yml",
    "index.md",
    "references.bib",
)


def newest(*places: Path) -> float:
    """Return when the newest file of some places was written."""
    files = [f for place in places for f in (place.rglob("*") if place.is_dir() else [place])]
    return max(f.stat().st_mtime for f in files if f.is_file() and "__pycache__" not in f.parts)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site; PIECES_SITE names another one."""
    if given := os.environ.get("PIECES_SITE"):
        return Path(given)
    built = ROOT / "_build" / "html"
    stamp = built / "_static" / "pieces" / "pieces.css"  # written by every build
    if not stamp.exists() or stamp.stat().st_mtime < newest(*(ROOT / name for name in SOURCES)):
        done = subprocess.run(["make", "book"], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            stamp.unlink(missing_ok=True)  # else the next run would test what this one left
            pytest.fail(done.stdout[-3000:] + done.stderr[-3000:])
    return built


@pytest.fixture(scope="session")
def home(site: Path) -> Iterator[str]:
    """The address of the served site."""
    with served(site) as address:
        yield address


@pytest.fixture
def address(request, site: Path, home: str) -> str:
    """The site's address, "http" or "disk" as the test's parameter says."""
    return home if request.param == "http" else site.as_uri()
