"""A real browser for tests: one Chromium a session, pages that keep a record, widgets to look at.

Used by tests/widgets (a widget alone on a page), tests/book (the built site) and tests/live.
"""

from __future__ import annotations

import base64
import functools
import http.server
import json
import re
import shutil
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import yaml

from checker import past_the_checker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "_ext"))

STATIC = ROOT / "src" / "pieces" / "widgets" / "static"
# The shell is the same browser without its windows, and a third faster.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
)
# As wide as the book's text: 688 px on a desk, 328 px on a phone of 360 px.
COLUMN = "body { margin: 0 } main { max-width: 688px; margin: auto; padding: 0 16px }"
MODULE = re.compile(r'<script async src="_static/(pieces/(?!host\.js|links\.js)[^"]*)"></script>')
VIEW = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "%s"}</script>'

# ms a test waits for what must come: only a failing one waits so long, and a machine may be busy.
PATIENCE = 60_000
# ms between two looks; a look at each frame would draw frames for nothing else.
POLLING = 20
# The size of a canvas and a hash of all its points: made sooner than a picture file. Each step is
# one to one, so what differs at one point stays different through all that are alike after it.
POINTS = """(canvas) => {
  const { width, height } = canvas;
  let hash = 1;
  if (width && height) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    for (const point of new Uint32Array(data.buffer)) {
      hash = Math.imul(hash ^ point, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
  }
  return `${width} x ${height}: ${hash}`;
}"""
# What a reader sees of a widget: its texts and its canvases, without the controls' own numbers.
PICTURE = f"""(stage) => {{
  const copy = stage.cloneNode(true);
  const left_out = ".p-controls, .p-control, .p-tip, .p-voice, .p-link, [hidden]";
  copy.querySelectorAll(left_out).forEach((node) => node.remove());
  const canvases = [...stage.querySelectorAll("canvas")].filter((one) => !one.closest("[hidden]"));
  return copy.innerHTML + canvases.map({POINTS}).join("\\n");
}}"""
PICTURE_AT = f"""(at) => ({PICTURE})(document.querySelectorAll(".pieces-stage")[at])"""
# Which of some controls are seen, and not taken out of use.
FREE = """(all) => [...all.keys()].filter((at) => {
  const { width, height } = all[at].getBoundingClientRect();
  return width && height && all[at].checkVisibility({ visibilityProperty: true })
    && !all[at].matches(":disabled, [aria-disabled=true]");
})"""
# Each widget has failed, or is alive and two frames old: its place is then as high as it is.
SETTLED = """() => [...document.querySelectorAll(".pieces-live[data-widget]")]
  .every(({ dataset: { state, settled } }) =>
    state === "failed" || (state === "live" && settled !== undefined))"""
# How high a widget's place is while it waits, and how high the widget is then.
SPACE = """(place) => {
  const held = place.style.minHeight;
  place.style.minHeight = "";
  place.removeAttribute("data-settled");
  const free = parseFloat(getComputedStyle(place).minHeight);
  place.dataset.settled = "";
  place.style.minHeight = held;
  return [free, place.querySelector(".pieces").getBoundingClientRect().height];
}"""
STATE = """(id, without = []) => {
  const model = window.pieces.model(id);
  const place = document.querySelector(`.pieces-live[data-model="${id}"] script`);
  const long = window.piecesRecords?.[place.parentElement.dataset.record] ?? {};
  const names = Object.keys({ ...JSON.parse(place.textContent).state, ...long })
    .filter((name) => !without.includes(name));
  return Object.fromEntries(names.map((name) => [name, model.get(name)]));
}"""
RECORDS = ("opened",)
# Values as one text that Python's JSON reads: Playwright takes thousands of them apart.
AS_TEXT = """(values) => JSON.stringify(values, (_, one) => one === undefined ? null
  : typeof one === "number" && !Number.isFinite(one) ? `@${one}@` : one)
  .replace(/"@(NaN|-?Infinity)@"/g, "$1")"""
# A widget may stand in a fold of the page: a reader opens it.
UNFOLD = """() => document.querySelectorAll("details:has(.pieces-live)")
  .forEach((fold) => { fold.open = true; })"""
# px; what is not on the screen is laid out and drawn on canvases, but not painted.
A_SLIT = 60
# What a test may have set of a page, beside what it did in its document.
MEDIA = """() => JSON.stringify([innerWidth, innerHeight, navigator.onLine, ...["print",
  "(prefers-reduced-motion: reduce)", "(prefers-color-scheme: dark)", "(forced-colors: active)"]
  .map((one) => matchMedia(one).matches)])"""
# Takes away what a test has stored; tells what it has set, and if the mouse stands over the page.
LEFT = f"""() => {{
  localStorage.clear();
  sessionStorage.clear();
  return [({MEDIA})(), document.querySelector(":hover") !== null];
}}"""
MOST_USES = 40
# A frame, and what comes after it: the frame draws what is left of what an input changed.
PAINTED = "() => new Promise((go) => requestAnimationFrame(() => setTimeout(go)))"
# Does some work in which frames come as soon as they are asked for, in their order: nothing waits
# for the screen. What the browser itself tells in a frame (a new width) still comes in real ones.
HURRIED = f"""async (work) => {{
  // What is due comes first. A picture drawn in a frame asks for one more, and so does a new width.
  for (let frame = 0; frame < 3; frame += 1) await ({PAINTED})();
  const [own, off] = [window.requestAnimationFrame, window.cancelAnimationFrame];
  const [asked, {{ port1, port2 }}] = [new Map(), new MessageChannel()];
  let last = 0;
  port1.onmessage = ({{ data }}) => {{
    const frame = asked.get(data);
    asked.delete(data);
    frame?.(Performance.prototype.now.call(performance));
  }};
  window.requestAnimationFrame = (frame) => {{
    asked.set(last -= 1, frame); // real ones count upwards
    port2.postMessage(last);
    return last;
  }};
  window.cancelAnimationFrame = (id) => {{ if (!asked.delete(id)) off.call(window, id); }};
  try {{
    return await work();
  }} finally {{
    [window.requestAnimationFrame, window.cancelAnimationFrame] = [own, off];
    await new Promise(requestAnimationFrame);
  }}
}}"""


def until(condition: str) -> str:
    """Return a script that is over once a function of the page says yes.

    Playwright's own waiting first sends a script of its own: a fifth of what a visit takes.
    """
    return f"""() => {{
      const [holds, late] = [{condition}, performance.now() + {PATIENCE}];
      return new Promise((go, fail) => {{
        (function look() {{
          if (holds()) go();
          else if (performance.now() < late) setTimeout(look, {POLLING});
          else fail(new Error(`In {PATIENCE} ms it did not come true: ${{holds}}`));
        }})();
      }});
    }}"""


def space(place: Locator) -> tuple[float, float]:
    """Return the height kept free for a waiting widget, and the one it takes when alive, in px."""
    return tuple(place.evaluate(SPACE))


def executable() -> str:
    """Return a Chromium of this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(f"No browser: install one of {', '.join(NAMES)} (apt install chromium).")
    return found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The one browser of the session."""
    from playwright.sync_api import sync_playwright  # a test without a browser does not wait

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(ARGUMENTS))
        yield browser
        browser.close()


class Record:
    """What a page complained about and what it asked for."""

    def __init__(self, page: Page):
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        page.on("requestfailed", lambda r: self.errors.append(f"failed: {r.url} {r.failure}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("response", self._response)

    def _console(self, message) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _response(self, response) -> None:
        if response.status >= 400:
            self.errors.append(f"{response.status}: {response.url}")

    def foreign(self, home: str) -> list[str]:
        """Return the requests that left the site."""
        own = (home, "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(own)]


def fresh(
    chromium: Browser,
    *,
    width: int = 1280,
    height: int = 900,
    dark: bool = False,
    touch: bool = False,
    init: str = "",
) -> Page:
    """Return an empty page in a fresh profile, with its record."""
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=touch,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.record = Record(page)
    if init:
        page.add_init_script(init)
    return page


def visit(page: Page, url: str) -> Page:
    """Go there, and wait until every widget is alive or has failed."""
    page.goto(url, wait_until="load")
    page.evaluate(until(SETTLED))
    return page


@contextmanager
def opened(chromium: Browser, url: str, **options) -> Iterator[Page]:
    """Open a page in a fresh profile and wait until every widget is alive or has failed.

    `page.record` holds what went wrong and what was asked for.
    """
    page = fresh(chromium, **options)
    try:
        yield visit(page, url)
    finally:
        page.context.close()


class Tabs:
    """Pages left as they came, to be used again: a fresh one takes as long as its widget."""

    def __init__(self, chromium: Browser):
        self.chromium = chromium
        self._free: dict[tuple, list[tuple[Page, str, int]]] = {}

    @contextmanager
    def opened(self, url: str, **options) -> Iterator[Page]:
        """Open a page; what a test has changed in it but its document, nobody sees after it."""
        free = self._free.setdefault(tuple(sorted(options.items())), [])
        page, came, uses = free.pop() if free else (fresh(self.chromium, **options), "", 0)
        try:
            page.record.errors.clear()
            page.record.requests.clear()
            visit(page, url)
            came, notes = came or page.evaluate(MEDIA), set(vars(page))
            yield page
            media, hovered = page.evaluate(LEFT)
            if hovered:
                page.mouse.move(-1, -1)  # or it would stand over the next document
            kept = uses < MOST_USES and media == came
        except BaseException:
            page.context.close()
            raise
        for note in set(vars(page)) - notes:
            if not note.startswith("_"):  # what a test has noted for its oracle
                delattr(page, note)
        if kept:
            free.append((page, came, uses + 1))
        else:
            page.context.close()


@pytest.fixture(scope="session")
def tabs(chromium: Browser) -> Tabs:
    """Pages to use again, for tests that ask nothing of a first visit."""
    return Tabs(chromium)


def unfold(page: Page) -> None:
    """Open every fold of a page in which a widget stands."""
    page.evaluate(UNFOLD)
    page.evaluate(PAINTED)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files and say nothing."""

    def log_message(self, *args) -> None:
        """Say nothing."""


def book_pages() -> list[str]:
    """Return every page of the table of contents, and the two that Sphinx adds."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [file["file"] for part in toc["parts"] for file in part["chapters"]]
    return [toc["root"], *parts, "genindex", "search"]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder from this machine; gives the address, without a slash at its end."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def saved(widget) -> dict:
    """Return a widget as a notebook saves it: a model with its state, through JSON."""
    traits = widget.get_state()
    state = {k: v for k, v in traits.items() if not isinstance(v, memoryview)}
    binary = {k: v for k, v in traits.items() if isinstance(v, memoryview)}
    buffers = [
        {"path": [k], "encoding": "base64", "data": base64.b64encode(v).decode()}
        for k, v in binary.items()
    ]
    return {"state": json.loads(json.dumps(state)), "buffers": buffers}


class Bench:
    """Pages that hold widgets and nothing else, made by the book's own extension."""

    def __init__(self, chromium: Browser, folder: Path):
        self.chromium, self.folder, self.tabs = chromium, folder, Tabs(chromium)
        self._gathered: dict[tuple[str, ...], str] = {}
        self._app = SimpleNamespace(
            builder=SimpleNamespace(format="html"),
            outdir=str(folder),
            add_css_file=lambda *a, **k: 0,
        )
        import live_widgets  # here, so that tests without widgets do not wait for them
        import text_face

        self.book, self.face = live_widgets, text_face
        live_widgets.write_modules(self._app)

    def html(self, models: dict[str, dict], views: list[str], head: str = "") -> str:
        """Return a page with these models (id to saved model) and these views (ids)."""
        return self._html(json.dumps({"state": models}), tuple(views), head)

    @functools.lru_cache(maxsize=8)  # noqa: B019  there is one bench; faults share a picture
    def _html(self, state: str, views: tuple[str, ...], head: str) -> str:
        files: list[str] = []
        app = SimpleNamespace(
            outdir=str(self.folder), add_js_file=lambda name, **k: files.append(name)
        )
        script = SimpleNamespace(attributes={"type": self.book.STATE_MIME, "body": state})
        context = {"body": "\n".join(VIEW % view for view in views), "script_files": [script]}
        with past_the_checker():  # a still runs the model, whose types its own tests check
            self.book.enliven_page(app, "page", "", context, None)
        assert context["script_files"] == [], "the stock state must leave the page"
        scripts = "".join(f'<script async src="_static/{name}"></script>' for name in files)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Widgets</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="stylesheet" href="_static/pieces/pieces.css">'
            f"<style>{COLUMN}</style>{head}{scripts}</head><body><main><h1>Widgets</h1>{context['body']}</main></body></html>"
        )

    def write(self, html: str) -> str:
        """Write a page and return its address on disk."""
        path = self.folder / f"{uuid.uuid4().hex}.html"
        path.write_text(html, encoding="utf-8")
        return path.as_uri()

    def url(self, *widgets, change=None, twice: bool = False, faced: bool = False) -> str:
        """Write a page with these widgets; `change(state)` may spoil their saved states.

        It is set in what the machine has, as a notebook is; `faced`: in the book's own face.
        """
        models = {widget.model_id: saved(widget) for widget in widgets}
        for model in models.values():
            if change:
                change(model["state"])
        head = self.face.head() if faced else ""
        return self.write(self.html(models, list(models) * (2 if twice else 1), head))

    def gathered(self, html: str) -> str:
        """Return the page with its modules in one file: it comes sooner than some twenty.

        The site's own pages, and those of the host's tests, ask for each.
        """
        names = tuple(MODULE.findall(html))
        if names and names not in self._gathered:
            texts = [(self.folder / "_static" / name).read_text(encoding="utf-8") for name in names]
            name = f"{uuid.uuid4().hex}.js"
            (self.folder / name).write_text("".join(texts), encoding="utf-8")
            self._gathered[names] = f'<script async src="{name}"></script>'
        return MODULE.sub("", html).replace("</head>", f"{self._gathered.get(names, '')}</head>")

    def patched(self, html: str, module: str, change) -> str:
        """Return a page in which a module has another text: `change(source)`."""
        source = change((STATIC / f"{module}.js").read_text(encoding="utf-8"))
        path = self.folder / f"{uuid.uuid4().hex}.js"
        path.write_text(self.book.script(module, lambda _: source), encoding="utf-8")
        html, count = re.subn(rf'src="[^"]*pieces/{module}\.js[^"]*"', f'src="{path.name}"', html)
        assert count == 1, f"{module} is not on the page"
        return html

    @contextmanager
    def show(
        self,
        *widgets,
        change=None,
        twice: bool = False,
        faced: bool = False,
        patches=(),
        **options,
    ) -> Iterator[Page]:
        """Open a page with these widgets; `patches` gives modules another text."""
        url = self.url(*widgets, change=change, twice=twice, faced=faced)
        html = (self.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        for module, patch in patches:
            html = self.patched(html, module, patch)
        with self.tabs.opened(self.write(self.gathered(html)), **options) as page:
            if faced:
                page.evaluate("document.fonts.ready.then(() => 0)")
            yield page


@pytest.fixture(scope="session")
def bench(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Where widgets are drawn alone."""
    return Bench(chromium, tmp_path_factory.mktemp("widgets"))


def painted(page: Page, read: str, given=None):
    """Return what a function reads in a page, once what was asked for is drawn: in one call."""
    script = f"async (given) => {{ await ({PAINTED})(); return ({read})(given); }}"
    return page.evaluate(script, given)


def picture(page: Page, at: int = 0) -> str:
    """Return what a reader sees of a widget, as one comparable text."""
    return painted(page, PICTURE_AT, at)


def state(page: Page, widget) -> dict:
    """Return the traits of a widget as the page has them, what it computes from them included.

    Long records that Python gives and no page changes are Python's own.
    """
    given = getattr(widget, "model_id", widget)
    records = {name: getattr(widget, name) for name in RECORDS if hasattr(widget, name)}
    read = f"([id, without]) => ({AS_TEXT})(({STATE})(id, without))"
    return json.loads(painted(page, read, [given, list(records)])) | records


def seen(page: Page, widget) -> tuple[dict, str]:
    """Return the traits of the first widget and its picture."""
    read = f"(id) => [({AS_TEXT})(({STATE})(id)), ({PICTURE_AT})(0)]"
    traits, drawn = painted(page, read, widget.model_id)
    return json.loads(traits), drawn


def said(page: Page, at: int = 0) -> str:
    """Return the sentence under a widget's picture, once the picture is drawn."""
    return painted(page, '(at) => document.querySelectorAll(".p-say")[at].innerText', at)


def put(page: Page, widget, **traits) -> None:
    """Set traits from outside, as Python does in a notebook."""
    page.evaluate(
        "async ([id, traits]) => { const m = window.pieces.model(id); m.set(traits);"
        f" m.save_changes(); await ({PAINTED})(); }}",
        [widget.model_id, traits],
    )


def visible(scope: Page | Locator, selector: str) -> list[Locator]:
    """Return the controls that a reader sees and can move."""
    found = scope.locator(selector)
    return [found.nth(at) for at in found.evaluate_all(FREE)]
