"""`make chapter` in a copy of the book: what it writes runs, has the form, and is registered."""

import inspect
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml

import new_chapter
import test_notebook_form as form
from browser import ROOT

WRITTEN = (ROOT / "index.md").read_text(encoding="utf-8")
# One chapter more, after the last of the map, in a part that has some already.
NUMBER = str(max(int(n) for n in re.findall(r"^(\d+) · ", WRITTEN, flags=re.M)) + 1)
TITLE = "Still to come"
NAME = f"{int(NUMBER):02}_still_to_come"
LAST = re.compile(rf"^{int(NUMBER) - 1} · .+\n: .+\n", flags=re.M)
SOON = f"\n{NUMBER} · {TITLE} [to come]{{.front-soon}}\n: What it begins with.\n"
INDEX = LAST.sub(lambda found: found[0] + SOON, WRITTEN)


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    """A copy of the book in which one chapter was begun."""
    root = tmp_path_factory.mktemp("book")
    for folder in ("chapters", "tests/exercises", "tests/chapters"):
        (root / folder).mkdir(parents=True)
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", root / "src", ignore=left_out)
    shutil.copy(ROOT / "_toc.yml", root)
    (root / "index.md").write_text(INDEX, encoding="utf-8")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(root / "src")  # for the kernel that runs the draft
    new_chapter.main(NAME, root)
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before
    return root


@pytest.fixture(scope="module")
def notebook(draft):
    return nbformat.read(draft / "chapters" / f"{NAME}.ipynb", as_version=4)


RULES = {
    name: rule
    for name, rule in vars(form).items()
    if name.startswith("test_") and set(inspect.signature(rule).parameters) <= {"path", "notebook"}
}
del RULES["test_nothing_is_left_of_the_draft"]  # it is one


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_draft_has_the_form_of_a_chapter(draft, notebook, rule):
    given = {"path": draft / "chapters" / f"{NAME}.ipynb", "notebook": notebook}
    function = RULES[rule]
    function(**{name: given[name] for name in inspect.signature(function).parameters})


def test_what_is_to_be_written_is_marked(notebook):
    marked = [cell for cell in notebook.cells if "✎" in cell.source]
    assert len(marked) > 10
    with pytest.raises(AssertionError):
        form.test_nothing_is_left_of_the_draft(notebook)


def test_its_checkers_are_tested(draft):
    test = draft / "tests" / "exercises" / "test_still_to_come.py"
    environment = os.environ | {"PYTHONPATH": str(draft / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, cwd=draft, env=environment, capture_output=True, text=True)
    assert "5 passed" in done.stdout, done.stdout


def test_its_words_and_answers_are_tested(draft):
    """Its test computes every answer that its questions hold."""
    shutil.copy(ROOT / "tests" / "chapters" / "prose.py", draft / "tests" / "chapters")
    shutil.copy(ROOT / "tests" / "chapters" / "test_questions.py", draft / "tests" / "chapters")
    shutil.copy(ROOT / "tests" / "browser.py", draft / "tests")
    environment = os.environ | {
        "PYTHONPATH": f"{draft / 'src'}:{draft / 'tests'}:{draft / 'tests/chapters'}:"
        f"{ROOT / 'tests'}:{ROOT / '_ext'}:{ROOT / 'tools'}"
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        NAME[:2],
        "tests/chapters",
    ]
    done = subprocess.run(command, cwd=draft, env=environment, capture_output=True, text=True)
    assert " passed" in done.stdout, done.stdout
    assert "failed" not in done.stdout, done.stdout


def test_it_is_in_the_table_of_contents(draft):
    toc = yaml.safe_load((draft / "_toc.yml").read_text(encoding="utf-8"))
    caption, _ = new_chapter.on_the_map(INDEX, NUMBER)
    (part,) = [part for part in toc["parts"] if part["caption"] == caption]
    before = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entry = {"file": f"chapters/{NAME}", "title": f"{NUMBER} · {TITLE}"}
    (old,) = [part for part in before["parts"] if part["caption"] == caption]
    added = [one for one in part["chapters"] if one not in old["chapters"]]
    assert added == [entry]
    assert [one for one in part["chapters"] if one in old["chapters"]] == old["chapters"]
    assert [p["caption"] for p in toc["parts"]] == [p["caption"] for p in before["parts"]]


def test_the_map_links_it(draft):
    page = (draft / "index.md").read_text(encoding="utf-8")
    assert f"{NUMBER} · {{doc}}`{TITLE} <chapters/{NAME}>`\n:" in page
    assert f"{NUMBER} · {TITLE} [to come]" not in page


# A book of which one part is begun.
BEGUN = """\
format: jb-book
root: index
parts:
  - caption: Attention
    chapters:
      - file: chapters/03_attention
        title: 3 · Attention
  - caption: Appendix
    chapters:
      - file: chapters/appendix/notation
"""


@pytest.mark.parametrize(
    ("name", "captions"),
    [
        ("01_big_picture", ["The idea", "Attention", "Appendix"]),
        ("09_residual_connections", ["Attention", "The rest of the block", "Appendix"]),
        ("15_llama", ["Attention", "Whole models", "Appendix"]),
    ],
)
def test_a_part_begins_with_its_first_chapter(name, captions):
    parts = re.findall(r"^### (.+)$", INDEX, flags=re.M)
    (part,) = set(captions) - {"Attention", "Appendix"}
    text = new_chapter.listed(BEGUN, parts, part, "Its title", name)
    found = yaml.safe_load(text)["parts"]
    assert [entry["caption"] for entry in found] == captions
    (own,) = [entry for entry in found if entry["caption"] == part]
    assert own["chapters"] == [{"file": f"chapters/{name}", "title": "Its title"}]


@pytest.mark.parametrize("name", ["", "6_x", "06", "06_Heads", "../06_x"])
def test_another_name_is_refused_in_words(name, tmp_path):
    with pytest.raises(SystemExit, match="NAME="):
        new_chapter.main(name, tmp_path)


def test_what_is_there_is_left_alone(draft):
    with pytest.raises(SystemExit, match="is there already"):
        new_chapter.main(NAME, draft)
    with pytest.raises(SystemExit, match="no chapter 3 that is to come"):
        new_chapter.main("03_again", draft)
    kept = draft / "src/pieces/book/exercises/self_attention.py"
    before = kept.read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match=r"self_attention\.py is there already: take another"):
        new_chapter.main(f"{int(NUMBER) + 1:02}_self_attention", draft)
    assert kept.read_text(encoding="utf-8") == before


def test_the_draft_is_as_ruff_would_write_it(draft):
    shutil.copy(ROOT / "pyproject.toml", draft)
    shutil.copy(ROOT / "chapters" / "ruff.toml", draft / "chapters")
    for command in (["check"], ["format", "--check"]):
        asked = [sys.executable, "-m", "ruff", *command, str(draft / "chapters")]
        done = subprocess.run(asked, cwd=draft, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
