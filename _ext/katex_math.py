"""Maths typeset by KaTeX while the book is built: no script and no jump when a page loads."""

import functools
import json
import re
import shutil
import threading
from pathlib import Path

from docutils.nodes import SkipNode, Text, inline, math
from py_mini_racer import MiniRacer
from sphinx.errors import ExtensionError
from sphinx.util import logging

from text_face import ask

KATEX = Path(__file__).parent / "katex"
LOGGER = logging.getLogger(__name__)
LOCK = threading.Lock()
COMMAND = re.compile(r"\\[A-Za-z]+ ?")
SHORT = 12  # letters, a command counted as one: about 100 px
SIGN = re.compile(r"[.,;:!?)\]]+")
# The faces of nearly every formula are fetched beside the style sheets, which would name them too
# late: a line of text breaks elsewhere once its formula has its face. (From disk a browser
# refuses to, and says so as an error.)
FACES = ["KaTeX_Main-Regular", "KaTeX_Math-Italic"]
FETCH = """
<script>if (location.protocol !== "file:") for (const href of %s) {
  const early = { rel: "preload", as: "font", crossOrigin: "", href };
  document.head.append(Object.assign(document.createElement("link"), early));
}</script>"""


@functools.cache
def engine():
    """Return a JavaScript engine with KaTeX in it."""
    racer = MiniRacer()
    racer.eval((KATEX / "katex.min.js").read_text(encoding="utf-8"))
    return racer


@functools.cache
def typeset(latex, display):
    """Return the HTML and MathML of a formula."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error", "trust": False}
    with LOCK:
        return engine().call("katex.renderToString", latex, options)


def render(self, node, display):
    """Write one formula, or warn about it by place."""
    latex = node.astext()
    try:
        self.body.append(typeset(latex, display))
    except Exception as error:
        LOGGER.warning("KaTeX cannot read %r: %s", latex, error, location=node, type="katex")
        self.body.append(self.encode(latex))


def visit_inline(self, node):
    """Write a formula that stands in a line; a short one is not broken."""
    short = len(COMMAND.sub(".", node.astext())) <= SHORT
    self.body.append(f'<span class="math{" short" * short}">')
    render(self, node, display=False)
    self.body.append("</span>")
    raise SkipNode


def visit_block(self, node):
    """Write a formula that stands alone; a wide one scrolls in its own box."""
    if node.get("number"):
        raise ExtensionError(f"Number a formula with \\tag, not with a label: {node.astext()!r}")
    self.body.append(self.starttag(node, "div", CLASS="math", tabindex="0"))
    render(self, node, display=True)
    self.body.append("</div>")
    raise SkipNode


def keep_signs(app, doctree, docname):
    """Keep a full stop on the line of the formula before it: a browser would part them."""
    for formula in list(doctree.findall(math)):
        line = formula.parent
        at = next(n for n, node in enumerate(line.children) if node is formula)
        after = line.children[at + 1] if at + 1 < len(line.children) else None
        sign = SIGN.match(after) if isinstance(after, Text) else None
        if sign:
            together = inline("", "", formula, Text(sign[0]), classes=["together"])
            line[at : at + 2] = [together, Text(after[sign.end() :])]


def only_where_needed(app, pagename, templatename, context, doctree):
    """Load KaTeX's style sheet on pages with formulas alone, and ask for its faces early."""
    if 'class="katex' in context.get("body", ""):
        faces = [context["pathto"](f"_static/katex/fonts/{name}.woff2", 1) for name in FACES]
        context["metatags"] = context.get("metatags", "") + FETCH % json.dumps(faces)
        app.add_css_file("katex/katex.min.css")
        app.add_js_file(None, body=ask("1em KaTeX_Main", "italic 1em KaTeX_Math"), priority=100)


def write_style(app):
    """Copy KaTeX's style sheet and fonts into the site; its script stays at home."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "katex"
        keep_out = shutil.ignore_patterns("*.js")
        shutil.copytree(KATEX, target, ignore=keep_out, dirs_exist_ok=True)


def setup(app):
    """Register the renderer; `html_math_renderer: katex` chooses it."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.connect("builder-inited", write_style)
    app.connect("doctree-resolved", keep_signs)
    app.connect("html-page-context", only_where_needed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
