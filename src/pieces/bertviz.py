"""BertViz's views of the weights of every head, drawn beside our own maps, at a press of a button.

BertViz (Vig 2019) draws with require.js, d3 and jQuery, which its pages fetch from a CDN. A book
asks no third party for anything by itself: the view is fetched when a reader presses its button,
and it runs in a frame of its own, apart from the page. Where the CDN cannot be reached, the frame
says so.
"""

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from pieces.checks import checked, require

CDN = "cdnjs.cloudflare.com"
DIGITS = 4  # of the weights on their way into the page
LESS = "\ue000"  # for "<"; a private character, which no text has
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ margin: 8px; background: #fff; color: #222; font: 15px sans-serif }}</style></head>
<body><p id="sorry" role="status" hidden>BertViz fetches the libraries that it draws with from
{cdn}, which cannot be reached from here. The maps of this chapter show the same weights.</p>
<div id="view"><script>
addEventListener("error", () => {{
  document.getElementById("view").hidden = true;
  document.getElementById("sorry").hidden = false;
}}, true);
new ResizeObserver(() => parent.postMessage({{ height: document.body.scrollHeight + 16 }}, "*"))
  .observe(document.body);
</script>
{view}</div></body></html>"""
OPEN = """const frame = this.nextElementSibling;
addEventListener('message', (event) => {
  if (event.source === frame.contentWindow) frame.style.height = event.data.height + 'px';
});
frame.srcdoc = frame.dataset.page; frame.hidden = false; this.hidden = true; frame.focus();"""
BUTTON = """<div class="pieces-bertviz"><button type="button" onclick="{open}">{label}</button>
<iframe hidden title="{label}" sandbox="allow-scripts" data-page="{page}"
  style="width: 100%; height: 340px; border: 1px solid #8885; background: #fff"></iframe></div>"""


class BertViz:
    """One of BertViz's views: a button that opens it, or one line of text."""

    def __init__(self, view: str, label: str) -> None:
        self.view, self.label = view, label

    def __repr__(self) -> str:
        """Return which view it is."""
        return self.label

    def _repr_html_(self) -> str:
        page = PAGE.format(title=self.label, cdn=CDN, view=self.view)
        attributes = {"open": OPEN, "label": f"Open {self.label} (asks {CDN})", "page": page}
        return BUTTON.format(**{name: html.escape(text) for name, text in attributes.items()})


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

    return _view("head view", drawn, weights, tokens, layer=layer)


@checked
def model_view(weights: Sequence[Float[Tensor, "1 H T S"]], tokens: Sequence[str]) -> BertViz:
    """All heads of all layers, small, on one picture; press one to see it large.

    Source: Vig 2019. Shapes: weights [1, H, T, T] each.
    """
    from bertviz import model_view as drawn

    return _view("model view", drawn, weights, tokens, display_mode="light")


def _view(
    name: str, drawn: Callable, weights: Sequence[Tensor], tokens: Sequence[str], **options: Any
) -> BertViz:
    S = weights[0].shape[-1]
    require(len(tokens) == S, "len(tokens)", len(tokens), f"must be {S}", "pass the text read")
    short = [one.detach().cpu().double().round(decimals=DIGITS) for one in weights]
    words = [word.replace("<", LESS) for word in tokens]
    view = drawn(short, words, html_action="return", **options).data
    # A "<" of the text's own must not end the script in which it stands. The name is drawn anew
    # each time; alone in its frame the view needs none, and a page stays the same.
    view = re.sub(r"bertviz-[0-9a-f]{32}", "bertviz", view.replace(r"\ue000", r"\u003c"))
    return BertViz(view, f"BertViz's {name}")
