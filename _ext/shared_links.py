"""What a link to a page shows elsewhere, and the pages that only machines and the lost visit.

Each page says its address, its title, what it is about (its first paragraph) and which picture goes
with it; `sitemap.xml` lists all pages; `404.html` is what a wrong address gets.
"""

import html
import re
from urllib.parse import urljoin, urlsplit

from docutils import nodes

PICTURE = "_static/book.png"
SIZE = (1200, 630)
LONGEST = 200  # characters of a description: more is cut off where it is shown

LOST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not found: {title}</title><link rel="icon" href="{base}_static/icon.svg">
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 1.1rem/1.6 system-ui, sans-serif; max-width: 36rem; }}
  body {{ margin: 12vh auto; padding: 0 1rem; }}
</style></head>
<body><h1>There is no page here</h1>
<p>The address may be mistyped, or the page has moved.</p>
<p><a href="{base}">{title}: the front page</a>, with all chapters</p>
<p><a href="{base}search.html">Search the book</a></p>
</body></html>
"""


def about(doctree):
    """Return the first paragraph of a page as one line, cut at a word."""
    if doctree is None:
        return ""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > 40 and not paragraph.next_node(nodes.raw):
            short = text[: LONGEST - 1].rpartition(" ")[0].rstrip(",;:") + "…"
            return text if len(text) <= LONGEST else short
    return ""


def tell(app, pagename, templatename, context, doctree):
    """Put what a link shows into the head of a page."""
    base = app.config.html_baseurl
    tags = context.get("metatags", "")
    given = re.search(r'<meta content="([^"]*)" name="description"', tags)
    described = html.unescape(given[1]) if given else about(doctree)
    if described and not given:
        tags += f'\n<meta name="description" content="{html.escape(described)}" />'
    title = re.sub(r"<[^>]+>", "", context.get("title", "")) or app.config.html_title
    shown = {
        "og:type": "website" if pagename == app.config.root_doc else "article",
        "og:site_name": app.config.html_title,
        "og:title": html.unescape(title),
        "og:description": described,
        "og:url": urljoin(base, f"{pagename}.html"),
        "og:image": urljoin(base, PICTURE),
        "og:image:width": str(SIZE[0]),
        "og:image:height": str(SIZE[1]),
        "og:image:alt": "A small Transformer: its words, heads and layers in one picture.",
    }
    for name, value in shown.items():
        if value:
            tags += f'\n<meta property="{name}" content="{html.escape(value)}" />'
    context["metatags"] = tags + '\n<meta name="twitter:card" content="summary_large_image" />'


def write(app, exception):
    """Write the sitemap and the page for the lost."""
    if exception or app.builder.format != "html":
        return
    base = app.config.html_baseurl
    pages = sorted(app.env.found_docs)
    lines = [f"  <url><loc>{urljoin(base, f'{page}.html')}</loc></url>" for page in pages]
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    head += '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (app.outdir / "sitemap.xml").write_text(
        head + "\n".join(lines) + "\n</urlset>\n", encoding="utf-8"
    )
    lost = LOST.format(title=html.escape(app.config.html_title), base=urlsplit(base).path)
    (app.outdir / "404.html").write_text(lost, encoding="utf-8")


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", tell)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}
