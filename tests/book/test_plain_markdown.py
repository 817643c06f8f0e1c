"""Chapters are plain Markdown; the site's terms, citations, boxes are made of it."""

import re
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.core import publish_doctree
from markdown_it import MarkdownIt
from myst_parser.parsers.docutils_ import Parser
from pybtex.database import parse_file

import bibliography
import plain_markdown
import plain_pages
from browser import ROOT
from notebook_form import home, linked

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
GLOSSARY = (ROOT / "chapters/appendix/glossary.md").read_text(encoding="utf-8")
RAW = {
    "a role": r"\{[\w:-]+\}",
    "a directive": r":::|```",
    "an option": r"^:\w+:",
    "a label": r"^\([\w-]+\)=",
    "a target": r"\[[^\]]*\]\{",
}
MATHS = r"\$\$.*?\$\$|\$[^$\n]+\$"


@pytest.fixture(params=CHAPTERS, ids=[path.stem for path in CHAPTERS])
def chapter(request):
    return request.param


def markdown(path):
    notebook = nbformat.read(path, as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [plain_markdown.local(text, home()) for text in texts]


def rendered(text):
    """What a plain notebook makes of Markdown: CommonMark and tables, nothing else."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    return BeautifulSoup(page, "html.parser")


def links(path, page):
    """The links of a chapter that lead to a page, as (text, anchor)."""
    found = rendered("\n\n".join(markdown(path))).select(f'a[href^="appendix/{page}.md#"]')
    return [(link.get_text(), link["href"].partition("#")[2]) for link in found]


def raw(text):
    """The syntax that a plain reader would see, by kind."""
    page = rendered(re.sub(MATHS, "", text, flags=re.S))
    for node in page.select("pre, code"):
        node.decompose()
    words = page.get_text()
    return {kind: m[0] for kind, p in RAW.items() if (m := re.search(p, words, flags=re.M))}


def test_every_cell_is_plain(chapter):
    for text in markdown(chapter):
        assert raw(text) == {}, text


@pytest.mark.parametrize(
    "text",
    [
        "See {term}`mask`.",
        "{cite:t}`vaswani2017attention` says so.",
        ":::{admonition} Box\nText\n:::",
        "(label)=\n\n# Title",
        ":class: erratum",
        "[■]{.zh}",
    ],
)
def test_a_plain_reader_would_see_it(text):
    assert raw(text)


def test_every_link_leads_somewhere_from_the_notebook_alone(chapter):
    notebook = nbformat.read(chapter, as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    found = [link["href"] for link in rendered("\n\n".join(texts)).select("a[href]")]
    assert [link for link in found if not link.startswith(("https://", "#"))] == []
    assert any(link.startswith(home()) for link in found), "link another page of the book"


@pytest.mark.parametrize(
    ("link", "whole"),
    [
        ("appendix/glossary.md#causal-mask", True),
        ("appendix/errata.md", True),
        ("05_causal_attention.ipynb#notes-on-the-source-texts", True),
        ("#notes-on-the-source-texts", False),
        ("https://example.org/appendix/glossary.md", False),
    ],
)
def test_a_link_to_a_file_of_the_book_is_made_whole_and_the_sites_own_again(link, whole):
    text = f"See [this]({link}), and [that]({link})."
    made = linked(text)
    assert made == (text.replace("](", f"]({home()}") if whole else text)
    assert linked(made) == made
    assert plain_markdown.local(made, home()) == text


@pytest.mark.parametrize(("page", "own"), [("chapters/05_causal", True), ("index", False)])
def test_the_site_takes_the_address_that_notebooks_have(page, own):
    url, branch = re.fullmatch(r"(.+)/blob/(.+)/chapters/", home()).groups()
    options = {"repository_url": url, "repository_branch": branch}
    app = SimpleNamespace(config=SimpleNamespace(html_theme_options=options))
    source = [linked("[a term](appendix/glossary.md#mask)")]
    plain_markdown.read(app, page, source)
    assert source == [f"[a term]({'' if own else home()}appendix/glossary.md#mask)"]


def test_links_between_files_lead_to_files(chapter):
    for link in rendered("\n\n".join(markdown(chapter))).select("a[href]"):
        address = link["href"].partition("#")[0]
        if address and "://" not in address:
            assert (chapter.parent / address).exists(), address
        assert link.get_text().strip(), f"{address} has no words"


def test_a_link_to_the_glossary_names_a_term(chapter):
    known = plain_markdown.terms(GLOSSARY)
    found = links(chapter, "glossary")
    assert found or chapter.stem == "workbench", "link at least one term to the glossary"
    assert [anchor for _, anchor in found if anchor not in known] == []


def test_the_glossary_is_in_the_order_of_the_alphabet():
    terms = re.findall(r"^## (.+)$", GLOSSARY, re.M)
    plain = [re.sub(r"[^a-z0-9]+", " ", term.lower()) for term in terms]
    assert plain == sorted(plain)


def test_terms_are_read_from_the_glossary():
    known = plain_markdown.terms(GLOSSARY)
    assert known["causal-mask"] == "causal mask"
    assert known["scaled-dot-product-attention"] == "scaled dot-product attention"
    assert len(known) == len(set(known.values()))


def test_the_files_of_terms_and_works_are_plain_as_well():
    for page in ("glossary", "bibliography"):
        text = (ROOT / f"chapters/appendix/{page}.md").read_text(encoding="utf-8")
        assert raw(text) == {}
        assert not rendered(text).select("pre")


def test_the_site_makes_a_directive_of_the_glossary():
    made = plain_pages.glossary("# G\n\nWords.\n\n## a term\n\n词语° · What $x$ is.\nMore.\n")
    entry = "a term\n  [词语]{.zh}° · What $x$ is.\n  More."
    assert made == f"# G\n\nWords.\n\n```{{glossary}}\n{entry}\n```\n"


def test_the_list_of_works_is_that_of_the_references():
    text = (ROOT / "chapters/appendix/bibliography.md").read_text(encoding="utf-8")
    works = bibliography.works(ROOT / "references.bib")
    assert text.endswith(f"cite.\n\n{works}"), "run python tools/bibliography.py"
    assert "- Ashish Vaswani, Noam Shazeer" in works
    assert works.count("\n") == len(parse_file(str(ROOT / "references.bib")).entries)
    assert "- " not in plain_pages.bibliography(text)


class TestBoxes:
    def quote(self, *children):
        return nodes.block_quote("", *children)

    def paragraph(self, title, rest=""):
        words = [nodes.strong("", title)] + ([nodes.Text(rest)] if rest else [])
        return nodes.paragraph("", "", *words)

    @pytest.mark.parametrize(
        ("title", "kind"),
        [
            ("Exercise 5.1 · A window", "exercise"),
            ("E-05 · May a token see itself?", "erratum"),
            ("Erratum", "erratum"),
            ("Note", "note"),
        ],
    )
    def test_a_quote_that_begins_in_bold_is_a_box(self, title, kind):
        made = plain_markdown.box(self.quote(self.paragraph(title), nodes.paragraph("", "Do it.")))
        assert isinstance(made, nodes.admonition)
        assert made["classes"] == [kind]
        assert [child.astext() for child in made.children] == [title, "Do it."]
        assert isinstance(made.children[0], nodes.title)

    def test_a_quote_as_the_parser_reads_it(self):
        text = "> **E-05 · Sees `x`?**\n>\n> Words.\n\n> Just a quote."
        page = publish_doctree(text, parser=Parser())
        made = [plain_markdown.box(quote) for quote in page.findall(nodes.block_quote)]
        assert made[0]["classes"] == ["erratum"]
        assert [child.astext() for child in made[0].children] == ["E-05 · Sees x?", "Words."]
        assert made[1] is None

    def test_words_after_the_title_stay(self):
        made = plain_markdown.box(self.quote(self.paragraph("Note", " Mind the root.")))
        assert [child.astext().strip() for child in made.children] == ["Note", "Mind the root."]

    @pytest.mark.parametrize(
        "first",
        [
            nodes.paragraph("", "Words."),
            nodes.paragraph("", "", nodes.strong("", "Exercises are fun")),
            nodes.bullet_list(""),
        ],
    )
    def test_another_quote_stays_a_quote(self, first):
        assert plain_markdown.box(self.quote(first)) is None


class TestSite:
    """What the chapters ask for in Markdown is on the built pages, each as often."""

    @pytest.fixture
    def page(self, site, chapter):
        text = (site / "chapters" / f"{chapter.stem}.html").read_text(encoding="utf-8")
        return BeautifulSoup(text, "html.parser").select_one("article")

    def test_every_term_leads_to_its_entry(self, page, chapter):
        asked = links(chapter, "glossary")
        made = page.select('a[href^="appendix/glossary.html#term-"]')
        assert [a.get_text() for a in made] == [text.replace("\n", " ") for text, _ in asked]
        for link, (_, anchor) in zip(made, asked, strict=True):
            assert plain_pages.slug(link["href"].partition("#term-")[2]) == anchor

    def test_every_citation_leads_to_its_work(self, page, chapter):
        asked = [text for text, _ in links(chapter, "bibliography")]
        made = page.select('.bibtex-citation a[href^="appendix/bibliography.html#"]')
        assert asked or chapter.stem == "workbench", "cite at least one work"
        assert len(made) == len(asked)
        said = [" ".join(a.find_parent(class_="bibtex-citation").get_text().split()) for a in made]
        assert said == asked, "author and year in the chapter are those of the bibliography"

    def test_every_box_is_there(self, page, chapter):
        asked = re.findall(r"^> \*\*((?:E-|Exercise ).*)\*\*$", "\n".join(markdown(chapter)), re.M)
        titles = page.select(":is(.exercise, .erratum).admonition > .admonition-title")
        plain = [re.sub(r"\W+", " ", title) for title in asked]
        assert [re.sub(r"\W+", " ", title.get_text()) for title in titles] == plain
        begins = [q.p.contents[0].name for q in page.select("blockquote") if q.p]
        assert "strong" not in begins, "a quote that begins with a title stayed a quote"
