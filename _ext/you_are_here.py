"""You are here: on each chapter the whole model, small, its own part lit; a press opens it alive.

What is lit and what the model reads is a line of `pieces/book/thread.toml`. On a wide screen the
picture stands above the page's contents, elsewhere it is a strip under the title (book.css). The
scripts and weights of the living one are asked for when it is pressed (`_static/here.js`), by a
file that is written here. The chapters' list on the front page is its key.
"""

import functools
import html
import json
import re
from pathlib import Path
from urllib.parse import quote

import bulk_weights
import live_widgets
from pieces.book.small_model import size, small_model
from pieces.book.thread import ChapterPlace, chapter_places, links, place_of
from pieces.trained import load, path_of
from reading_time import told

TITLE = re.compile(r"</h1>")
ENTRY = re.compile(r"<dt>(?P<number>\d+) ·(?P<rest>.*?)</dt>(?P<told>\s*<dd>.*?)</p>\s*</dd>", re.S)
PAGE = re.compile(r'href="chapters/(\w+)\.html"')
KEY = re.compile(r'<div class="front-key[^>]*>')

WHOLE = ChapterPlace("the whole model", (), "", chapter_places()[15].text)


@functools.cache
def picture(model, text):
    """Return the groups of a picture, and its size."""
    trained = load(model)
    return small_model(trained.model, trained.task, text), size(trained.model)


def svg(place, inner):
    """Return an SVG of the size of a place's picture, told in words."""
    _, (width, height) = picture(place.model, place.text)
    told = f", with one part lit: {place.name}" if place.lit else ""
    words = html.escape(f"The whole model, small{told}.")
    box = f'viewBox="0 0 {width} {height}" role="img" aria-label="{words}"'
    return f'<svg class="here-picture" {box}>{inner}</svg>'


def group(place):
    """Return the picture of a place; its style hangs on this group, so that `use` shows it too."""
    lit = " ".join(f"lit-{kind.replace(' ', '-')}" for kind in place.lit)
    return f'<g id="here" class="here-model {lit}">{picture(place.model, place.text)[0]}</g>'


def address(place):
    """Return where the front page shows this part."""
    state = {"part": place.part, "text": place.text}
    query = "&".join(f"{name}={quote(value)}" for name, value in state.items() if value)
    return f"../index.html#see-whole-model?{query}"


def link(place, kind, inner):
    """Return what is pressed."""
    more = {"part": place.part, "text": place.text, "model": place.model, "name": place.name}
    data = " ".join(f'data-{k}="{html.escape(v)}"' for k, v in more.items())
    return f'<a class="here {kind}" href="{html.escape(address(place))}" {data}>{inner}</a>'


def shown(place, time):
    """Return the two forms of the mark: above the contents, and under the title."""
    words = f'<span class="here-words">You are here: <b>{html.escape(place.name)}</b></span>'
    words = f'<span class="here-text">{words}<span class="here-time">{time}</span></span>'
    whole, small = svg(place, group(place)), svg(place, '<use href="#here"/>')
    return link(place, "here-side", words + whole), link(place, "here-strip", small + words)


def time_of(app, pagename, place):
    """Return how long a chapter takes, in words."""
    return told(Path(app.srcdir) / f"{pagename}.ipynb", place)


def of_page(pagename):
    """Return the place of a page, None of what is no chapter."""
    folder, _, name = pagename.rpartition("/")
    return place_of(name) if folder == "chapters" else None


def mark_contents(app, pagename, templatename, context, doctree):
    """Hand the mark to the template beside the page, before the theme asks which are empty."""
    if place := of_page(pagename):
        context["here"] = shown(place, time_of(app, pagename, place))[0]


def mark_title(app, pagename, templatename, context, doctree):
    """Put the mark under the title of a chapter, and the key on the front page."""
    body = context.get("body", "")
    if pagename == "index":
        context["body"] = keyed(app, body)
    if place := of_page(pagename):
        write_state(app, place.model)
        strip = shown(place, time_of(app, pagename, place))[1]
        context["body"] = TITLE.sub(lambda end: end[0] + strip, body, count=1)


def keyed(app, body):
    """Return the front page with the picture beside its list of chapters, each part named."""

    def entry(match):
        place = chapter_places().get(int(match["number"]))
        if place is None:  # a draft that has no line in the thread yet
            return match[0]
        page = f"chapters/{PAGE.search(match['rest'])[1]}"
        time = f'<span class="front-time">{time_of(app, page, place)}</span>'
        name = f'<span class="front-at">{html.escape(place.name)}</span>'
        lit = " ".join(place.lit)
        head = f'<dt data-lit="{lit}">{match["number"]} ·{match["rest"]} {name}</dt>'
        return f"{head}{match['told']} {time}</p></dd>"

    whole = svg(WHOLE, group(WHOLE))
    return ENTRY.sub(entry, KEY.sub(lambda place: f"{place[0]}{whole}", body))


def write_state(app, model):
    """Write what brings the picture alive in a chapter: its state, its weights, and its scripts."""
    from pieces.widgets import WholeModel  # here, for a page without the mark needs no widget

    folder = Path(app.outdir) / "_static" / "pieces"
    bulk_weights.write_weights(app.outdir, model, path_of(model).read_bytes())
    widget = WholeModel(model_name=model, links=links())
    saved = {k: v for k, v in widget.get_state().items() if not isinstance(v, memoryview)}
    data = {
        "modules": [*live_widgets.CLASSIC, *live_widgets.needed(WholeModel.module)],
        "module": WholeModel.module,
        "rows": WholeModel.rows_shown(saved),
        "state": live_widgets.visible(saved) | {"weights_file": model},
    }
    script = f"(self.piecesHere ??= {{}})[{json.dumps(model)}] = {json.dumps(data)};\n"
    bulk_weights.write_whole(folder / "here" / f"{model}.js", script)


def setup(app):
    """Connect to Sphinx; the chapters' pages follow their table."""
    app.connect("html-page-context", mark_contents, priority=400)
    app.connect("html-page-context", mark_title, priority=650)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
