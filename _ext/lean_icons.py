"""The icon fonts with the icons that the site shows, and no others: a few kB for 300.

The theme's style sheet names 2,000 icons, and one of them from a second font costs its 118 kB.
"""

import io
import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
ICON = re.compile(
    r'(?P<names>\.fa-[\w-]+:before(?:,\.fa-[\w-]+:before)*)\{content:"\\(?P<code>[0-9a-f]+)"\}'
)
SOURCE = re.compile(r'url\((\S+?)\.woff2\) format\("woff2"\),url\(\S+?\.ttf\) format\("truetype"\)')


def shown(site):
    """Return the names and the codes of the icons that pages, scripts and style sheets show."""
    names, codes = set(), set()
    for path in [*site.rglob("*.html"), *site.rglob("*.js"), *site.rglob("*.css")]:
        if "vendor" not in path.parts and path.name != "searchindex.js":
            text = path.read_text(encoding="utf-8", errors="ignore")
            names |= set(re.findall(r"\bfa-[\w-]+", text))
            if path.suffix == ".css":  # as an escape, or as the character itself
                codes |= set(re.findall(r"\\(f[0-9a-f]{3})\b", text))
                codes |= {f"{ord(icon):x}" for icon in re.findall("[\ue000-\uf8ff]", text)}
    return names, codes


def lean_style(style, names, codes):
    """Return the icons' style sheet without the others, and add their codes to `codes`."""

    def keep(rule):
        known = set(re.findall(r"fa-[\w-]+", rule["names"]))
        if known & names:
            codes.add(rule["code"])
        return rule[0] if known & names or rule["code"] in codes else ""

    return SOURCE.sub(r'url(\1.woff) format("woff")', ICON.sub(keep, style))


def lean_font(path, codes):
    """Return a font with some of its icons, as WOFF."""
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True)
    font = TTFont(path, recalcTimestamp=False)  # the same site from the same sources
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[int(code, 16) for code in codes])
    chosen.subset(font)
    font.flavor = "woff"
    data = io.BytesIO()
    font.save(data)
    return data.getvalue()


def write(app, exception):
    """Put the lean style sheet and fonts beside the theme's own."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    names, codes = shown(site)
    for source in THEME.glob("vendor/fontawesome/*/css/all.min.css"):
        target = site / "_static" / source.relative_to(THEME)
        target.parent.mkdir(parents=True, exist_ok=True)
        style = lean_style(source.read_text(encoding="utf-8"), names, codes)
        target.write_text(style, encoding="utf-8")
        for font in source.parents[1].glob("webfonts/*.ttf"):
            lean = site / "_static" / font.relative_to(THEME).with_suffix(".woff")
            lean.parent.mkdir(parents=True, exist_ok=True)
            lean.write_bytes(lean_font(font, codes))


def setup(app):
    """Connect to Sphinx, after the pages are written."""
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
