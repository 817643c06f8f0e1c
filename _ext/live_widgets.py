"""Widgets alive on a static page: no kernel, no CDN, no html-manager.

The notebook's execution leaves widget views and their state in each page.
This extension turns every view of ours into a place that `static/host.js` brings alive,
writes the widgets' modules once for the whole site, and says politely where a view needs a kernel.
"""

import html
import importlib
import json
import re
from collections import Counter
from pathlib import Path

import bulk_weights
import classic_modules
from pieces.widgets.base import STATIC, needed, source_of, stylesheet

STATE_MIME = "application/vnd.jupyter.widget-state+json"
VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">(?P<view>.*?)</script>', re.S
)
OURS = "pieces.widgets."
CLASSIC = ("host", "links")  # scripts of the page itself
LIMITS = "_limits"  # what each control may be, which the page asks
HIDDEN = {"_esm", "_css", "_anywidget_id", "layout", "tabbable", "tooltip"}
NEEDS_KERNEL = (
    "These controls talk to Python. Open this chapter in Binder, Colab or JupyterLab "
    "(the rocket above, or the download button) to use them."
)


def widget_class(model):
    """Return our widget class of a saved model, or None where it is not ours."""
    path = model.get("state", {}).get("_anywidget_id", "")
    if not path.startswith(OURS):
        return None
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def safe_json(data):
    """Return JSON in which nothing can end the script element it stands in, or begin another.

    `<!--<script>` would make the parser look for a second end, so every `<` is written as \\u003c.
    """
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def live_place(model_id, model, cls, first, name="", outdir=None):
    """Return the element in which the host draws a widget; `name` is what links call it.

    With a folder for the site, what is long in its state becomes a file there.
    """
    state = visible(model["state"])
    kept, record = (state, None) if outdir is None else bulk_weights.set_apart(state, outdir)
    data = safe_json({"state": kept, "buffers": model.get("buffers", [])})
    script = f'<script type="application/json">{data}</script>' if first else ""
    rows = cls.rows_shown(state)
    style = "" if rows is None else f' style="--rows: {rows}"'
    named = f' id="{name}"' if name else ""
    heavy = " data-weights" if state.get("weights_file") else ""
    heavy += f' data-record="{record}"' if record else ""
    return (
        f'<div class="pieces-live"{named} data-widget="{cls.module.partition("/")[0]}"'
        f' data-module="{cls.module}" data-model="{model_id}"{heavy}{style}>'
        f'{script}<div class="pieces-wait">{waiting(cls, state)}</div></div>'
    )


def visible(state):
    """Return what a page needs of a saved state."""
    return {k: v for k, v in state.items() if k == LIMITS or (k not in HIDDEN and k[0] != "_")}


def link_name(cls, count):
    """Return what links call a widget, by its kind and count: see-norm-axes, see-norm-axes-2."""
    name = f"see-{cls.module.partition('/')[0].replace('_', '-')}"
    return name if count == 1 else f"{name}-{count}"


def waiting(cls, state):
    """Return what stands in the place of a widget that is not alive: its words, and a still."""
    try:
        widget = cls.revived(state)
        words, still = widget.describe(), widget.still()
    except Exception:  # a damaged state, whatever its damage, has no words of its own
        words, still = "", ""
    words = f"{cls.title}: {words}" if words else cls.title
    words = html.escape(words if words[-1] in ".?!" else f"{words}.")
    note = "An interactive picture: it needs JavaScript."
    return f'<p>{words} <span class="p-needs">{note}</span></p><div class="p-stills">{still}</div>'


def still_place(model_id, models):
    """Return the last figure of a widget that needs a kernel, and where to run it."""
    found, queue = [], [model_id]
    for one in queue:
        state = models.get(one, {}).get("state", {})
        for output in state.get("outputs", []):
            data = output.get("data", {})
            found.append(data.get("text/html") or f"<pre>{html.escape(text_of(output))}</pre>")
        children = [c.removeprefix("IPY_MODEL_") for c in state.get("children", [])]
        queue += [c for c in children if c not in queue]
    return f'<div class="pieces-still">{"".join(found)}<p>{NEEDS_KERNEL}</p></div>'


def text_of(output):
    """Return the text of a notebook output."""
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(text)


def page_state(context):
    """Take the widget state out of the page's scripts and return its models."""
    models = {}
    for script in list(context.get("script_files", [])):
        if getattr(script, "attributes", {}).get("type") == STATE_MIME:
            models = json.loads(script.attributes["body"]).get("state", {})
            context["script_files"].remove(script)
    return models


def enliven_page(app, pagename, templatename, context, doctree):
    """Replace the widget views of one page and load just the modules it needs."""
    models = page_state(context)
    used, modules, kinds = set(), {}, Counter()

    def place(match):
        model_id = json.loads(match["view"])["model_id"]
        cls = widget_class(models.get(model_id, {}))
        if cls is None:
            return still_place(model_id, models)
        modules.update(dict.fromkeys(needed(cls.module)))
        outdir = getattr(app, "outdir", None)
        bulk_weights.hand_over(models[model_id], outdir or ".")
        first = model_id not in used
        used.add(model_id)
        kinds[cls.module] += first
        name = link_name(cls, kinds[cls.module]) if first else ""
        return live_place(model_id, models[model_id], cls, first, name, outdir)

    if "body" in context:
        context["body"] = VIEW.sub(place, context["body"])
    for name in [*CLASSIC, *modules] if modules else []:
        app.add_js_file(f"pieces/{name}.js", loading_method="async", priority=900)


def script(name, read=source_of):
    """Return a file of the widgets as the classic script that a page loads."""
    return read(name) if name in CLASSIC else classic_modules.script(name, read)


def write_modules(app):
    """Write the host, every module and the style sheet, once for the whole site.

    They are written first, so that Sphinx finds them and puts their checksums into the pages.
    """
    if app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "pieces"
    target.mkdir(parents=True, exist_ok=True)
    for source in STATIC.rglob("*.js"):
        name = source.relative_to(STATIC).with_suffix("").as_posix()
        path = target / f"{name}.js"
        path.parent.mkdir(exist_ok=True)
        path.write_text(script(name), encoding="utf-8")
    (target / "pieces.css").write_text(stylesheet(), encoding="utf-8")
    app.add_css_file("pieces/pieces.css", priority=900)


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", write_modules)
    app.connect("html-page-context", enliven_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
