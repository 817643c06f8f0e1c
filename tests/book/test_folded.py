"""What waits closed: code behind one switch, the notes on the source texts behind their heading."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from axe import violations
from browser import PAINTED, ROOT, opened, served
from notebook_form import committed_form
from pieces import masks
from pieces.book.source import code

CONF = f"""
import sys
sys.path[:0] = [{str(ROOT / "_ext")!r}, {str(ROOT / "src")!r}]
project = "A small book"
extensions = ["myst_nb", "folded", "package_code", "lean_pages"]
nb_code_prompt_show = "Show the code"
html_theme = "sphinx_book_theme"
html_static_path = [{str(ROOT / "_static")!r}]
html_css_files = ["book.css"]
html_js_files = ["folded.js"]
nb_execution_mode = "off"
myst_heading_anchors = 3
"""
OPEN = "() => [...document.querySelectorAll('details[open]')].map((d) => d.className)"
REFUSES = """Object.defineProperty(window, "localStorage", { get() { throw new Error("no"); } })"""
NOTES = "details.pieces-notes"


def cell(source, tag, *outputs):
    return new_code_cell(source, metadata={"tags": [tag]}, outputs=list(outputs))


def chapter():
    """A chapter of one of each: plumbing, a check, some code, an exercise, the notes."""
    shown = code(masks.causal, masks.full)
    data = {"text/plain": repr(shown), "text/html": shown._repr_html_()}
    checked = new_output("stream", name="stdout", text="✓ checked: they agree\n")
    cells = [
        new_markdown_cell("# Small\n\nGo [to the notes](#notes-on-the-source-texts)."),
        cell("import torch  # plumbing", "hide-input"),
        cell("assert 1 == 1  # proof", "hide-cell", checked),
        cell("code(masks.causal, masks.full)", "remove-input", new_output("execute_result", data)),
        new_markdown_cell("## Exercises\n\n" + "Words.\n\n" * 60),
        cell("answer = 42", "hide-cell"),
        new_markdown_cell(
            "## Notes on the source texts\n\nFirst words.\n\n### E-99 · A slip\n\nIt says so.\n\n"
            "## After"
        ),
    ]
    book = new_notebook(cells=cells)
    for part, form in zip(book.cells, committed_form(book).cells, strict=True):
        part.metadata = form.metadata
    return book


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A book of two pages, built by the book's own extensions; gives its address on disk."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "conf.py").write_text(CONF, encoding="utf-8")
    nbformat.write(chapter(), folder / "one.ipynb")
    (folder / "index.md").write_text(
        "# Start\n\n```{toctree}\none\n```\n\n[a slip](one.ipynb#e-99-a-slip)\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "out").as_uri()


@pytest.fixture(scope="module")
def small_served(small):
    """The same from a server: what a test's browser keeps for files it may forget at once."""
    with served(Path(small.removeprefix("file://"))) as address:
        yield address


@pytest.fixture(scope="module")
def page_of(small):
    path = small.removeprefix("file://") + "/one.html"
    with open(path, encoding="utf-8") as file:
        return BeautifulSoup(file.read(), "html.parser")


def test_all_of_it_stands_in_the_page_as_it_is_served(page_of):
    """So without JavaScript each part opens by itself."""
    assert not page_of.select("details[open]")
    (notes,) = page_of.select("section#notes-on-the-source-texts > details.pieces-notes")
    assert notes.summary.h2.get_text().startswith("Notes on the source texts")
    assert "It says so." in notes.select_one("section#e-99-a-slip").get_text()
    assert not notes.select("#after")
    assert page_of.select("section#after")
    links = page_of.select('.bd-sidebar-secondary a[href="#notes-on-the-source-texts"]')
    assert links, "the page's contents name the section"


def test_one_switch_right_under_the_title(page_of):
    (switch,) = page_of.select(".pieces-switch")
    assert switch.find_previous_sibling().name == "h1"
    assert switch.button.get_text() == "Show all code"


def test_a_page_without_folded_code_has_no_switch(small):
    with open(small.removeprefix("file://") + "/index.html", encoding="utf-8") as file:
        start = BeautifulSoup(file.read(), "html.parser")
    assert not start.select(".pieces-switch")


def test_each_prompt_says_what_it_shows(page_of):
    prompts = [p.get_text() for p in page_of.select("details.hide > summary > .collapsed")]
    assert prompts == ["Show the code", "✓ Show the check", "Show the solution"]


def test_folded_code_of_the_package_is_not_called_a_check():
    folded = [cell(source, "hide-cell") for source in ("code(masks.full)", "assert 1 == 1")]
    form = committed_form(new_notebook(cells=folded))
    prompts = [part.metadata["mystnb"]["code_prompt_show"] for part in form.cells]
    assert prompts == ["Show the package's code", "✓ Show the check"]


def test_without_javascript_there_is_no_dead_switch_and_everything_opens(chromium, small):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small}/one.html")
    assert not page.locator(".pieces-switch").is_visible()
    for details in page.locator("article details").all():
        if details.is_visible():
            details.locator("> summary").click()
    for words in ("# plumbing", "# proof", "answer = 42", "It says so."):
        assert page.get_by_text(words).first.is_visible(), words
    context.close()


def switch(page):
    """Press the switch, and wait until the page says so and the browser has kept it."""
    button = page.locator(".pieces-switch button")
    before = button.inner_text()
    button.click()
    page.wait_for_function(
        "(was) => document.querySelector('.pieces-switch button').innerText !== was", arg=before
    )
    page.wait_for_timeout(300)


def all_open(page):
    """The three folded parts of the page are open."""
    page.wait_for_function("() => document.querySelectorAll('details[open]').length === 3")


class TestSwitch:
    def test_it_opens_all_code_and_closes_it(self, chromium, small):
        with opened(chromium, f"{small}/one.html") as page:
            button = page.locator(".pieces-switch button")
            button.focus()
            page.keyboard.press("Enter")
            kinds = page.evaluate(OPEN)
            assert len(kinds) == 3
            assert sum("above-input" in kind for kind in kinds) == 2
            assert "pieces-other" in kinds
            for words in ("# plumbing", "# proof", "✓ checked: they agree"):
                assert page.get_by_text(words).first.is_visible(), words
            assert not page.get_by_text("answer = 42").is_visible(), "an answer is not for all"
            assert button.inner_text() == "Hide code"
            button.click()
            assert page.evaluate(OPEN) == []
            assert button.inner_text() == "Show all code"
            assert not [error for error in page.record.errors if error.startswith("page error")]

    def test_every_page_remembers_it(self, chromium, small_served):
        with opened(chromium, f"{small_served}/one.html") as page:
            switch(page)
            page.goto(f"{small_served}/index.html")
            page.goto(f"{small_served}/one.html")
            all_open(page)
            assert page.locator(".pieces-switch button").inner_text() == "Hide code"
            switch(page)
            page.reload()
            page.wait_for_timeout(300)
            assert page.evaluate(OPEN) == []

    def test_what_was_open_before_does_not_make_the_page_jump(self, chromium, small_served):
        with opened(chromium, f"{small_served}/one.html", init=SHIFTS) as page:
            switch(page)
            page.reload(wait_until="load")
            all_open(page)
            page.evaluate(PAINTED)
            assert page.evaluate("shifts") < 0.05

    def test_a_browser_that_keeps_nothing_still_obeys(self, chromium, small):
        with opened(chromium, f"{small}/one.html", init=REFUSES) as page:
            button = page.locator(".pieces-switch button")
            button.click()
            assert len(page.evaluate(OPEN)) == 3
            button.click()
            assert page.evaluate(OPEN) == []


SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shifts += e.value; })
  .observe({ type: "layout-shift", buffered: true });"""


class TestNotes:
    def is_open(self, page):
        return page.locator(NOTES).evaluate("(d) => d.open")

    def test_a_press_on_the_heading(self, chromium, small):
        with opened(chromium, f"{small}/one.html") as page:
            assert not self.is_open(page)
            page.locator(f"{NOTES} > summary").click(position={"x": 60, "y": 12})
            assert self.is_open(page)
            assert violations(page) == []

    @pytest.mark.parametrize("anchor", ["notes-on-the-source-texts", "e-99-a-slip"])
    def test_a_link_into_it_opens_it(self, chromium, small, anchor):
        with opened(chromium, f"{small}/one.html#{anchor}") as page:
            assert self.is_open(page)
            top = page.locator(f"#{anchor}").evaluate("(e) => e.getBoundingClientRect().top")
            assert -50 < top < 900

    def test_a_link_of_the_page_opens_it_again_and_again(self, chromium, small):
        with opened(chromium, f"{small}/one.html") as page:
            link = page.get_by_role("link", name="to the notes")
            for _ in range(2):
                link.click()
                page.wait_for_function(f"document.querySelector('{NOTES}').open")
                page.locator(NOTES).evaluate("(d) => { d.open = false; }")

    def test_a_link_of_another_page_opens_it(self, chromium, small):
        with opened(chromium, f"{small}/index.html") as page:
            page.locator("article a[href*=e-99]").last.click()
            page.wait_for_url("**/one.html#e-99-a-slip")
            page.wait_for_function(f"document.querySelector('{NOTES}').open")

    def test_a_search_in_the_page_opens_it(self, chromium, small):
        """A text fragment is found by the same machinery as a search by hand."""
        with opened(chromium, f"{small}/one.html#:~:text=It%20says%20so") as page:
            page.wait_for_function(f"document.querySelector('{NOTES}').open")

    def test_paper_shows_it(self, chromium, small):
        with opened(chromium, f"{small}/one.html") as page:
            page.emulate_media(media="print")
            height = page.get_by_text("It says so.").evaluate("(e) => e.offsetHeight")
            assert height > 0, "by the style alone"


def test_a_widget_that_waits_folded_has_the_foot_of_the_others(chromium, home):
    """The theme's rules for what it folds end at the widget: the link stands below the line."""
    with opened(chromium, f"{home}/chapters/14_mixture_of_experts.html", width=1366) as page:
        for fold in page.locator("details.above-output:has(.pieces-live) > summary").all():
            fold.click()
        page.locator(".pieces-expert-capacity .p-link").wait_for()
        page.evaluate(PAINTED)
        feet = page.locator("div.pieces .p-foot:has(> .p-details):has(.p-link)").evaluate_all(
            "(all) => all.map((foot) => foot.querySelector('.p-link').getBoundingClientRect().top"
            " - foot.querySelector('.p-details').getBoundingClientRect().top)"
        )
        assert len(feet) >= 4
        assert max(feet) - min(feet) < 1, feet
        assert min(feet) > -2
