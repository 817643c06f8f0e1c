"""Chapter 1 in a real JupyterLab and in a real Notebook 7, with a real kernel: run all, move, read,
set. All chapters are in test_chapters.

The server runs on a free port of this machine with a token, on a copy of the chapter, with settings
and data of its own. Cells are added at the end: they read traits and set one.
"""

import pytest

from browser import PICTURE, ROOT
from live_server import LAB, NOTEBOOK, serving
from notebook_page import execute, painted, profile, read, run, shown, with_more_cells

CHAPTER = ROOT / "chapters" / "01_big_picture.ipynb"
FIND = """from ipywidgets.widgets import widget as kept
explorer = next(one for one in kept._instances.values() if isinstance(one, MaskExplorer))"""
READ = 'print("READ", explorer.T, explorer.window, explorer.allowed, int(explorer.mask().sum()))'
SET = "explorer.T = 5 if explorer.T > 5 else 9\nprint('SET', explorer.T)"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one, id=one.module, marks=pytest.mark.xdist_group(one.module))
        for one in (LAB, NOTEBOOK)
    ],
)
def page(request, chromium, tmp_path_factory):
    """The chapter with every cell run, in Jupyter started for it."""
    application = request.param
    notebook = with_more_cells(CHAPTER, tmp_path_factory.mktemp("chapters"), FIND, READ, SET)
    with serving([notebook], tmp_path_factory.mktemp("lab"), application) as (server, token):
        address = f"{server}/{application.path}/chapters/{CHAPTER.name}?token={token}"
        with profile(chromium) as context, shown(context, address) as page:
            run(page, "notebook:run-all-cells")
            yield page


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


def test_nothing_of_ours_complains(page):
    """JupyterLab knows a little MyST and looks for our glossary: that is none of ours."""
    ours = ("pieces", "anywidget", "mask", "widget", "data:text/javascript")
    errors = [e for e in page.record.errors if "Cross reference target" not in e]
    complaints = [e for e in errors if any(word in e.lower() for word in ours)]
    assert not complaints, "\n".join(complaints)
