"""A second build: with nothing changed it reads nothing again, and a failed one is not built on."""

import hashlib
import shutil
import subprocess

import pytest

from browser import ROOT
from building import SITE, alone, is_stale, make_book


def built():
    files = (path for path in SITE.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_nothing_changed_is_nothing_to_do():
    with alone():
        if is_stale():
            make_book()
        first, said, second = built(), make_book(), built()
    assert "0 added, 0 changed, 0 removed" in said
    assert second == first


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_failed_build_has_read_is_forgotten(tmp_path, fails):
    """Else the next build would find nothing changed, and call pages without results built."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    command = tmp_path / ".venv" / "bin" / "jupyter-book"
    read = tmp_path / "_build" / ".doctrees"
    command.parent.mkdir(parents=True)
    read.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\nexit {int(fails)}\n", encoding="utf-8")
    command.chmod(0o755)
    done = subprocess.run(
        ["make", "--assume-old=.venv/.ready", "book"], cwd=tmp_path, capture_output=True, text=True
    )
    assert bool(done.returncode) == fails, done.stderr
    assert read.exists() != fails
    assert ("The book is built" in done.stdout) != fails
