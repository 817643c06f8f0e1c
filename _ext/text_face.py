"""The book's own text face, so that a page has the same lines, and the same heights, everywhere.

Inter (SIL Open Font License), upright, cut down to the signs that the book writes and that a reader
types: `_static/face/`. It travels inside a style sheet, from a server as from disk. A browser takes
a face up when the first line asks for it, which is a frame too late: the lines jump. So each page
asks for it before it has a body.
"""

import base64
import re
from pathlib import Path

HERE = Path(__file__).parents[1] / "_static"
FACE = HERE / "face" / "inter.woff2"
NAMED = re.compile(r"--pst-font-family-base:[^;]*;")  # the book's faces, by name
STYLE = (
    '@font-face {{ font-family: "Book Inter"; font-weight: 400 700; '
    "src: url(data:font/woff2;base64,{}) format('woff2'); }}\n"
)

OURS = '1em "Book Inter"'
ASK = "document.fonts?.load({});"


def ask(*faces):
    """Return a script that takes faces up while the page is still being read: "italic 1em Name"."""
    return " ".join(ASK.format(repr(face)) for face in faces)


def style():
    """Return the style sheet that holds the face."""
    return STYLE.format(base64.b64encode(FACE.read_bytes()).decode())


def head():
    """Return what a page that Sphinx does not make has in its head, to be set as the book is."""
    named = NAMED.search((HERE / "book.css").read_text(encoding="utf-8"))[0]
    return f"<style>{style()}:root {{ {named} }}</style><script>{ask(OURS)}</script>"


def write(app):
    """Write the style sheet into the site, before Sphinx takes the checksums of its files."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static"
        target.mkdir(parents=True, exist_ok=True)
        (target / "face.css").write_text(style(), encoding="utf-8")
        app.add_css_file("face.css", priority=100)
        app.add_js_file(None, body=ask(OURS), priority=100)


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
