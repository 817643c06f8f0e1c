"""A second build with nothing changed reads nothing again, and leaves the same site."""

import hashlib
import subprocess

from browser import ROOT

SITE = ROOT / "_build" / "html"


def built():
    done = subprocess.run(["make", "book"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    files = (path for path in SITE.rglob("*") if path.is_file())
    return done.stdout, {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_nothing_changed_is_nothing_to_do():
    _, first = built()
    said, second = built()
    assert "0 added, 0 changed, 0 removed" in said
    assert second == first
