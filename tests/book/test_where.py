"""`make where`: a stranger finds code, style, test, faults and questions in one step."""

import subprocess
import sys

import pytest

import where
from browser import ROOT
from pieces import widgets

CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
COMMAND = [sys.executable, str(ROOT / "tools" / "where.py")]


@pytest.fixture
def answer(capsys):
    """Asks where something stands; gives what is said, as path to what it is."""

    def ask(name):
        where.main(name)
        lines = capsys.readouterr().out.splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    return ask


def test_the_command_says_it(answer):
    done = subprocess.run([*COMMAND, "RotaryClock"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = (line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert dict(lines) == answer("RotaryClock")


def test_a_widget_s_rooms(answer):
    rows = answer("RotaryClock")
    assert (
        rows["src/pieces/widgets/static/rotary_clock/rotary_clock.js"] == "the widget in the page"
    )
    assert "style" in rows["src/pieces/widgets/static/rotary_clock/rotary_clock.css"]
    assert rows["tests/widgets/rotary_clock/test_rotary_clock.py"] == "its tests"
    assert "faults" in rows["tests/widgets/rotary_clock/faults.yaml"]
    assert rows["chapters/12_positional_encoding.ipynb"] == "shows it"
    assert "questions" in rows["src/pieces/book/questions/12_positional_encoding.toml"]
    assert "chapters/05_causal_attention.ipynb" not in rows


def test_only_a_widget_lacks_what_a_widget_needs(answer):
    """What several widgets share is found and lacks nothing; a widget that is begun is told all."""
    for name in ("base", "traits", "trained_model", "RotaryClock"):
        rows = answer(name)
        assert rows, name
        assert "missing:" not in rows
    assert where.lacking("RotaryClock") == []
    assert len(where.lacking("NotYetBegun")) == 7


def test_who_asks_stands_with_the_questions(answer):
    numbers = answer("PredictNumber")
    assert numbers["src/pieces/book/questions/15_llama.toml"] == "the questions of that chapter"
    masks = answer("FillMask")
    assert masks["chapters/05_causal_attention.ipynb"] == "shows it"
    assert "chapters/15_llama.ipynb" not in masks


@pytest.mark.parametrize("asked", ["12", "chapter 12", "12_positional_encoding"])
def test_a_chapter_s_rooms(answer, asked):
    rows = answer(asked)
    assert rows["chapters/12_positional_encoding.ipynb"] == "the chapter"
    assert "questions" in rows["src/pieces/book/questions/12_positional_encoding.toml"]
    assert "checkers" in rows["src/pieces/book/exercises/positional_encoding.py"]
    assert "answers" in rows["tests/chapters/test_12_positional_encoding.py"]
    assert "figures" in rows["src/pieces/book/figures/positions_beyond.py"]
    assert "measured" in rows["src/pieces/book/measured/positions.json"]
    assert rows["experiments/extrapolation.py"] == "the experiment"
    assert rows["src/pieces/widgets/rotary_clock.py"].endswith("make where NAME=RotaryClock")
    assert rows["src/pieces/widgets/static/rotary_clock/rotary_clock.css"] == "its style"
    assert "faults" in rows["tests/widgets/rotary_clock/faults.yaml"]
    assert all((ROOT / path).is_file() for path in rows)
    assert "src/pieces/widgets/mask_explorer.py" not in rows


@pytest.mark.parametrize("name", [*sorted(widgets.__all__), *CHAPTERS, "masks", "shapes"])
def test_all_that_has_a_name_is_found_and_said(name):
    stem = where.subject(name)
    found = where.files(stem)
    assert found
    for path in found:
        assert (ROOT / path).is_file()
        assert where.told(path, stem)
    if name in widgets.__all__:
        kinds = {path.name for path in found}
        assert {f"{stem}.py", f"{stem}.js", f"test_{stem}.py", "faults.yaml"} <= kinds


def test_a_name_of_nothing_is_told_what_to_give(answer):
    with pytest.raises(SystemExit, match=r"NAME=RotaryClok: nothing .* \(RotaryClock\)"):
        answer("RotaryClok")
