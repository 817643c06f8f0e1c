"""Glossary and bibliography: plain Markdown in their files, the site's directives when it is built.

A link of a chapter opens the file itself in JupyterLab or on GitHub, so it must read well there.
The list of works is written by tools/bibliography.py.
"""

import re

GLOSSARY, BIBLIOGRAPHY = "chapters/appendix/glossary", "chapters/appendix/bibliography"
TERM = re.compile(r"^## (.+)\n", flags=re.M)
CHINESE = re.compile(r"[\u3400-\u9fff]+")


def slug(term):
    """Return a term as a link writes it."""
    return re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def terms(text):
    """Return the terms of the glossary's text by their slugs."""
    return {slug(term): term.strip() for term in TERM.findall(text)}


def glossary(text):
    """Return the glossary as the site has it: a directive, its Chinese marked as such."""
    head, *entries = TERM.split(text)
    rows = []
    for term, body in zip(entries[::2], entries[1::2], strict=True):
        lines = CHINESE.sub(r"[\g<0>]{.zh}", body.strip()).split("\n")
        rows.append("\n".join([term, *(f"  {line}" for line in lines)]))
    return f"{head}```{{glossary}}\n" + "\n\n".join(rows) + "\n```\n"


def bibliography(text):
    """Return the bibliography as the site has it: its list is made by the directive."""
    return text[: text.index("\n- ")] + "\n```{bibliography}\n:all:\n```\n"


def read(app, docname, source):
    """Put the directive in the place of the plain text, as a page is read."""
    change = {GLOSSARY: glossary, BIBLIOGRAPHY: bibliography}.get(docname)
    if change:
        source[0] = change(source[0])


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
