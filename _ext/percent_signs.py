"""A number and its percent sign stay on one line: the space between them does not break."""

import re

from docutils.nodes import FixedTextElement, Text, literal, math, math_block, raw

PERCENT = re.compile(r"(?<=\d) %")
AS_THEY_STAND = (FixedTextElement, literal, math, math_block, raw)


def keep(app, doctree, docname):
    """Join them in the words of a page; what is shown as it stands in a file stays so."""
    for text in [one for one in doctree.findall(Text) if PERCENT.search(one)]:
        if not isinstance(text.parent, AS_THEY_STAND):
            text.parent.replace(text, Text(PERCENT.sub("\u00a0%", text)))


def setup(app):
    """Join them when a page is written."""
    app.connect("doctree-resolved", keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
