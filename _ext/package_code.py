"""The package's code as a chapter shows it, on the site: its style, and a link to the source page.

In a notebook `code(...)` brings its colours and the whole file along, a table its style. The site
has them already.
"""

import html
import re

STYLE = re.compile(r'(<div class="pieces-(?:code|table)"[^>]*>)\s*<style>.*?</style>', re.S)
FILE = re.compile(
    r'<div class="pieces-file" data-module="(?P<module>[\w.]+)" data-name="(?P<name>[^"]+)">'
    r".*?<!-- file -->",
    re.S,
)


def link(app, pagename, documented):
    """Return a function that puts a link in a file's place, where its source page exists."""

    def place(match):
        page = documented.get(match["module"])
        if not page:
            return match[0]
        _, _, used, _ = page
        uri = app.builder.get_relative_uri(
            pagename, f"_modules/{match['module'].replace('.', '/')}"
        )
        name = html.unescape(match["name"])
        while name and name not in used:  # a private method has no place of its own: its class has
            name = name.rpartition(".")[0]
        anchor = f"#{html.escape(name)}" if name else ""
        return f'<p><a class="pieces-source" href="{uri}{anchor}">{match["module"]}</a></p>'

    return place


def link_sources(app, pagename, templatename, context, doctree):
    """Rewrite the code of one page."""
    if "pieces-" in context.get("body", ""):
        documented = getattr(app.env, "_viewcode_modules", {})
        body = STYLE.sub(r"\1", context["body"])
        context["body"] = FILE.sub(link(app, pagename, documented), body)


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-page-context", link_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
