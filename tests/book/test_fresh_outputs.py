"""No notebook keeps outputs of an earlier package."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import fresh_outputs


class TestFreshOutputs:
    @pytest.fixture
    def package(self, tmp_path, monkeypatch):
        folder = tmp_path / "pieces"
        (folder / "widgets" / "static").mkdir(parents=True)
        (folder / "masks.py").write_text("a = 1\n")
        (folder / "widgets" / "static" / "kit.js").write_text("let a;\n")
        monkeypatch.setattr(fresh_outputs, "PACKAGE", folder)
        return folder

    @pytest.mark.parametrize("name", ["masks.py", "widgets/static/kit.js"])
    def test_an_edit_changes_the_hash(self, package, name):
        before = fresh_outputs.folder_hash(package)
        assert fresh_outputs.folder_hash(package) == before
        (package / name).write_text("changed\n")
        assert fresh_outputs.folder_hash(package) != before

    def test_a_new_file_and_a_new_name_change_it(self, package):
        before = fresh_outputs.folder_hash(package)
        (package / "new.py").write_text("")
        added = fresh_outputs.folder_hash(package)
        (package / "new.py").rename(package / "other.py")
        assert len({before, added, fresh_outputs.folder_hash(package)}) == 3

    def test_compiled_files_and_times_do_not(self, package):
        before = fresh_outputs.folder_hash(package)
        (package / "__pycache__").mkdir()
        (package / "__pycache__" / "masks.pyc").write_bytes(b"x")
        os.utime(package / "masks.py", (time.time() + 99,) * 2)
        assert fresh_outputs.folder_hash(package) == before

    def test_each_state_has_its_own_cache(self, package, tmp_path):
        app = SimpleNamespace(outdir=str(tmp_path / "_build" / "html"))
        config = SimpleNamespace(nb_execution_cache_path="")
        fresh_outputs.place_cache(app, config)
        first = Path(config.nb_execution_cache_path)
        (first / "kept").write_text("x")
        fresh_outputs.place_cache(app, config)
        assert (first / "kept").exists(), "nothing changed, nothing is lost"
        (package / "widgets" / "static" / "kit.js").write_text("let b;\n")
        fresh_outputs.place_cache(app, config)
        assert (first / "kept").exists(), "no output depends on what the page draws with"
        (package / "masks.py").write_text("a = 2\n")
        fresh_outputs.place_cache(app, config)
        assert Path(config.nb_execution_cache_path) != first
        assert not first.exists()

    @pytest.mark.parametrize("folder", ["_ext", "_static"])
    def test_an_edit_of_the_look_is_a_change_of_the_configuration(self, tmp_path, folder):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "book.css"
        app, config, seen = SimpleNamespace(srcdir=str(tmp_path)), SimpleNamespace(), []
        for text in ("a", "a", "b"):
            file.write_text(text)
            fresh_outputs.note_style(app, config)
            seen.append(config.look_of_the_pages)
        assert seen[0] == seen[1] != seen[2]
