"""The package's code as a chapter shows it, on the site: its style, and a link to the source page.

In a notebook `code(...)` brings its colours and the whole file along, a table its style. The site
has them already. What the reference page leaves out, such as the chapters' figures, gets a source
page here, which leads back to the place where its code is shown.
"""

import html
import re

from docutils import nodes
from sphinx.pycode import ModuleAnalyzer

STYLE = re.compile(r'(<div class="pieces-(?:code|table)"[^>]*>)\s*<style>.*?</style>', re.S)
FILE = re.compile(
    r'<div class="pieces-file" data-module="(?P<module>[\w.]+)" data-name="(?P<name>[^"]+)">'
    r".*?<!-- file -->",
    re.S,
)


def add_sources(app, doctree):
    """Give each file whose code a chapter shows a source page, as Sphinx's viewcode makes them."""
    env = app.builder.env
    known = getattr(env, "_viewcode_modules", None)
    if known is None:  # a build without viewcode
        return
    for shown in doctree.findall(nodes.raw):
        for found in FILE.finditer(shown.astext()):
            module, name = found["module"], html.unescape(found["name"])
            if not known.get(module):
                source = ModuleAnalyzer.for_module(module)
                source.find_tags()
                known[module] = source.code, source.tags, {}, module
            _, tags, used, _ = known[module]
            if name in tags:
                used.setdefault(name, env.docname)


def link(app, pagename, documented):
    """Return a function that puts a link in a file's place, where its source page exists."""
    marked = set()

    def place(match):
        page = documented.get(match["module"])
        if not page:
            return match[0]
        _, _, used, refname = page
        uri = app.builder.get_relative_uri(
            pagename, f"_modules/{match['module'].replace('.', '/')}"
        )
        name = html.unescape(match["name"])
        home = f"{refname}.{name}"  # where the source page leads back to
        mark = ""
        if used.get(name) == pagename and home not in marked:
            marked.add(home)
            mark = f' id="{html.escape(home)}"'
        while name and name not in used:  # a private method has no place of its own: its class has
            name = name.rpartition(".")[0]
        anchor = f"#{html.escape(name)}" if name else ""
        return f'<p{mark}><a class="pieces-source" href="{uri}{anchor}">{match["module"]}</a></p>'

    return place


def link_sources(app, pagename, templatename, context, doctree):
    """Rewrite the code of one page."""
    if "pieces-" in context.get("body", ""):
        documented = getattr(app.env, "_viewcode_modules", {})
        body = STYLE.sub(r"\1", context["body"])
        context["body"] = FILE.sub(link(app, pagename, documented), body)


def setup(app):
    """Connect to Sphinx."""
    app.connect("doctree-read", add_sources, priority=600)  # after viewcode's own
    app.connect("html-page-context", link_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
