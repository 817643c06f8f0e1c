"""Write a page with one widget, to look at while it is written.

`make widget NAME=MaskExplorer`, or any call: `make widget NAME='MaskExplorer(kind="prefix", T=6)'`.
The page opens from disk; run it again after an edit, and load the page again.
It also says how high the widget is, which its style has to reserve for it.
"""

import base64
import re
import shutil
import sys
from pathlib import Path

from build import HERE, PAGE, ROOT, live_widgets

import pieces.widgets
import text_face
from pieces.widgets.base import PieceWidget

sys.path.append(str(ROOT / "tests"))
WIDTHS = (1280, 768, 430, 360)


def made(call: str) -> PieceWidget:
    """Return the widget that a call makes; a name alone is called without arguments."""
    call = call if "(" in call else f"{call}()"
    name = call.partition("(")[0].split(".")[0]
    if name not in pieces.widgets.__all__:
        file = re.sub(r"(?<=[^A-Z_])(?=[A-Z])", "_", name).lower()
        if (Path(pieces.widgets.__file__).parent / f"{file}.py").is_file():
            line = f"from pieces.widgets.{file} import {name} as {name}"
            sys.exit(
                f"{name} is not registered: src/pieces/widgets/__init__.py needs the line\n  {line}"
            )
        why = f"there is no src/pieces/widgets/{file}.py" if name else "a name is missing"
        known = ", ".join(pieces.widgets.__all__)
        sys.exit(f"NAME={name}: {why}. Give one of {known}, or a call of it")
    script = getattr(pieces.widgets, name).module + ".js"
    if not (Path(pieces.widgets.__file__).parent / "static" / script).is_file():
        sys.exit(f"{name} has no picture yet: write src/pieces/widgets/static/{script}")
    try:
        return eval(call, {one: getattr(pieces.widgets, one) for one in pieces.widgets.__all__})
    except (ValueError, TypeError) as error:
        sys.exit(f"NAME={call}: {error}")


def saved(widget: PieceWidget) -> dict:
    """Return a widget as a notebook saves it."""
    state, buffers = {}, []
    for name, value in widget.get_state().items():
        if isinstance(value, memoryview):
            data = base64.b64encode(value).decode()
            buffers.append({"path": [name], "encoding": "base64", "data": data})
        else:
            state[name] = value
    return {"state": state, "buffers": buffers}


def write(widget: PieceWidget, target: Path) -> Path:
    """Write the page and all that it needs; return the page."""
    assets = target / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    for name in ("gallery.css", "gallery_page.js"):
        shutil.copy(HERE / name, assets)
    (assets / "pieces.css").write_text(live_widgets.stylesheet(), encoding="utf-8")
    modules = [*live_widgets.CLASSIC, *live_widgets.needed(type(widget).module)]
    for name in modules:
        (assets / name).parent.mkdir(exist_ok=True)
        (assets / f"{name}.js").write_text(live_widgets.script(name), encoding="utf-8")
    body = live_widgets.live_place(widget.model_id, saved(widget), type(widget), True, "see-it")
    scripts = "".join(f'<script src="assets/{name}.js"></script>' for name in modules)
    html = PAGE.format(title=widget.title, links="", body=body, scripts=scripts)
    # As the site has it: its heights are those to reserve there.
    html = html.replace("</head>", f"{text_face.head()}</head>")
    page = target / "widget.html"
    page.write_text(html, encoding="utf-8")
    return page


def heights(page: Path) -> str:
    """Return a table: how high the widget is at each width, and what its style reserves."""
    from playwright.sync_api import sync_playwright

    from browser import ARGUMENTS, NAMES, opened, space

    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        return "Its heights need a browser: install Chromium."
    lines = ["To reserve, in px; right is from 60 less to 100 more than its height:",
             "  page width   height   reserved"]  # fmt: skip
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(ARGUMENTS))
        for width in WIDTHS:
            with opened(chromium, page.as_uri(), width=width) as shown:
                if shown.record.errors or not shown.locator(".pieces-live .pieces").count():
                    return f"It does not come alive: {'; '.join(shown.record.errors) or 'no error is told'}"
                free, used = space(shown.locator(".pieces-live"))
                note = "" if -60 < free - used < 100 else f"   {free - used:+.0f}: mend its style"
                lines.append(f"  {width:10}   {used:6.0f}   {free:8.0f}{note}")
        chromium.close()
    return "\n".join(lines)


if __name__ == "__main__":
    page = write(made(sys.argv[1] if len(sys.argv) > 1 else ""), ROOT / "_build" / "gallery")
    print(f"Open it from disk, at any width, in the dark and on paper:\n  {page.as_uri()}")
    print(heights(page))
