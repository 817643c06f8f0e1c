"""Every question is asked in its chapter, once, and its answer is what the chapter's test computes.

A chapter's test, `test_10_normalisation.py`, has ANSWERS = {"10.1": function}, and each function
returns what the question's data must hold: a number, or a bool mask.
"""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
import torch

from browser import ROOT
from pieces.book.ask import FOLDER, ask, names, question

CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
HERE = Path(__file__).parent


def asked(path: Path) -> list[str]:
    """Return the names that a notebook asks, in their order."""
    notebook = nbformat.read(path, as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return re.findall(r'^ask\("([^"]+)"\)', code, flags=re.M)


def answers(path: Path) -> dict:
    """Return what a chapter's test computes."""
    file = HERE / f"test_{path.stem}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


def of(path: Path) -> list[str]:
    """Return the names of a chapter's questions."""
    return [name for name in names() if int(name.partition(".")[0]) == int(path.stem[:2])]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_question_is_asked_once_where_it_belongs(path):
    assert sorted(asked(path)) == sorted(of(path))
    assert (Path(str(FOLDER)) / f"{path.stem}.toml").exists()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_answer_is_computed(path):
    computed = answers(path)
    assert sorted(computed) == sorted(of(path))
    for name, compute in computed.items():
        told, right = question(name)["answer"], compute()
        if isinstance(told, torch.Tensor):
            assert torch.equal(told, torch.as_tensor(right)), name
        else:
            assert told == pytest.approx(float(right), rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("name", names())
def test_a_question_can_be_asked_and_tells_slips(name):
    widget = ask(name)
    assert widget.why
    assert widget.hint
    if name.rpartition(".")[2].isdigit():  # an exercise; a guess in the text needs none
        assert len(widget.slips) >= 2, "at least two typical wrong answers are diagnosed"
    answer, tolerance = question(name)["answer"], question(name).get("tolerance", 0.005)
    for slip, _ in question(name)["slips"]:
        same = torch.equal(slip, answer) if isinstance(answer, torch.Tensor) else None
        assert not (abs(slip - answer) <= tolerance if same is None else same), "a slip is wrong"
