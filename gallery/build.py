"""Write the gallery of the drawing kit: each primitive in all its states, to be opened from disk.

`make gallery` writes _build/gallery/index.html. The pages are brought alive as the book's are.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "_ext"), str(ROOT / "src")]

import live_widgets  # noqa: E402
from pieces.widgets.base import needed  # noqa: E402

HERE = Path(__file__).parent
PAGES = {
    "heatmap": "Heat maps",
    "charts": "Charts",
    "words": "Words and arcs",
    "blocks": "Blocks",
    "tables": "Tables, parts, bars, lists",
    "plane": "The plane",
    "player": "The player",
}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: the drawing kit</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="assets/pieces.css"><link rel="stylesheet" href="assets/gallery.css">
</head><body class="bd-article"><header><nav aria-label="The gallery">{links}</nav>
<div class="g-tools"><button data-theme="light">Light</button><button data-theme="dark">Dark</button>
<button data-width="">Wide</button><button data-width="390px">390 px</button><button data-width="320px">320 px</button>
<button onclick="print()">Print</button></div></header>
<main><h1>{title}</h1>{body}</main>
<script src="assets/gallery_page.js"></script>{scripts}</body></html>
"""
PLACE = (
    '<div class="pieces-live" data-widget="gallery" data-module="gallery/gallery_{name}" data-model="{name}">'
    '<script type="application/json">{{"state": {{}}}}</script>'
    '<p class="pieces-wait">These pictures need JavaScript.</p></div>'
)


def source(name: str) -> str:
    """Return the text of a module, by its path in the repository."""
    return (ROOT / f"{name}.js").read_text(encoding="utf-8")


def write(name: str, assets: Path) -> str:
    """Write a module as the classic script that a browser loads from disk; return its tag."""
    file = assets / f"{name}.js"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(live_widgets.script(name, source), encoding="utf-8")
    return f'<script src="assets/{name}.js"></script>'


def build(target: Path) -> list[Path]:
    """Write the pages and all that they need; return the pages."""
    assets = target / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    (assets / "pieces.css").write_text(live_widgets.stylesheet(), encoding="utf-8")
    for name in ("gallery.css", "gallery_page.js"):
        (assets / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    (assets / "host.js").write_text(live_widgets.script("host"), encoding="utf-8")
    links = "".join(f'<a href="{name}.html">{title}</a>' for name, title in PAGES.items())
    pages = []
    for name, title in PAGES.items():
        modules = needed(f"gallery/gallery_{name}", source)
        scripts = '<script src="assets/host.js"></script>'
        scripts += "".join(write(module, assets) for module in modules)
        here = re.sub(rf'href="{name}\.html"', r'\g<0> aria-current="page"', links)
        html = PAGE.format(title=title, links=here, body=PLACE.format(name=name), scripts=scripts)
        pages.append(target / f"{name}.html")
        pages[-1].write_text(html, encoding="utf-8")
    cards = f"<p>Each primitive of the drawing kit, in all its states.</p><nav class='g-cards' aria-label='Pages'>{links}</nav>"
    index = PAGE.format(title="The drawing kit", links=links, body=cards, scripts="")
    (target / "index.html").write_text(index, encoding="utf-8")
    return [target / "index.html", *pages]


if __name__ == "__main__":
    written = build(ROOT / "_build" / "gallery")
    print(f"The gallery is built. Open it from disk:\n  {written[0].as_uri()}")
