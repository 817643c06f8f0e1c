"""What waits closed on a page: the notes on the source texts, and code that is not the idea.

The section "Notes on the source texts" becomes one closed block. A page with folded code gets one
switch that opens all of it, worked by `_static/folded.js`, which Jupyter Book puts on every page.
Without JavaScript each part still opens by itself, for all of them are `<details>`.
"""

import re

from docutils import nodes

NOTES = "Notes on the source texts"
# The theme's own heading holds a link, which may not stand in what is pressed.
HEADING = f'<details class="pieces-notes"><summary><h2>{NOTES}</h2></summary><div>'
SWITCH = (
    '<p class="pieces-switch"><button type="button" data-show="Show all code" '
    'data-hide="Hide code">Show all code</button></p>'
)
FOLDED = re.compile(r'<details class="[^"]*\b(?:above-input|pieces-other)\b')
TITLE = re.compile(r"</h1>")


def raw(html):
    """Return a node that is written as it stands."""
    return nodes.raw("", html, format="html")


def close_notes(app, doctree, docname):
    """Close the notes: their heading is what one presses."""
    for section in doctree.findall(nodes.section):
        if section.children and section[0].astext() == NOTES:
            rest = section.children[1:]
            section.children = []
            section += [raw(HEADING), *rest, raw("</div></details>")]


def mark_folded(app, doctree, docname):
    """Mark the cells of which a reader sees the fold alone, for the style."""
    for cell in doctree.findall(nodes.container):
        alone = cell.get("nb_element") == "cell_code" and len(cell) == 1
        if alone and "above-input" in cell[0].get("classes", []):
            cell["classes"].append("pieces-folded")


def add_switch(app, pagename, templatename, context, doctree):
    """Put the switch under the title of a page with folded code."""
    body = context.get("body", "")
    if FOLDED.search(body):
        context["body"] = TITLE.sub(lambda end: end[0] + SWITCH, body, count=1)


def setup(app):
    """Connect to Sphinx."""
    app.connect("doctree-resolved", close_notes, priority=900)
    app.connect("doctree-resolved", mark_folded)
    app.connect("html-page-context", add_switch, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
