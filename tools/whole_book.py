"""The whole book in one file: a PDF to print, or a zip to carry along.

    python tools/whole_book.py pdf       _build/transformer-piece-by-piece.pdf
    python tools/whole_book.py offline   _build/transformer-piece-by-piece.zip

Both are made from the built site (`make book`). In the PDF each widget stands as it is when its
page is opened; the zip holds the site, whose widgets live from a disk as well.
"""

import argparse
import base64
import html
import io
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
BASE = CONFIG["html"]["baseurl"]
SITE, NAME = ROOT / "_build" / "html", "transformer-piece-by-piece"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LEFT_OUT = ("chapters/appendix/reference",)  # the package's, page after page: it is for looking up
ALIVE = """() => [...document.querySelectorAll(".pieces-live[data-widget]")]
  .every((place) => ["live", "failed"].includes(place.dataset.state))"""
PAPER = {"format": "A4", "print_background": True, "scale": 0.78, "prefer_css_page_size": False,
         "margin": {"top": "15mm", "bottom": "18mm", "left": "14mm", "right": "14mm"}}  # fmt: skip
# What helps on a screen and not on paper.
STYLE = """.bd-header-article, .prev-next-area, .bd-footer, .bd-sidebar-primary, .front-hint,
  .bd-sidebar-secondary, .here-strip, #jb-print-toc { display: none !important; }"""
PLAIN = """<meta charset="utf-8"><style>
  @page { margin: 0 } body { margin: 0; font-family: "Book Inter", "Helvetica", sans-serif; }
  main { padding: 30mm 22mm; } h1 { font-size: 34pt; margin: 0 0 6mm; } img { width: 100%; }
  .sheet { height: 296mm; position: relative; break-after: page; }
  .sheet span { position: absolute; bottom: 8mm; width: 100%; text-align: center; color: #555;
    font-size: 9pt; }
  ol { list-style: none; padding: 0; } li { display: flex; gap: 3mm; padding: .7mm 0; }
  li i { flex: 1; border-bottom: 1px dotted #999; } h2 { font-size: 11pt; margin: 3mm 0 .5mm; }
  .contents { padding: 16mm 22mm; font-size: 10.5pt; } .contents h1 { font-size: 26pt; margin: 0; }
</style>"""


class Leaf(NamedTuple):
    """A page of the site on paper: its file, its title, its part, and its sheets."""

    name: str
    title: str
    part: str
    sheets: PdfReader


def listed() -> list[tuple[str, str]]:
    """The pages of the table of contents with the part that each belongs to."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [(one["file"], part["caption"]) for part in toc["parts"] for one in part["chapters"]]
    return [(name, part) for name, part in found if name not in LEFT_OUT]


def on_paper(page: Page, name: str, part: str) -> Leaf:
    """Print a page of the site, its widgets alive."""
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_function(ALIVE, timeout=60_000)
    page.add_style_tag(content=STYLE)
    page.wait_for_timeout(300)
    title = page.title().split(" — ")[0]
    number = re.match(r"chapters/(\d\d)_", name)
    named = f"{int(number[1])} · {title}" if number else title
    return Leaf(name, named, part, PdfReader(io.BytesIO(page.pdf(**PAPER))))


def printed(page: Page, body: str) -> PdfReader:
    """Print a page of our own, to the edges."""
    face = (SITE / "_static" / "face.css").read_text(encoding="utf-8")
    page.set_content(f"{PLAIN}<style>{face}</style>{body}", wait_until="load")
    page.evaluate("document.fonts.ready.then(() => true)")
    return PdfReader(io.BytesIO(page.pdf(format="A4", print_background=True)))


def contents(leaves: list[Leaf], starts: dict[str, int]) -> str:
    """The page of contents."""
    lines, part = [], ""
    for leaf in leaves:
        if leaf.part != part:
            part = leaf.part
            lines.append(f"<h2>{html.escape(part)}</h2>")
        title, at = html.escape(leaf.title), starts[leaf.name] + 1
        lines.append(f"<li>{title}<i></i>{at}</li>")
    return f'<main class="contents"><h1>Contents</h1><ol>{"".join(lines)}</ol></main>'


def cover() -> str:
    """The first sheet, with the picture of the book."""
    picture = base64.b64encode((ROOT / "_static" / "book.png").read_bytes()).decode()
    return f"""<main><h1>Transformer, Piece by Piece</h1>
      <p style="font-size: 14pt">An interactive book about the Transformer block, on paper.</p>
      <p style="margin: 14mm 0"><img src="data:image/png;base64,{picture}"></p>
      <p>What moves on a screen stands still here: each picture is as its page shows it first.</p>
      <p><a href="{BASE}">{BASE}</a></p></main>"""


def bound(browser: Browser, pages: list[tuple[str, str]]) -> PdfWriter:
    """Print all pages and bind them: cover, contents, chapters, with numbers, outline and links."""
    page = browser.new_page(viewport={"width": 718, "height": 1000})
    leaves = [on_paper(page, name, part) for name, part in pages]
    unknown = dict.fromkeys((leaf.name for leaf in leaves), 0)
    front = [printed(page, cover()), printed(page, contents(leaves, unknown))]
    starts, at = {}, sum(len(sheets.pages) for sheets in front)
    for leaf in leaves:
        starts[leaf.name] = at
        at += len(leaf.sheets.pages)
    front[1] = printed(page, contents(leaves, starts))
    writer, part, group = PdfWriter(), "", None
    for sheets in (*front, *(leaf.sheets for leaf in leaves)):
        writer.append(sheets, import_outline=False)
    numbers = "".join(f'<div class="sheet"><span>{n + 1}</span></div>' for n in range(at))
    for n, sheet in enumerate(printed(page, numbers).pages[:at]):
        if n:
            writer.pages[n].merge_page(sheet)
    for leaf in leaves:
        if leaf.part != part:
            part = leaf.part
            group = writer.add_outline_item(title=part, page_number=starts[leaf.name])
        writer.add_outline_item(title=leaf.title, page_number=starts[leaf.name], parent=group)
        joined(writer, leaf, starts)
    writer.add_metadata({"/Title": "Transformer, Piece by Piece"})
    writer.compress_identical_objects()
    return writer


def joined(writer: PdfWriter, leaf: Leaf, starts: dict[str, int]) -> None:
    """Let the links of a page lead within the book, or to its website where it is not on paper."""
    places, first = leaf.sheets.named_destinations, starts[leaf.name]
    for n in range(first, first + len(leaf.sheets.pages)):
        for reference in writer.pages[n].get("/Annots", ()):
            link = reference.get_object()
            action = link.get("/A", DictionaryObject()).get_object()
            own = places.get(str(link.get("/Dest", "")))
            if own is not None:
                sheet = first + leaf.sheets.get_destination_page_number(own)
                link[NameObject("/Dest")] = place(writer, sheet, own.get("/Top"))
            elif str(action.get("/URI", "")).startswith(SITE.as_uri()):
                path = unquote(urlsplit(str(action["/URI"])).path).removeprefix(f"{SITE}/")
                if (name := path.removesuffix(".html")) in starts:
                    del link[NameObject("/A")]
                    link[NameObject("/Dest")] = place(writer, starts[name])
                else:
                    action[NameObject("/URI")] = TextStringObject(urljoin(BASE, path))


def place(writer: PdfWriter, sheet: int, top: float | None = None) -> ArrayObject:
    """A place in the book, as a link holds it."""
    height = writer.pages[sheet].mediabox.height if top is None else top
    at = [NullObject(), FloatObject(height), NullObject()]
    return ArrayObject([writer.pages[sheet].indirect_reference, NameObject("/XYZ"), *at])


def pdf(target: Path) -> None:
    """Write the book as one PDF."""
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        arguments = ["--no-sandbox", "--allow-file-access-from-files"]
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        bound(browser, listed()).write(target)
        browser.close()


def offline(target: Path) -> None:
    """Write the site as one zip; its `index.html` opens by double-click."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(SITE.rglob("*")):
            inside = path.relative_to(SITE)
            if path.is_file() and inside.parts[0] != "reports":
                packed.write(path, Path(NAME) / inside)


def main() -> None:
    """Make what is asked for."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("kind", choices=("pdf", "offline"))
    kind = arguments.parse_args().kind
    if not (SITE / "index.html").exists():
        sys.exit("There is no website yet: run 'make book' first.")
    target = ROOT / "_build" / f"{NAME}.{ {'pdf': 'pdf', 'offline': 'zip'}[kind] }"
    {"pdf": pdf, "offline": offline}[kind](target)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
