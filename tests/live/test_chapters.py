"""Each chapter opened in JupyterLab and in Notebook 7: the package's code is there.

As it is committed it has run nowhere, so the code is there as text. One server serves both.
"""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from browser import ROOT, Record
from live_server import serving

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PLACES = {"JupyterLab": "doc/tree", "Notebook 7": "notebooks"}
READY = """() => {
  const now = window.jupyterapp?.shell?.currentWidget;
  return now?.sessionContext?.session?.kernel?.status === "idle" && now.content?.widgets?.length;
}"""


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
    assert wanted
    assert [code for code in wanted if code not in seen] == []


@pytest.mark.xdist_group("JupyterLab")
def test_a_link_to_the_glossary_opens_the_page_at_its_entry(chromium, server):
    address, token = server
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/doc/tree/chapters/05_causal_attention.ipynb?token={token}")
    link = page.locator(".jp-RenderedMarkdown a[href*='glossary.md']").first
    term = link.get_attribute("href").rpartition("#")[2]
    link.click()
    entry = page.locator(".jp-MarkdownViewer h2").filter(has_text=re.compile(f"^{term}"))
    entry.wait_for()
    expect(entry).to_be_in_viewport()
    assert "```" not in page.locator(".jp-MarkdownViewer").inner_text()
    context.close()
