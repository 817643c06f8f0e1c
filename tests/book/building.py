"""The site is built by one process at a time: two at once would write over each other."""

import subprocess

import pytest
from filelock import FileLock

from browser import ROOT

SITE = ROOT / "_build" / "html"
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
STAMP = SITE / "_static" / "pieces" / "pieces.css"  # written by every build


def alone() -> FileLock:
    """Return what a process holds while it builds."""
    SITE.parent.mkdir(exist_ok=True)
    return FileLock(SITE.parent / "html.lock")


def make_book() -> str:
    """Build the site, and return what was said."""
    done = subprocess.run(["make", "book"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        STAMP.unlink(missing_ok=True)  # else the next run would test what this one left
        pytest.fail(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout


def newest() -> float:
    """Return when the newest of the site's sources was written."""
    places = (ROOT / name for name in SOURCES)
    files = [f for place in places for f in (place.rglob("*") if place.is_dir() else [place])]
    return max(f.stat().st_mtime for f in files if f.is_file() and "__pycache__" not in f.parts)


def is_stale() -> bool:
    """Whether the site is missing, or older than its sources."""
    return not STAMP.exists() or STAMP.stat().st_mtime < newest()
