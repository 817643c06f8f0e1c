"""BertViz's libraries on the site: one file, which a press of its button asks for.

In a notebook they stand in the output. In a page they would be most of its text, before any reader
has asked for them.
"""

import json
import re
from pathlib import Path

import bulk_weights

FILE = "_static/pieces/bertviz.js"
PLACE = '<div class="pieces-bertviz" data-'
WITHIN = re.compile(rf'{PLACE}libraries="(?P<packed>[\w+/=]+)"')


def share(app, pagename, templatename, context, doctree):
    """Write the libraries of a page to the file, and name it in their place."""
    body = context.get("body") or ""
    for packed in {match["packed"] for match in WITHIN.finditer(body)}:
        script = f"self.piecesBertviz = {json.dumps(packed)};\n"
        bulk_weights.write_whole(Path(app.outdir) / FILE, script)
        address = context["pathto"](FILE, 1)
        body = body.replace(f'{PLACE}libraries="{packed}"', f'{PLACE}file="{address}"')
        context["body"] = body


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-page-context", share, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
