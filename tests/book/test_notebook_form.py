"""The notebooks as committed: executed, text outputs only, nothing that changes by itself."""

import ast
import copy
import functools
import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

import notebook_form
import pieces.widgets
from browser import ROOT
from notebook_form import committed_form, repository, setup_cell, text_of

NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]  # the workbench is none
SECTIONS = ("Exercises", "Summary", "Notes on the source texts")  # in this order, at the end
CLASSES = {
    node.name
    for path in (ROOT / "src" / "pieces").rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.ClassDef)
}
WIDGET = rf"\b(?:{'|'.join(pieces.widgets.__all__)})(?:\.\w+)?\("
FOLDED = {"remove-input", "hide-input", "hide-cell", "remove-cell"}
# What differs between two machines or two days.
VOLATILE = {
    "a version": r"\b(?:torch|numpy|python|cuda|transformers|version)\b\D{0,12}\d+\.\d+(?:\.\d+)?",
    "a device": r"\bcuda(?::\d)?\b|\bmps\b|\bdevice\s*[=:]|\bcpu\b|NVIDIA|GeForce|Tesla",
    "a time": r"\b\d+(?:\.\d+)?\s*(?:ms|µs|us|ns|sec|secs|seconds)\b|\b\d\d:\d\d:\d\d\b",
    "a date": r"\b20\d\d-\d\d-\d\d\b",
    "an address in memory": r"\b0x[0-9a-f]{6,}\b",
    "a path": r"(?:/home/|/Users/|/root/|/tmp/|[A-Z]:\\\\)",
    "a generated id": r"\b[0-9a-f]{32}\b|IPY_MODEL",
}


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture(params=NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return copy.deepcopy(read(path))


@pytest.fixture(params=CHAPTERS, ids=[path.stem for path in CHAPTERS])
def chapter_path(request):
    return request.param


@pytest.fixture
def chapter(chapter_path):
    return copy.deepcopy(read(chapter_path))


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def plain(cell):
    """A cell's code without notebook commands."""
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", cell.source, flags=re.M)


def outputs_of(cell):
    """Return each output of a cell as text, but code and tables, which a page lays out."""
    drawn = re.search(r"^code\(", cell.source, flags=re.M)  # HTML on the page, as a table is
    for output in [] if drawn else cell.outputs:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        if not re.search(r"^-{2,}(?: {2,}-{2,})+$", text, flags=re.M):
            yield text


def headings(notebook):
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.findall(r"^(#+) (.+)$", text, flags=re.M)


def test_is_in_the_committed_form(path, notebook):
    text = path.read_text(encoding="utf-8")
    assert text == text_of(committed_form(notebook)), f"run make notebooks ({path.name})"


def test_is_executed_without_an_error(notebook):
    for cell in code_of(notebook):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.source
        prints = re.search(r"^(?:print\(|check\.)", cell.source, flags=re.M)
        if prints and "def " not in cell.source.split("print(")[0]:
            assert cell.outputs, f"not executed:\n{cell.source}"
    assert any(cell.outputs for cell in code_of(notebook)), "no cell was executed"


def test_holds_texts_only(path, notebook):
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data["metadata"]) == {"kernelspec", "language_info"}
    for cell in data["cells"]:
        assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter"}
        assert "attachments" not in cell
        assert cell.get("execution_count") is None
        for output in cell.get("outputs", []):
            assert set(output.get("data", {})) <= {"text/plain"}
            assert output.get("metadata", {}) == {}
            assert output.get("name") != "stderr"


def test_nothing_is_left_of_the_draft(notebook):
    """`make chapter` marks with ✎ what is still to be written."""
    assert not [cell.source for cell in notebook.cells if "✎" in cell.source]


@pytest.mark.parametrize("room", ["src/pieces/book", "tests/chapters", "tests/exercises"])
def test_nothing_beside_the_chapters_is_left_of_a_draft(room):
    files = [path for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".toml", ".svg")]
    assert len(files) > 15
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "✎" in line
    ]
    assert left == [], "still to be written"


def test_ids_are_unique_and_stable(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert ids == [f"cell-{number:03d}" for number in range(len(ids))]


@pytest.mark.parametrize("what", VOLATILE)
def test_prints_nothing_that_changes(notebook, what):
    for cell in code_of(notebook):
        for text in outputs_of(cell):
            found = re.search(VOLATILE[what], text)
            assert not found, f"{what}, {found[0]!r}, is printed by:\n{cell.source}"


def test_a_phone_shows_printed_tables_whole(notebook):
    for cell in code_of(notebook):
        for line in "\n".join(outputs_of(cell)).splitlines():
            if re.search(r"\S {2,}[^\s:=]", line):  # columns, not a label filled up
                assert len(line) <= 46, line


def test_defines_no_class_of_the_package(notebook):
    for cell in code_of(notebook):
        for node in ast.walk(ast.parse(plain(cell))):
            if isinstance(node, ast.ClassDef):
                assert node.name not in CLASSES, f"{node.name} lives in the package"
                assert getattr(pieces, node.name, None) is None


def test_begins_with_the_set_up_cell(notebook):
    first, *others = code_of(notebook)
    assert first.source == setup_cell("\n".join(cell.source for cell in others))
    assert repository() in first.source
    assert "remove-cell" in first.metadata["tags"]


def test_imports_in_one_cell(notebook):
    """The reader sees at once what a chapter needs."""
    tops = [
        number
        for number, cell in enumerate(code_of(notebook)[1:])
        if re.search(
            r"^(?:from pieces|import pieces|import torch|from torch)\b", cell.source, flags=re.M
        )
    ]
    assert len(tops) == 1


def test_has_its_sections_in_order(chapter):
    marks = [level for level, _ in headings(chapter)]
    assert marks[0] == "#"
    assert marks.count("#") == 1
    titles = [title for level, title in headings(chapter) if level == "##"]
    assert titles[-len(SECTIONS) :] == list(SECTIONS)
    text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
    summary = re.search(r"^## Summary$(.*?)^## ", text, flags=re.S | re.M)[1]
    assert "Further reading" in summary
    assert "Next" in summary


def test_begins_with_something_to_play_with(notebook):
    """Before the first section, and before any code that a reader of the site would see."""
    first = next(n for n, cell in enumerate(notebook.cells) if re.search("^## ", cell.source, re.M))
    opening = [cell for cell in notebook.cells[:first] if cell.cell_type == "code"]
    played = [cell for cell in opening if re.search(WIDGET, cell.source)]
    assert played, "no widget on the first screen"
    assert all(FOLDED & set(cell.metadata.get("tags", [])) for cell in opening)


def test_has_what_a_chapter_needs(chapter_path, chapter):
    text = "\n".join(cell.source for cell in chapter.cells)
    assert re.search(r"^code\(", text, flags=re.M), "the package's own code"
    none = "No error of the source texts belongs to this chapter."
    assert re.search(r"^> \*\*E-\d\d · ", text, flags=re.M) or none in text, (
        f"an erratum, or: {none}"
    )
    kinds = {
        "checked in the page": r"^ask\(",
        "to code": r"^check\.\w+\(",
        "find the bug": r"(?i)find the bug",
    }
    for kind, pattern in kinds.items():
        assert re.search(pattern, text, flags=re.M), f"no exercise {kind}"
    assert any("hide-cell" in cell.metadata.get("tags", []) for cell in chapter.cells), "solutions"
    number = str(int(chapter_path.stem[:2]))
    exercises = re.findall(r"^> \*\*Exercise (\d+)\.(\d+) · ", text, flags=re.M)
    assert {chapter for chapter, _ in exercises} == {number}
    assert [int(n) for _, n in exercises] == list(range(1, len(exercises) + 1))


def test_folded_solutions_are_right(notebook):
    for cell in code_of(notebook):
        if "hide-cell" in cell.metadata.get("tags", []) and "check." in cell.source:
            said = "".join(outputs_of(cell))
            assert "right." in said, f"the solution is not accepted:\n{cell.source}\n{said}"


def test_folded_solutions_say_what_they_are(notebook):
    """JupyterLab shows the first line of a folded cell, which must not be a part of the answer."""
    for cell in code_of(notebook):
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            assert re.match(r"# A solution to exercise \d+\.\d\n", cell.source), cell.source


def test_every_figure_has_a_text(notebook):
    for cell in code_of(notebook):
        tree = ast.parse(plain(cell))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = ast.unparse(node.func)
                assert called != "plt.show", "use plot.show(fig, alt=...)"
                if called in ("plot.show", "plot.drawing"):
                    assert "alt" in {k.arg for k in node.keywords}, ast.unparse(node)


def test_same_names_everywhere(chapter_path):
    """A chapter, its checkers and its tests carry one name."""
    name = chapter_path.stem[3:]
    assert importlib.util.find_spec(f"pieces.book.exercises.{name}"), f"no exercises/{name}.py"
    tests = [p.name for p in (ROOT / "tests").rglob(f"test*{name}*.py")]
    assert tests, f"no test of exercises/{name}.py"


def reached(code):
    """Return the libraries that some code may import, by way of the package's own modules."""
    found, waiting = set(), list(imported_by(re.sub(r"^( *)%.*$", r"\1pass", code, flags=re.M)))
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name.startswith("pieces."):
            place = ROOT / "src" / Path(*name.split("."))
            for file in filter(Path.exists, (place.with_suffix(".py"), place / "__init__.py")):
                waiting += imported_by(file.read_text(encoding="utf-8"))
            waiting.append(name.rpartition(".")[0])
    return {name.partition(".")[0] for name in found}


def imported_by(code):
    """Yield each name that some code imports, and what it takes from it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


class TestNotebookForm:
    @pytest.fixture
    def messy(self):
        book = nbformat.v4.new_notebook(metadata={"widgets": {"state": 1}, "colab": {}})
        code = nbformat.v4.new_code_cell("print(1)   \n\n", execution_count=7)
        code.metadata = nbformat.from_dict({"tags": ["hide-input"], "collapsed": True})
        code.outputs = [
            nbformat.v4.new_output("stream", name="stdout", text="1\n"),
            nbformat.v4.new_output("stream", name="stderr", text="warning\n"),
            nbformat.v4.new_output(
                "execute_result",
                {"text/plain": "x", "image/png": "AAAA", "text/html": "<b>"},
                execution_count=7,
                metadata={"volatile": 1},
            ),
            nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"}),
        ]
        setup = nbformat.v4.new_code_cell("import importlib.util\nimportlib.util.find_spec")
        setup.metadata = nbformat.from_dict({"tags": ["remove-cell"]})
        book.cells = [setup, nbformat.v4.new_markdown_cell("text  \n"), code]
        return book

    def test_keeps_texts_and_nothing_else(self, messy):
        form = notebook_form.committed_form(messy)
        code = form.cells[2]
        assert code.source == "print(1)"
        assert code.execution_count is None
        assert dict(code.metadata) == {"tags": ["hide-input"]}
        assert [o.output_type for o in code.outputs] == ["stream", "execute_result"]
        assert dict(code.outputs[1].data) == {"text/plain": "x"}
        assert code.outputs[1].metadata == {}
        assert set(form.metadata) == {"kernelspec", "language_info"}
        assert form.cells[1].source == "text"

    def test_puts_the_set_up_cell_in(self, messy):
        form = notebook_form.committed_form(messy)
        assert form.cells[0].source == notebook_form.setup_cell()
        assert notebook_form.repository() in form.cells[0].source

    def test_the_set_up_cell_brings_what_the_chapter_imports_in_its_version(self):
        project = notebook_form.package()
        assert set(notebook_form.EXTRAS) == set(project["optional-dependencies"])
        source = f"git+{notebook_form.repository()}@v{project['version']}"
        for code, wanted in (
            ("import torch\nx = 'import bertviz'", "pieces"),
            ("from pieces.bertviz import head_view", "pieces[bertviz]"),
            ("if True:\n    from transformers.models import t5", "pieces[checkpoints]"),
            ("import bertviz\nimport transformers", "pieces[checkpoints,bertviz]"),
            ("from pieces.checkpoints import from_folder", "pieces[checkpoints]"),
        ):
            assert f'"{wanted} @ {source}"' in notebook_form.setup_cell(code)

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
    def test_it_brings_the_libraries_that_the_package_reaches_for_from_there(self, path):
        """Each import of the package is followed, those within a function too."""
        notebook = nbformat.read(path, as_version=4)
        codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        extras = notebook_form.package()["optional-dependencies"]
        brought = {re.match(r"[\w-]+", line)[0]: name for name, (line,) in extras.items()}
        wanted = {brought[name] for name in reached("\n".join(codes)) if name in brought}
        named = re.search(r'"pieces(?:\[([\w,]+)\])? @ ', "\n".join(codes))[1]
        assert set((named or "").split(",")) - {""} == wanted

    def test_is_its_own_form(self, messy):
        once = notebook_form.text_of(notebook_form.committed_form(messy))
        again = nbformat.reads(once, as_version=4)
        assert notebook_form.text_of(notebook_form.committed_form(again)) == once
        nbformat.validate(again)

    def test_an_error_is_not_hidden(self, messy):
        error = nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[])
        messy.cells[2].outputs = [error]
        assert notebook_form.committed_form(messy).cells[2].outputs == [error]
