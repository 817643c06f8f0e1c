"""What a chapter's tests hold its words to: a number in a sentence is the one computed."""

import re
from functools import cache

import nbformat

import plain_markdown
from browser import ROOT
from notebook_form import home


@cache
def words(chapter: str) -> str:
    """Return the text of a chapter, its questions' words left out, on one line."""
    notebook = nbformat.read(ROOT / "chapters" / f"{chapter}.ipynb", as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    plain = plain_markdown.local("\n".join(texts), home())
    pictured = re.sub(r"\[([^\]]*)\]\(#see-[^\s)]*\)", r"\1", plain)  # links that set a picture
    return re.sub(r"\s+", " ", pictured)


def says(chapter: str, *sentences: str) -> None:
    """Fail where a chapter does not say this: pass f-strings of what was computed."""
    text = words(chapter)
    for sentence in sentences:
        assert re.sub(r"\s+", " ", sentence) in text, f"{chapter} does not say: {sentence}"
