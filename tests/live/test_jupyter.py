"""Every chapter in a real JupyterLab and a real Notebook 7, each with a real kernel: run all, move,
read, set.

The server runs on a free port of this machine with a token, on copies of the chapters, with
settings and data of its own. Cells are added at the end: they read traits and set one.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from browser import PAINTED, PICTURE, ROOT, Record
from live_server import LAB, NOTEBOOK, Application, serving
from overlaps import OVERLAPS

CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
CHAPTER = ROOT / "chapters" / "05_causal_attention.ipynb"
FIND = """from ipywidgets.widgets import widget as kept
explorer = next(one for one in kept._instances.values() if isinstance(one, MaskExplorer))"""
READ = 'print("READ", explorer.T, explorer.window, explorer.allowed, int(explorer.mask().sum()))'
SET = "explorer.T = 5 if explorer.T > 5 else 9\nprint('SET', explorer.T)"
# Every widget of the chapter: its model's id, and what Python reads from its traits.
READ_ALL = """import json
from ipywidgets.widgets import widget as kept
from pieces.widgets.base import PieceWidget
read = {id: {name: getattr(one, name) for name in one.controls()}
        for id, one in kept._instances.items() if isinstance(one, PieceWidget)}
print(json.dumps(read))"""
# The ids of the widget views on the page, in the order in which they stand there.
VIEWS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .flatMap((cell) => cell.model.outputs?.toJSON() ?? [])
  .map((one) => one.data?.["application/vnd.jupyter.widget-view+json"]?.model_id)
  .filter((id) => id)"""
# What is moved first: a control; else a board, since some boards are only read; else a button.
FIRST = (
    ":is(.p-controls, .p-switch, .p-answer) :is(input, select)",
    ".p-board",
    ".p-controls button:not([aria-current=step]), .p-swap button[aria-pressed=false]",
)
HERE = "window.jupyterapp.shell.currentWidget"


def placed(application: Application, *values):
    """A test's parameters, and the mark that keeps one front end's tests in one process."""
    mark = pytest.mark.xdist_group(application.module)
    names = [application.module, *map(str, values)]
    return pytest.param(application, *values, id="-".join(names), marks=mark)


BOTH = [placed(LAB), placed(NOTEBOOK)]
# Each chapter runs in one front end, in turn; chapter 05, for the tests of `page`, in both.
IN_TURN = [placed((LAB, NOTEBOOK)[n % 2], path.name) for n, path in enumerate(CHAPTERS)]


def with_more_cells(chapter: Path, folder: Path) -> Path:
    """Write a copy of a chapter that has not run, with the cells that read and set at its end."""
    notebook = nbformat.read(chapter, as_version=4)
    added = (FIND, READ, SET, READ_ALL) if chapter == CHAPTER else (READ_ALL,)
    notebook.cells += [nbformat.v4.new_code_cell(text) for text in added]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbformat.write(notebook, folder / chapter.name)
    return folder / chapter.name


@pytest.fixture(scope="module", params=BOTH)
def address(request, tmp_path_factory) -> Iterator[str]:
    """Start Jupyter on copies of the chapters; gives the address, with {} for a notebook."""
    application, made = request.param, tmp_path_factory.mktemp("chapters")
    notebooks = [with_more_cells(chapter, made) for chapter in CHAPTERS]
    with serving(notebooks, tmp_path_factory.mktemp("lab"), application) as (server, token):
        yield f"{server}/{application.path}/chapters/{{}}?token={token}"


@contextmanager
def ran(chromium, address):
    """Open a notebook and run every cell."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.record = Record(page)
    page.goto(address)
    page.wait_for_function(
        """() => {
          const now = window.jupyterapp?.shell?.currentWidget;
          const ready = now?.sessionContext?.session?.kernel?.status === "idle";
          return ready && now.content?.widgets?.length;
        }"""
    )
    run(page, "notebook:run-all-cells")
    try:
        yield page
    finally:
        context.close()


@pytest.fixture(scope="module")
def page(chromium, address):
    """The chapter of the tests below, every cell run."""
    with ran(chromium, address.format(CHAPTER.name)) as page:
        yield page


def run(page, command: str) -> None:
    """Run a command of Jupyter and wait until it is done and the kernel is idle."""
    page.evaluate("(command) => window.jupyterapp.commands.execute(command)", command)
    page.wait_for_function(f"{HERE}.sessionContext.session.kernel.status === 'idle'")


def execute(page, cell: str) -> str:
    """Run the cell with this text again; gives what it prints."""
    at = page.evaluate(
        """(text) => {
          const { content } = window.jupyterapp.shell.currentWidget;
          const at = content.widgets.findIndex((cell) => cell.model.sharedModel.source === text);
          content.deselectAll();
          content.activeCellIndex = at;
          return at;
        }""",
        cell,
    )
    assert at >= 0
    run(page, "notebook:run-cell")
    page.wait_for_function(
        "(at) => window.jupyterapp.shell.currentWidget.content.widgets[at].model.outputs?.length",
        arg=at,
    )
    return page.evaluate(
        """(at) => {
          const { outputs } = window.jupyterapp.shell.currentWidget.content.widgets[at].model;
          return outputs.toJSON().map((one) => [one.text].flat().join("")).join("");
        }""",
        at,
    )


def read(page, cell: str, until) -> str:
    """Run a cell that reads a widget until it reads what `until` waits for, or for ten seconds.

    Jupyter sends a widget's second change when the kernel has answered to its first.
    """
    for _ in range(40):
        printed = execute(page, cell)
        if until(printed):
            break
        page.wait_for_timeout(250)
    return printed


def in_step(printed: str) -> bool:
    """Whether `READ` finds as many open cells as the browser has counted."""
    *_, counted, summed = printed.split()
    return counted == summed


def explorer(page):
    return page.locator(".pieces-mask-explorer").first


def test_run_all_brings_every_widget_alive(page):
    explorer(page).wait_for()
    assert explorer(page).is_visible()
    asked = CHAPTER.read_text(encoding="utf-8").count('"ask(')
    shown = page.locator(":is(.pieces-fill-mask, .pieces-predict-number)")
    assert shown.count() == asked > 0
    failed = page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets
          .flatMap((cell) => cell.model.outputs?.toJSON() ?? [])
          .filter((one) => one.output_type === "error").map((one) => one.evalue)"""
    )
    assert failed == []


def test_words_of_a_table_stand_left_and_numbers_right(page):
    """Jupyter's own tables are right-aligned and striped."""
    page.locator(".pieces-table").first.wait_for()
    sides = page.evaluate(
        """() => [...document.querySelectorAll(".pieces-table :is(th, td)")].map((cell) =>
          [cell.classList.contains("number"), getComputedStyle(cell).textAlign,
            getComputedStyle(cell.parentElement).backgroundColor])"""
    )
    assert {side for number, side, _ in sides if number} == {"right"}
    assert {side for number, side, _ in sides if not number} == {"left"}
    assert {ground for *_, ground in sides} == {"rgba(0, 0, 0, 0)"}


def test_a_control_that_is_moved_is_read_in_python(page):
    slider = explorer(page).locator(".p-control:visible input[type=range]").first
    before = explorer(page).evaluate(PICTURE)
    was = int(slider.input_value())
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    T = int(slider.input_value())
    assert was + 2 == T
    assert painted(explorer(page)) != before
    printed = read(page, READ, lambda new: f"READ {T} " in new and in_step(new)).split()
    assert printed[0] == "READ"
    assert int(printed[1]) == T
    assert printed[3] == printed[4], "what the browser counted is what Python counts"


def test_a_trait_set_in_python_moves_the_picture(page):
    before = painted(explorer(page))
    T = execute(page, SET).removeprefix("SET").strip()
    slider = explorer(page).locator(".p-control:visible input[type=range]").first
    page.wait_for_function("([input, T]) => input.value === T", arg=[slider.element_handle(), T])
    assert painted(explorer(page)) != before
    assert f"of {int(T) ** 2} cells are open" in explorer(page).locator(".p-say").inner_text()
    printed = read(page, READ, in_step).split()
    assert printed[1] == T
    assert printed[3] == printed[4]


def test_a_cell_that_is_flipped_is_read_in_python(page):
    was = read(page, READ, in_step)
    board = explorer(page).locator(".p-board").first
    board.focus()
    for key in ("ArrowRight", "Enter"):  # the cell of query 1 and key 2
        board.press(key)
    printed = read(page, READ, lambda new: new != was and in_step(new)).split()
    assert abs(int(printed[3]) - int(was.split()[3])) == 1, "one cell was flipped"
    assert printed[3] == printed[4]


def test_the_theme_of_jupyter_counts(page):
    light = explorer(page).evaluate("(e) => getComputedStyle(e).backgroundColor")
    drawn = explorer(page).evaluate(PICTURE)
    page.evaluate(
        "window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_function("([e, light]) => getComputedStyle(e).backgroundColor !== light",
                           arg=[explorer(page).element_handle(), light])  # fmt: skip
    assert explorer(page).evaluate(PICTURE) != drawn


def read_all(page, until=lambda found: True) -> dict[str, dict]:
    """Return what Python reads from every widget, by its model's id; waits as `read` does."""
    return json.loads(read(page, READ_ALL, lambda printed: until(json.loads(printed))))


def move_first(widget) -> None:
    """Move the first control of a widget as a reader would; an answer is checked as well."""
    found = [one for kind in FIRST for one in widget.locator(kind).all()]
    control = next(c for c in found if c.is_visible() and c.is_enabled())
    kind = control.evaluate("(c) => c.className === 'p-board' ? 'board' : c.type")
    control.focus()
    if kind == "range":
        at_end = control.evaluate("(c) => Number(c.value) >= Number(c.max)")
        control.press("ArrowLeft" if at_end else "ArrowRight")
    elif kind == "select-one":
        options = control.evaluate("(c) => [...c.options].map((o) => o.value)")
        now = options.index(control.input_value())
        control.select_option(options[(now + 1) % len(options)])
    elif kind in {"text", "search"}:
        control.fill("0.123")
    elif kind == "board":
        control.press("ArrowRight")
        control.press("Enter")
    else:
        control.press("Space")
    check = widget.get_by_role("button", name="Check", exact=True)
    if check.count():
        check.click()


def painted(widget) -> str:
    """Return the picture of a widget after the next frame."""
    widget.page.evaluate(PAINTED)
    return widget.evaluate(PICTURE)


@pytest.mark.parametrize(("address", "chapter"), IN_TURN, indirect=["address"])
def test_the_first_control_of_every_widget_is_read_in_python(chromium, address, chapter):
    with ran(chromium, address.format(chapter)) as page:
        before = read_all(page)
        views = [id for id in page.evaluate(VIEWS) if id in before]
        page.wait_for_function(
            "(n) => document.querySelectorAll('.pieces-stage .pieces, .pieces').length >= n",
            arg=len(views),
        )
        widgets = page.locator("div.pieces[role=group]")
        assert widgets.count() == len(views) > 0
        page.evaluate(PAINTED)
        assert page.evaluate(OVERLAPS) == [], "texts lie on one another"
        for at in range(len(views)):
            widget = widgets.nth(at)
            widget.scroll_into_view_if_needed()
            drawn = painted(widget)
            move_first(widget)
            name = widget.get_attribute("class")
            assert painted(widget) != drawn, f"{name}: the picture stood still"
            assert not widget.locator(".pieces-sorry").is_visible(), name
        after = read_all(page, lambda found: all(found[id] != before[id] for id in views))
        for id in views:
            assert after[id] != before[id], f"Python read nothing new: {before[id]}"
        assert page.locator(".pieces-sorry:visible").count() == 0


def test_nothing_of_ours_complains(page):
    """JupyterLab knows a little MyST and looks for our glossary: that is none of ours."""
    ours = ("pieces", "anywidget", "mask", "widget", "data:text/javascript")
    errors = [e for e in page.record.errors if "Cross reference target" not in e]
    complaints = [e for e in errors if any(word in e.lower() for word in ours)]
    assert not complaints, "\n".join(complaints)
