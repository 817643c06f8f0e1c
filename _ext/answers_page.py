"""Your answers: the page's table has a row for each question that the book asks.

What a reader answered stands in the reader's own browser; `answers/answers.js`, which no other page
loads, fills it in, and writes and reads the file. Without it the page is a list of all questions.
"""

import html
from pathlib import Path

from sphinx.util.osutil import relative_uri
from torch import Tensor

from pieces.book.ask import names, question

SCRIPTS = Path(__file__).parent / "answers"
PAGE, TABLE = "chapters/appendix/answers", "<!-- answers -->"


def rows(chapters):
    """Return a row for each question, under one for each chapter."""
    found = []
    for chapter in chapters:
        number = int(Path(chapter).name[:2])
        asked = [name for name in names() if int(name.partition(".")[0]) == number]
        link = f'<a href="{relative_uri(f"{PAGE}.html", f"{chapter}.html#exercises")}">'
        for name in asked:
            told = question(name)
            words = html.escape(told["question"])
            form = "mask" if isinstance(told["answer"], Tensor) else "predict"
            first = f'<th scope="row">{link}{name}</a></th>'
            found.append(
                f'<tr data-exercise="{name}" data-kind="{form}">'
                f"{first}<td>{words}</td><td></td><td></td></tr>"
            )
    return "".join(found)


def table(chapters):
    """Return the table, as HTML in Markdown."""
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("no.", "question", "your answer", "so far")
    )
    box = '<div class="pieces-table answers" role="region" tabindex="0" aria-label="Your answers">'
    return (
        "```{raw} html\n"
        f"{box}<table><thead><tr>{head}</tr></thead><tbody>{rows(chapters)}</tbody></table></div>\n"
        "```\n"
    )


def read(app, docname, source):
    """Put the table in its place, as the page is read."""
    if docname == PAGE:
        folder = Path(app.srcdir) / "chapters"
        chapters = [f"chapters/{path.stem}" for path in sorted(folder.glob("[0-9]*.ipynb"))]
        source[0] = source[0].replace(TABLE, table(chapters))


def bring_script(app, config):
    """Copy script and style beside the site's others."""
    config.html_static_path.append(str(SCRIPTS))


def load_script(app, pagename, templatename, context, doctree):
    """Load them on this page alone."""
    if pagename == PAGE:
        app.add_js_file("answers.js", defer="defer")
        app.add_css_file("answers.css")


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", bring_script)
    app.connect("html-page-context", load_script)
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
