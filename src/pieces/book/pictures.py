"""A figure as the page takes it: SVG in the page's own colours, with the words for it.

A figure comes twice, as wide as it was asked for and as narrow as a phone. The site shows one of
them (`_static/book.css`), a notebook the wide one.
"""

import html
import re

from pieces.book.colours import FAINT, INK, ON_STRONG, PAPER, ROLE


def bundle(alt: str, wide: str, narrow: str | None = None) -> dict[str, str]:
    """Return the notebook's view of an SVG, `alt` its words; `narrow` is the same for a phone."""
    pictures = _themed(wide, alt)
    if narrow is not None:
        pictures += _themed(narrow, alt, "display:none;", 'class="pieces-narrow" ')
    page = f'<div class="pieces-figure">{pictures}</div>'
    return {"text/html": page, "text/plain": f"Figure: {alt}"}


def lean(svg: str) -> str:
    """Return an SVG without what nobody sees, half of it; numbers that are read stay whole."""
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.S)
    svg = re.sub(r'<path [^>]*style="fill: none(?:; opacity: 0)?"/>', "", svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    alone = r"<g>\s*((?:<path [^>]*/>|<use [^>]*/>|<text [^>]*>[^<]*</text>)?)\s*</g>"
    for _ in range(3):
        svg = re.sub(alone, r"\1", svg)
    svg = re.sub(r"(>[^<]*<)|\d+\.\d{3,}", lambda m: m[1] or f"{float(m[0]):.2f}", svg)
    return re.sub(r"\s+", " ", svg)


def _themed(svg: str, alt: str, look: str = "", kind: str = "") -> str:
    """Return an SVG in the page's colours, with its words, as wide as the page allows."""
    svg = svg.replace(INK, "currentColor").replace(FAINT, "currentColor")
    svg = svg.replace(ON_STRONG, f"var(--p-paper, {PAPER[0]})")
    for role, colour in ROLE.items():
        svg = re.sub(colour, f"var(--p-{role}, {colour})", svg, flags=re.I)
    svg = re.sub(r"font: ([^;\"]*?)'[^;\"]*", r"font: \1system-ui, sans-serif", svg)
    width = re.search(r'<svg[^>]*?\bwidth="([\d.]+)(?:pt|px)?"', svg)
    size = f"max-width:{float(width[1]) * 1.25:.0f}px;" if width else ""
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    label = html.escape(alt, quote=True)
    look += f"stroke-linejoin:round;width:100%;{size}"
    return svg.replace("<svg", f'<svg {kind}role="img" aria-label="{label}" style="{look}"', 1)
