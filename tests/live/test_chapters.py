"""Each chapter opened in JupyterLab and in Notebook 7: the package's code is there, as text, before
anything ran; in one of the two it is run then, and each widget's first control is moved.

One server serves both. A cell is added at the end: it reads all traits.
"""

import json
import re

import nbformat
import pytest

from browser import PAINTED, ROOT
from live_server import serving
from notebook_form import home
from notebook_page import painted, profile, read, run, shown, with_more_cells
from overlaps import OVERLAPS

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PLACES = {"JupyterLab": "doc/tree", "Notebook 7": "notebooks"}
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
# Each chapter runs in one of the two, in turn, after the other tests of its page.
IN_TURN = [(list(PLACES)[n % 2], path) for n, path in enumerate(CHAPTERS)]
LEFT = [(list(PLACES)[1 - n % 2], path) for n, path in enumerate(CHAPTERS)]
# MathJax comes to a cell late: all formulas are there, and no dollar is left of one.
TYPESET = """(wanted) => wanted ===
  document.querySelectorAll(".jp-RenderedMarkdown mjx-container").length
  && [...document.querySelectorAll(".jp-RenderedMarkdown")].every((cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("mjx-container, code, pre").forEach((one) => one.remove());
    return !/\\$|\\\\[a-zA-Z]+/.test(copy.textContent); })"""
# ms between two looks: each look copies all text.
SELDOM = 250
# An error of MathJax, a letter it has no shape for, or a formula that runs out of its cell.
BROKEN = """() => [...document.querySelectorAll(
    ".jp-RenderedMarkdown mjx-container")].flatMap((one) => {
  const cell = one.closest(".jp-RenderedMarkdown").getBoundingClientRect();
  const math = one.querySelector("mjx-math").getBoundingClientRect();
  const wrong = one.querySelector("mjx-merror, [data-mjx-error], mjx-utext") || math.width < 1
    || math.right > cell.right + 2 || math.left < cell.left - 2;
  return wrong ? [one.textContent.slice(0, 60)] : []; })"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = tmp_path_factory.mktemp("notebooks")
    notebooks = [with_more_cells(chapter, made, READ_ALL) for chapter in CHAPTERS]
    with serving(notebooks, tmp_path_factory.mktemp("chapters")) as address:
        yield address


@pytest.fixture(scope="module")
def context(chromium):
    """The profile of all pages of this process."""
    with profile(chromium) as context:
        yield context


@pytest.fixture(scope="module")
def page(request, context, server):
    """A chapter as it is committed, and at `page.chapter` which one."""
    (place, chapter), (address, token) = request.param, server
    url = f"{address}/{PLACES[place]}/chapters/{chapter.name}?token={token}"
    with shown(context, url) as page:
        page.chapter = chapter
        yield page


def opened_in(places):
    """Run a test on these pages; those of one place stay in one process."""
    pages = [
        pytest.param(
            (place, chapter), id=f"{chapter.stem}-{place}", marks=pytest.mark.xdist_group(place)
        )
        for place, chapter in places
    ]
    return pytest.mark.parametrize("page", pages, indirect=True, scope="module")


# Those in turn come first in both lists: pytest knows by its number that a page is the same.
EVERYWHERE, ONCE = opened_in(IN_TURN + LEFT), opened_in(IN_TURN)


def cells(chapter, start=""):
    notebook = nbformat.read(chapter, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in code if cell.source.startswith(start)]


def words(page, selector):
    return "\n".join(page.locator(selector).all_inner_texts())


def squeeze(text):
    return re.sub(r"\s+", "", text)


def shown_code(chapter):
    return [squeeze(cell.outputs[0].data["text/plain"]) for cell in cells(chapter, "code(")]


@EVERYWHERE
def test_the_packages_code_is_there_before_anything_ran(page):
    chapter = page.chapter
    wanted = shown_code(chapter)
    seen = squeeze(words(page, ".jp-RenderedText"))
    assert wanted or chapter.stem == "workbench"
    assert [code for code in wanted if code not in seen] == []


def formulas(chapter):
    """Return how many formulas the Markdown of a chapter has."""
    texts = [cell.source for cell in nbformat.read(chapter, as_version=4).cells
             if cell.cell_type == "markdown"]  # fmt: skip
    bare = re.sub(r"```.*?```|`[^`\n]*`", "", "\n\n".join(texts), flags=re.S)
    return len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", bare, flags=re.S))


@EVERYWHERE
def test_every_formula_is_typeset_and_none_is_broken(page):
    page.wait_for_function(TYPESET, arg=formulas(page.chapter), polling=SELDOM)
    assert page.evaluate(BROKEN) == []


@EVERYWHERE
def test_a_link_to_the_glossary_leads_there_from_any_place(page):
    links = page.locator(".jp-RenderedMarkdown a[href*='glossary.md']")
    found = links.evaluate_all("(all) => all.map((one) => one.href)")
    assert found or page.chapter.stem == "workbench"
    assert [link for link in found if not link.startswith(f"{home()}appendix/glossary.md#")] == []


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


@ONCE
def test_the_first_control_of_every_widget_is_read_in_python(page):
    """The last test of its page: it runs all cells."""
    run(page, "notebook:run-all-cells")
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
