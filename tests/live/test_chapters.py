"""Each chapter opened in JupyterLab and in Notebook 7: the package's code is there.

As it is committed it has run nowhere, so the code is there as text. One server serves both.
"""

import re

import nbformat
import pytest

from browser import ROOT, Record
from live_server import serving
from notebook_form import home

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PLACES = {"JupyterLab": "doc/tree", "Notebook 7": "notebooks"}
READY = """() => {
  const now = window.jupyterapp?.shell?.currentWidget;
  return now?.sessionContext?.session?.kernel?.status === "idle" && now.content?.widgets?.length;
}"""
# MathJax comes to a cell late: all formulas are there, and no dollar is left of one.
TYPESET = """(wanted) => wanted ===
  document.querySelectorAll(".jp-RenderedMarkdown mjx-container").length
  && [...document.querySelectorAll(".jp-RenderedMarkdown")].every((cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("mjx-container, code, pre").forEach((one) => one.remove());
    return !/\\$|\\\\[a-zA-Z]+/.test(copy.textContent); })"""
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
    with serving(CHAPTERS, tmp_path_factory.mktemp("chapters")) as address:
        yield address


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in PLACES],
)
def place(request):
    return PLACES[request.param]


@pytest.fixture(scope="module", params=CHAPTERS, ids=[path.stem for path in CHAPTERS])
def chapter(request):
    return request.param


@pytest.fixture(scope="module")
def page(chromium, server, place, chapter):
    address, token = server
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.record = Record(page)
    page.goto(f"{address}/{place}/chapters/{chapter.name}?token={token}")
    page.wait_for_function(READY)
    yield page
    context.close()


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


def test_the_packages_code_is_there_before_anything_ran(page, chapter):
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


def test_every_formula_is_typeset_and_none_is_broken(page, chapter):
    page.wait_for_function(TYPESET, arg=formulas(chapter))
    assert page.evaluate(BROKEN) == []


def test_a_link_to_the_glossary_leads_there_from_any_place(page, chapter):
    links = page.locator(".jp-RenderedMarkdown a[href*='glossary.md']")
    found = links.evaluate_all("(all) => all.map((one) => one.href)")
    assert found or chapter.stem == "workbench"
    assert [link for link in found if not link.startswith(f"{home()}appendix/glossary.md#")] == []
