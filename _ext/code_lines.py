"""Each line of a cell's code in an element of its own, which knows how far it is set in.

So on a phone a long line goes on below, set in under its beginning, and nothing scrolls sideways.
"""

import html
import re

CELL = re.compile(
    r'(<div class="cell_input[^"]*">\s*<div class="highlight-[^"]*"><div class="highlight"><pre>)'
    r"(.*?)(</pre>)",
    re.S,
)
TAG = re.compile(r"<[^>]*>")


def line(coloured):
    """Return one line in its element; the next one stands under it, four columns further in."""
    text = html.unescape(TAG.sub("", coloured))
    hang = len(text) - len(text.lstrip()) + 4
    return f'<span class="line" style="--hang:{hang}ch">{coloured}\n</span>'


def lines(code):
    """Return highlighted code, line by line: Pygments closes at each end what it has opened."""
    return "".join(map(line, code.removesuffix("\n").split("\n")))


def split_lines(app, pagename, templatename, context, doctree):
    """Rewrite the cells of one page."""
    if "cell_input" in context.get("body", ""):
        split = CELL.sub(lambda cell: cell[1] + lines(cell[2]) + cell[3], context["body"])
        context["body"] = split


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-page-context", split_lines, priority=610)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
