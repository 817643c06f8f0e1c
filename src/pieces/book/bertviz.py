"""BertViz's views of the weights of every head, drawn beside our own maps, at a press of a button.

BertViz (Vig 2019) draws with d3 and jQuery, which its own pages fetch from a CDN by require.js. A
book asks no third party for anything, so both libraries come with the package, under ``libraries``
with their licences: d3 5.7.0, as BertViz names it, and jQuery 2.2.4, as its 2.0.0 is not on npm.
They travel packed, once for all views of an output, and a press unpacks them into a frame of the
view's own, apart from the page. On the site they are a file, which a press asks for.
"""

import base64
import functools
import gzip
import html
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from jaxtyping import Float
from torch import Tensor

from pieces.checks import checked, require

LIBRARIES = ("jquery.min.js", "d3.min.js")
DIGITS = 4  # of the weights on their way into the page
LESS = "\ue000"  # for "<"; a private character, which no text has
# BertViz asks require.js for its libraries; here they stand above it, so it gets them at once.
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ margin: 8px; background: #fff; color: #222; font: 15px sans-serif }}</style></head>
<body><p id="sorry" role="status" hidden>This browser cannot unpack the libraries that BertViz draws
with. The maps of this chapter show the same weights.</p>
<div id="view"><script>
addEventListener("error", () => {{
  document.getElementById("view").hidden = true;
  document.getElementById("sorry").hidden = false;
}}, true);
new ResizeObserver(() => parent.postMessage({{ height: document.body.scrollHeight + 16 }}, "*"))
  .observe(document.body);
</script>
<script id="libraries"></script>
<script>
const require = {{ config() {{}} }}, requirejs = (names, draw) => draw(jQuery, d3);
</script>
{view}</div></body></html>"""
# In a notebook; on the site, the book's own buttons.
STYLE = """.pieces-bertviz button { padding: .35rem .9rem; margin: .2rem 0; cursor: pointer;
  border: 1px solid #8888; border-radius: 8px; font: inherit; color: inherit; background: none }"""
OPEN = """const frame = this.nextElementSibling;
const place = this.closest('.pieces-bertviz').dataset;
window.addEventListener('message', (event) => {
  if (event.source === frame.contentWindow) frame.style.height = event.data.height + 'px';
});
frame.hidden = false; this.hidden = true;
(async () => {
  let libraries = '';
  try {
    if (place.file && !window.piecesBertviz) await new Promise((arrived, failed) => {
      const script = document.createElement('script');
      Object.assign(script, { src: place.file, onload: arrived, onerror: failed });
      document.head.append(script);
    });
    const packed = place.libraries ?? window.piecesBertviz;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    libraries = await new Response(stream).text();
  } catch (error) { console.error(error); }
  const begin = '<script id="libraries">';
  frame.srcdoc = frame.dataset.page.replace(begin, () => begin + libraries);
  frame.focus();
})();"""
BUTTON = """<div><button type="button" onclick="{open}">{label}</button>
<iframe hidden title="{label}" sandbox="allow-scripts" data-page="{page}"
  style="width: 100%; height: 340px; border: 1px solid #8885; background: #fff"></iframe></div>"""


class BertViz:
    """Some of BertViz's views: a button that opens each, or one line of text."""

    def __init__(self, views: dict[str, str]) -> None:
        self.views = views

    def __repr__(self) -> str:
        """Return which views they are."""
        return f"BertViz's {' and '.join(self.views)}"

    def _repr_html_(self) -> str:
        buttons = "\n".join(_button(f"BertViz's {name}", view) for name, view in self.views.items())
        place = f'<div class="pieces-bertviz" data-libraries="{packed()}">'
        return f"{place}<style>{STYLE}</style>{buttons}</div>"


@checked
def head_view(
    weights: Sequence[Float[Tensor, "1 H T S"]], tokens: Sequence[str], *, layer: int = 0
) -> BertViz:
    """A line from each token to each that it attends to, a colour for each head, one layer at once.

    ``weights`` has a tensor for each layer, ``tokens`` one word for each of its rows.
    BertViz counts layers and heads from 0; ``layer`` is the one shown first.
    Source: Vig 2019. Shapes: weights [1, H, T, T] each.
    """
    from bertviz import head_view as drawn

    return BertViz({"head view": _view(drawn, weights, tokens, layer=layer)})


@checked
def model_view(weights: Sequence[Float[Tensor, "1 H T S"]], tokens: Sequence[str]) -> BertViz:
    """All heads of all layers, small, on one picture; press one to see it large.

    Source: Vig 2019. Shapes: weights [1, H, T, T] each.
    """
    from bertviz import model_view as drawn

    return BertViz({"model view": _view(drawn, weights, tokens, display_mode="light")})


@checked
def views(
    weights: Sequence[Float[Tensor, "1 H T S"]], tokens: Sequence[str], *, layer: int = 0
) -> BertViz:
    """The head view and the model view together, which need their libraries once.

    Shapes: weights [1, H, T, T] each.
    """
    both = head_view(weights, tokens, layer=layer), model_view(weights, tokens)
    return BertViz(both[0].views | both[1].views)


@functools.cache
def packed() -> str:
    """The libraries as the page unpacks them: gzip, in letters; the same each time."""
    folder = files("pieces.book") / "libraries"
    code = "\n".join((folder / name).read_text(encoding="utf-8") for name in LIBRARIES)
    # It stands in a script of the frame, which its own texts must not end.
    code = re.sub(r"<(?=/script|!--)", r"\\x3c", code, flags=re.I)
    return base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()


def _button(label: str, view: str) -> str:
    attributes = {"open": OPEN, "label": label, "page": PAGE.format(title=label, view=view)}
    attributes["label"] = f"Open {label}"
    return BUTTON.format(**{name: html.escape(text) for name, text in attributes.items()})


def _view(drawn: Callable, weights: Sequence[Tensor], tokens: Sequence[str], **options: Any) -> str:
    S = weights[0].shape[-1]
    require(len(tokens) == S, "len(tokens)", len(tokens), f"must be {S}", "pass the text read")
    short = [one.detach().cpu().double().round(decimals=DIGITS) for one in weights]
    words = [word.replace("<", LESS) for word in tokens]
    view = drawn(short, words, html_action="return", **options).data
    view = re.sub(r'<script src="[^"]*require[^"]*"></script>', "", view)
    # A "<" of the text's own must not end the script in which it stands. The name is drawn anew
    # each time; alone in its frame the view needs none, and a page stays the same.
    return re.sub(r"bertviz-[0-9a-f]{32}", "bertviz", view.replace(r"\ue000", r"\u003c"))
