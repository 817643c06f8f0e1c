"""A desk for the kit: a page with the book's style, on which its modules can be called alone."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page

import live_widgets
from browser import COLUMN, PAINTED, PATIENCE, Record
from pieces.widgets.base import inlined

# What is drawn on canvases, in CSS pixels: every text, every filled box with its colour, and every
# outline of a box with round corners.
RECORDER = """(() => {
  window.drawn = { texts: [], boxes: [], rings: [], paints: 0 };
  const rounded = new WeakMap();
  const together = new WeakMap(); // boxes of one path
  const place = (brush, x, y) => {
    const m = brush.getTransform();
    const ratio = window.devicePixelRatio || 1;
    return [(m.a * x + m.c * y + m.e) / ratio, (m.b * x + m.d * y + m.f) / ratio];
  };
  const spy = (name, note) => {
    const real = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      note(this, ...given);
      return real.apply(this, given);
    };
  };
  spy("clearRect", () => { window.drawn = { texts: [], boxes: [], rings: [],
    paints: window.drawn.paints + 1 }; });
  spy("fillText", (b, text, x, y) => {
    const [px, py] = place(b, x, y);
    window.drawn.texts.push({ text, x: px, y: py, fill: b.fillStyle });
  });
  spy("fillRect", (b, x, y, w, t) => {
    const [px, py] = place(b, x, y);
    const fill = typeof b.fillStyle === "string" ? b.fillStyle : "hatch";
    window.drawn.boxes.push({ x: px, y: py, w, t, fill });
  });
  spy("beginPath", (b) => { rounded.delete(b); together.set(b, []); });
  spy("rect", (b, x, y, w, t) => {
    const [px, py] = place(b, x, y);
    together.get(b).push({ x: px, y: py, w, t });
  });
  spy("fill", (b) => together.get(b).forEach((one) => window.drawn.boxes.push({ ...one,
    fill: typeof b.fillStyle === "string" ? b.fillStyle : "hatch" })));
  spy("roundRect", (b, x, y, w, t) => {
    const [px, py] = place(b, x, y);
    rounded.set(b, { x: px, y: py, w, t });
  });
  spy("fill", (b) => { if (rounded.has(b)) window.drawn.boxes.push({ ...rounded.get(b), fill: b.fillStyle }); });
  spy("stroke", (b) => { if (rounded.has(b)) window.drawn.rings.push({ ...rounded.get(b),
    stroke: b.strokeStyle, of: window.drawn.boxes.length - 1 }); }); // around the box drawn last
})()"""
SETUP = """async (urls) => {
  window.kit = {};
  for (const url of urls) Object.assign(window.kit, await import(url));
  window.made = (name = "test") => {
    const el = document.createElement("div");
    document.querySelector("main").append(el);
    return (window.view = kit.frame(el, { title: "Test", name }));
  };
}"""


class Desk:
    """Opens pages on which `kit` holds what the modules export, and `made()` makes a frame."""

    def __init__(self, chromium: Browser):
        self.chromium, self.style = chromium, live_widgets.stylesheet()

    @contextmanager
    def open(
        self,
        *modules: str,
        width: int = 720,
        dark: bool = False,
        touch: bool = False,
        motion: bool = False,
    ) -> Iterator[Page]:
        """Open a page with these modules, and the kit's frame."""
        context = self.chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            reduced_motion="no-preference" if motion else "reduce",
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.record = Record(page)
        theme = ' data-theme="dark"' if dark else ""
        page.set_content(
            f'<!doctype html><html lang="en"{theme}><head><title>Desk</title>'
            f"<style>{COLUMN}{self.style}</style></head><body><main></main></body></html>"
        )
        page.evaluate(RECORDER)
        page.evaluate(
            SETUP, [self.url(name) for name in ("kit/kit", "kit/dom", "kit/words", *modules)]
        )
        try:
            yield page
            assert page.record.errors == []
        finally:
            context.close()

    @staticmethod
    def url(name: str) -> str:
        """Return a module as a notebook gets it."""
        text = base64.b64encode(inlined(name).encode()).decode()
        return f"data:text/javascript;base64,{text}"


def painted(page: Page) -> None:
    """Wait until what was asked for is on the screen."""
    page.evaluate(PAINTED)


def table(page: Page) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the first table of the table view."""
    page.evaluate("view.details.open = true")
    painted(page)
    text = page.evaluate(
        """JSON.stringify([...document.querySelector(".p-tables table").rows]
        .map((row) => [...row.cells].map((cell) => cell.textContent)))"""
    )
    head, *rows = json.loads(text)
    return head, rows
