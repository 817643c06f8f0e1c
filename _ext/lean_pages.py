"""Pages without what the stock theme adds and this book does not want."""

import re
from pathlib import Path

UNWANTED = re.compile(
    r'<link rel="preload"[^>]*fontawesome[^>]*>\s*'  # fails from a disk, fills the console
    r'|<script src="[^"]*fontawesome[^"]*"></script>\s*'  # 1.6 MB to draw what the font draws
    r"|<link[^>]*sphinx-thebe\.css[^>]*>\s*"
    r'|<script type="text/x-thebe-config">.*?</script>\s*'
    r"|<script>kernelName = .*?</script>\s*",
    re.S,
)

DESIGN = re.compile(  # tabs, cards and grids, 10 kB
    r"<link[^>]*sphinx-design[^>]*>\s*|<script[^>]*design-tabs\.js[^>]*></script>\s*"
)
DESIGNED = re.compile(r'class="(?:[^"]* )?sd-')

REPAIRS = (  # what axe-core and a stopwatch find in the stock pages
    (
        '<div class="bd-sidebar-primary bd-sidebar">',
        '<div class="bd-sidebar-primary bd-sidebar" role="complementary" aria-label="Book">',
    ),
    (
        '<div class="pst-scrollable-table-container">',
        '<div class="pst-scrollable-table-container" tabindex="0">',
    ),
    # In a menu that is shut: they come when it opens.
    ('<img alt="Binder logo"', '<img loading="lazy" alt="Binder logo"'),
    ('<img alt="Colab logo"', '<img loading="lazy" alt="Colab logo"'),
    ('role="doc-biblioentry"', 'role="listitem"'),
    ('<summary aria-label="Toggle hidden content">', "<summary>"),  # it hid what one reads there
    # Where a browser keeps nothing, the theme's scripts find a store for this page alone. What is
    # put stands nowhere in what is sought: a page that was repaired before stays as it is.
    (
        'document.documentElement.dataset.mode = localStorage.getItem("mode") || "auto";',
        "try { localStorage.length; } catch { const kept = new Map();"
        ' Object.defineProperty(window, "localStorage", { value: {'
        " getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value),"
        " removeItem: (key) => kept.delete(key) } }); }"
        ' document.documentElement.dataset.mode = localStorage.getItem("mode") ?? "auto";',
    ),
    # The theme is known from the start: else the whole page is styled twice, and flashes.
    (
        'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";',
        'document.documentElement.dataset.theme = { light: "light", dark: "dark" }'
        "[document.documentElement.dataset.mode]"
        ' ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");',
    ),
)
# Scripts that start when the page is read: they need not hold up its parsing.
PATIENT = re.compile(
    r'<script (?!defer )(?=[^>]*src="[^"]*/(?:doctools|sphinx_highlight|clipboard\.min|copybutton'
    r"|sphinx-book-theme|togglebutton|design-tabs|sortable|front|here)\.js)"
)
# The search page fetches its results' texts, which a browser refuses from a disk.
NO_SUMMARY = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'


def is_thebe(script):
    """Tell sphinx-thebe's scripts: set up by default, they throw on every page."""
    body = getattr(script, "attributes", {}).get("body", "") or ""
    return "sphinx-thebe" in str(getattr(script, "filename", "")) or "THEBE_JS_URL" in body


def drop_thebe(app, pagename, templatename, context, doctree):
    """Drop sphinx-thebe's scripts."""
    files = context.get("script_files", [])
    files[:] = [script for script in files if not is_thebe(script)]


def search_from_disk(app, pagename, templatename, context, doctree):
    """Let the search page work from a disk."""
    if pagename == "search":
        app.add_js_file(None, body=NO_SUMMARY)


def drop_unwanted(app, exception):
    """Drop what the theme's templates write into every page, and repair the rest."""
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lean = UNWANTED.sub("", text)
        if not DESIGNED.search(lean):
            lean = DESIGN.sub("", lean)
        for stock, repaired in REPAIRS:
            lean = lean.replace(stock, repaired)
        if "searchtools.js" not in lean:  # which calls the others while the page is parsed
            lean = PATIENT.sub("<script defer ", lean)
        if 'class="front-line' in lean:  # a class for the style sheet: `:has()` slows every page
            lean = lean.replace("<body data-", '<body class="front" data-')
        if lean != text:
            page.write_text(lean, encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-page-context", drop_thebe, priority=950)
    app.connect("html-page-context", search_from_disk)
    app.connect("build-finished", drop_unwanted)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
