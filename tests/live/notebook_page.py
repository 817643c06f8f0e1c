"""A notebook that is open in JupyterLab or in Notebook 7: run it, read it, look at its widgets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat

from browser import PAINTED, PICTURE, POLLING, Record

HERE = "window.jupyterapp.shell.currentWidget"
READY = """() => {
  const now = window.jupyterapp?.shell?.currentWidget;
  return now?.context?.isReady && now.content?.widgets?.length;
}"""
IDLE = f"() => {HERE}.sessionContext.session?.kernel?.status === 'idle'"


def with_more_cells(notebook: Path, folder: Path, *cells: str) -> Path:
    """Write a copy of a notebook with more cells at its end, which have not run."""
    copy = nbformat.read(notebook, as_version=4)
    copy.cells += [nbformat.v4.new_code_cell(text) for text in cells]
    nbformat.write(copy, folder / notebook.name)
    return folder / notebook.name


@contextmanager
def profile(chromium) -> Iterator:
    """Where several notebooks are opened: what the first one fetched serves the others."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    try:
        yield context
    finally:
        context.close()


@contextmanager
def shown(context, address: str) -> Iterator:
    """Open a notebook; gives its page once its cells are there."""
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.record = Record(page)
    page.goto(address)
    page.wait_for_function(READY, polling=POLLING)
    try:
        yield page
    finally:
        page.close()


def run(page, command: str) -> None:
    """Run a command of Jupyter, once the kernel waits for work; wait until it does so again."""
    page.wait_for_function(IDLE, polling=POLLING)
    page.evaluate("(command) => window.jupyterapp.commands.execute(command)", command)
    page.wait_for_function(IDLE, polling=POLLING)


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


def painted(widget) -> str:
    """Return the picture of a widget after the next frame."""
    widget.page.evaluate(PAINTED)
    return widget.evaluate(PICTURE)
