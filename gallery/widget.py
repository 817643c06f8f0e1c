"""Write a page with one widget, to look at while it is written.

`make widget NAME=MaskExplorer`, or any call: `make widget NAME='MaskExplorer(kind="prefix", T=6)'`.
The page opens from disk; run it again after an edit, and load the page again.
"""

import base64
import shutil
import sys
from pathlib import Path

from build import HERE, PAGE, ROOT, live_widgets

import pieces.widgets
from pieces.widgets.base import PieceWidget


def made(call: str) -> PieceWidget:
    """Return the widget that a call makes; a name alone is called without arguments."""
    call = call if "(" in call else f"{call}()"
    name = call.partition("(")[0].split(".")[0]
    if name not in pieces.widgets.__all__:
        sys.exit(f"NAME={call}: one of {', '.join(pieces.widgets.__all__)}, or a call of it")
    return eval(call, {one: getattr(pieces.widgets, one) for one in pieces.widgets.__all__})


def saved(widget: PieceWidget) -> dict:
    """Return a widget as a notebook saves it."""
    state, buffers = {}, []
    for name, value in widget.get_state().items():
        if isinstance(value, memoryview):
            data = base64.b64encode(value).decode()
            buffers.append({"path": [name], "encoding": "base64", "data": data})
        else:
            state[name] = value
    return {"state": state, "buffers": buffers}


def write(widget: PieceWidget, target: Path) -> Path:
    """Write the page and all that it needs; return the page."""
    assets = target / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    for name in ("gallery.css", "gallery_page.js"):
        shutil.copy(HERE / name, assets)
    (assets / "pieces.css").write_text(live_widgets.stylesheet(), encoding="utf-8")
    modules = ["host", *live_widgets.needed(type(widget).module)]
    for name in modules:
        (assets / f"{name}.js").write_text(live_widgets.script(name), encoding="utf-8")
    body = live_widgets.live_place(widget.model_id, saved(widget), type(widget), True)
    scripts = "".join(f'<script src="assets/{name}.js"></script>' for name in modules)
    html = PAGE.format(title=widget.title, links="", body=body, scripts=scripts)
    page = target / "widget.html"
    page.write_text(html, encoding="utf-8")
    return page


if __name__ == "__main__":
    page = write(made(sys.argv[1] if len(sys.argv) > 1 else ""), ROOT / "_build" / "gallery")
    print(f"Open it from disk, at any width, in the dark and on paper:\n  {page.as_uri()}")
