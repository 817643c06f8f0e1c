"""The site's extras, made from plain Markdown: a chapter reads whole wherever notebooks are read.

a link to the glossary        [mask](appendix/glossary.md#mask)              a glossary term
a link to the bibliography    [Luong et al. (2015)](appendix/bibliography.md#luong2015effective)
                                                                             a citation
a link to a widget's state    [untick head 1.2](#see-attention-heatmap?off=[[1,2]])
                                                                             sets the widget
a quote that begins in bold   > **Exercise 3.1 · Two keys**                  a box

In a committed notebook these links have the repository's address before them, so that they lead
somewhere from a notebook alone. Here it is taken away: the site links its own pages.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinxcontrib.bibtex.citation_target import parse_citation_targets
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.roles import CitationRef
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

from plain_pages import BIBLIOGRAPHY, GLOSSARY, terms

BOXES = {
    "exercise": r"Exercise \d+\.\d+\b",
    "erratum": r"(E-\d\d|Erratum)\b",
    "note": r"Note\b",
}
YEAR_APART = re.compile(r"\(\d{4}[a-z]?\)$")  # "Luong et al. (2015)", not "Luong et al., 2015"

SETS = "#see-"  # links.js reads the rest, and says where it is wrong

logger = logging.getLogger(__name__)


def local(text, home):
    """Return a chapter's text with its links to the repository's chapters as links beside it."""
    return text.replace(f"]({home}", "](")


def read(app, docname, source):
    """Link the site's own pages, as a chapter is read."""
    place = app.config.html_theme_options
    if re.fullmatch(r"chapters/\w+", docname):
        branch = place.get("repository_branch") or "main"
        source[0] = local(source[0], f"{place['repository_url']}/blob/{branch}/chapters/")


def box_kind(title):
    """Return which box a bold beginning asks for, or None."""
    return next((kind for kind, pattern in BOXES.items() if re.match(pattern, title)), None)


def box(quote):
    """Return the box that a quote is, or None where it is just a quote."""
    first = quote.children[0] if quote.children else None
    if not isinstance(first, nodes.paragraph):
        return None
    words = [node for node in first.children if node.astext()]  # MyST leaves empty texts around
    if not words or not isinstance(words[0], nodes.strong):
        return None
    title, *rest = words
    kind = box_kind(title.astext())
    if kind is None:
        return None
    made = nodes.admonition("", classes=[kind])
    made.source, made.line = quote.source, quote.line
    made += nodes.title("", "", *title.children)
    if "".join(node.astext() for node in rest).strip():
        made += nodes.paragraph("", "", *rest)
    made += quote.children[1:]
    return made


class PlainMarkdown(SphinxTransform):
    """Turn plain links and quotes into terms, citations and boxes, as each page is read."""

    default_priority = 210

    def apply(self, **options):
        """Rewrite one page."""
        for quote in list(self.document.findall(nodes.block_quote)):
            made = box(quote)
            if made is not None:
                quote.replace_self(made)
        for link in list(self.document.findall(addnodes.pending_xref)):
            change = {GLOSSARY: self.term, BIBLIOGRAPHY: self.citation}.get(link.get("reftarget"))
            if change and link.get("refdomain") == "doc" and link.get("reftargetid"):
                change(link)
        for link in list(self.document.findall(nodes.reference)):
            if link.get("refuri", "").startswith(SETS):  # no anchor that could be looked up
                link.attributes.pop("id_link", None)
                link["classes"].append("sets")

    def term(self, link):
        """Make a link a glossary term."""
        glossary = Path(self.env.doc2path(GLOSSARY))
        self.env.note_dependency(str(glossary))
        known = terms(glossary.read_text(encoding="utf-8"))
        asked = link["reftargetid"]
        if asked not in known:
            logger.warning("no term of the glossary: %s", asked, location=link)
        text = nodes.inline("", link.astext(), classes=["xref", "std", "std-term"])
        options = {"refdomain": "std", "reftype": "term", "reftarget": known.get(asked, asked)}
        options |= {"refdoc": self.env.docname, "refexplicit": True, "refwarn": True}
        link.replace_self(addnodes.pending_xref("", text, **options))

    def citation(self, link):
        """Make a link a citation, which says author and year as the bibliography has them."""
        key = link["reftargetid"]
        kind = "t" if YEAR_APART.search(link.astext()) else "alp"
        options = {"refdomain": "cite", "reftype": kind, "reftarget": key, "refwarn": True}
        options |= {"refdoc": self.env.docname, "refexplicit": False}
        cited = addnodes.pending_xref("", nodes.inline("", key), **options)
        cited.source, cited.line = link.source, link.line
        self.document.note_explicit_target(cited, cited)
        targets = list(parse_citation_targets(key))
        found = CitationRef(cited["ids"][0], self.env.docname, link.line or 0, targets)
        self.env.get_domain("cite").citation_refs.append(found)
        link.replace_self(cited)


class RoundAuthorYear(AuthorYearReferenceStyle):
    """Author and year, the year in round brackets, as a chapter writes them."""

    def __init__(self):
        super().__init__(bracket_textual=BracketStyle(left="(", right=")"))


def setup(app):
    """Connect to Sphinx."""
    place = "sphinxcontrib.bibtex.style.referencing"
    register_plugin(place, "author_year_round", RoundAuthorYear)
    app.connect("source-read", read)
    app.add_transform(PlainMarkdown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
