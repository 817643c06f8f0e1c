"""How heavy and how quick a page of the book is, beside the same page as Jupyter Book makes it.

    python benchmarks/pages.py [--site _build/html] [--runs 7] [--where]

Every chapter, and one small page with one widget, is built by Jupyter Book as it comes (its
html-manager, require.js and MathJax from CDNs), the small page also by this book's extensions.
All are served from this machine, gzipped, and the CDN's files too, from the npm packages they are
made of. Each page of the built site is measured against its stock twin, and its controls against a
trivial page with one slider and one text. Needs Chromium and npm. `--where`: where the bytes go.
"""

import argparse
import gzip
import http.server
import json
import mimetypes
import random
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import yaml
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "_build" / "bench"
CDNS = {  # the addresses a stock page asks, and the npm package and path behind each
    "https://cdn.jsdelivr.net/npm/": lambda path: path,
    "https://unpkg.com/": lambda path: path,
    "https://cdnjs.cloudflare.com/ajax/libs/require.js/": lambda path: (
        f"requirejs@{path.split('/')[0]}/require.js"
    ),
}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update"]  # fmt: skip
TRIVIAL = (
    '<!doctype html><html lang="en"><title>Trivial</title><input type="range" min="0" max="100" '
    'value="50" oninput="document.querySelector(\'p\').textContent = this.value"><p>50</p></html>'
)
WATCH = """
  window.bench = { first: null, tasks: [] };
  new MutationObserver((_, observer) => {
    const first = document.querySelector(".pieces-live") ?? document; // a stock page has none
    if (!first.querySelector(".pieces .p-title")) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.bench.first = performance.now(); });
  }).observe(document, { childList: true, subtree: true });
  const note = (list) => list.getEntries().forEach((e) => window.bench.tasks.push(e.duration));
  new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
  // From the moment an input reaches the page until what it changed is on the screen.
  window.bench.times = [];
  window.addEventListener("keydown", (e) => {
    const start = e.timeStamp;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.bench.times.push(performance.now() - start);
      port2.postMessage(0);
    });
  }, true);
"""


# ---------------------------------------------------------------- two sites, one server


def notebook() -> nbformat.NotebookNode:
    """Return the small page: a text, a formula, a widget."""
    book = nbformat.v4.new_notebook()
    text = (
        "# One widget\n\nThe mask decides who sees whom.\n\n$$\n\\mathrm{softmax}(QK^\\top) V\n$$"
    )
    code = "from pieces.widgets import MaskExplorer\n\nMaskExplorer(T=8)"
    book.cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code)]
    book.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    return book


def small(name: str, config: dict) -> Path:
    """Build the small page with a configuration; gives the folder of its HTML."""
    source = BENCH / name
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    nbformat.write(notebook(), source / "index.ipynb")
    return build(name, ["index"], config)


def stock_book(chapters: list[str]) -> Path:
    """Build the chapters as Jupyter Book does without the extensions of this book."""
    source = BENCH / "stock_book"
    source.mkdir(parents=True, exist_ok=True)
    for folder in ("chapters", "src"):
        shutil.copytree(ROOT / folder, source / folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "references.bib", source)
    (source / "index.md").write_text("# The chapters\n", encoding="utf-8")
    own = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config = {key: own[key] for key in ("parse", "bibtex_bibfiles")}
    pages = ["index", *(str(Path(name).with_suffix("")) for name in chapters)]
    return build("stock_book", pages, config)


def build(name: str, pages: list[str], config: dict) -> Path:
    """Build the pages in a folder; gives the folder of their HTML."""
    source = BENCH / name
    config = {
        "title": "One widget",
        "author": "",
        "only_build_toc_files": True,
        "execute": {"execute_notebooks": "force", "timeout": 600},
    } | config
    toc = {"format": "jb-book", "root": pages[0]}
    if pages[1:]:
        toc["chapters"] = [{"file": page} for page in pages[1:]]
    (source / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (source / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(source), "-q"]
    done = subprocess.run(command, capture_output=True, text=True)
    html = source / "_build" / "html"
    if done.returncode or not all((html / f"{page}.html").exists() for page in pages):
        sys.exit(f"The {name} page does not build:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return html


def our_config() -> dict:
    """Return what the book's configuration says about Sphinx, with its folders made absolute."""
    sphinx = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]
    sphinx["local_extensions"] = {name: str(ROOT / "_ext") for name in sphinx["local_extensions"]}
    sphinx["config"]["templates_path"] = [
        str(ROOT / path) for path in sphinx["config"]["templates_path"]
    ]
    return {"sphinx": sphinx}


def npm_file(spec: str) -> Path | None:
    """Return a file of an npm package, `package@version/path`; packages stay in _build/bench."""
    match = re.match(r"(?P<name>(?:@[^/]+/)?[^@/]+)(?:@(?P<version>[^/]+))?/?(?P<path>.*)", spec)
    name, version, path = match["name"], match["version"] or "latest", match["path"]
    folder = BENCH / "npm" / f"{name.replace('/', '+')}@{version.replace('~', '')}"
    if not folder.exists():
        npm = shutil.which("npm") or sys.exit("npm is needed: it brings what the CDNs would serve.")
        packed = BENCH / "npm" / "packed"
        packed.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", f"{name}@{version}", "--silent", "--pack-destination", str(packed)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"npm cannot get {name}@{version}:\n{done.stderr[-1000:]}")
        with tarfile.open(packed / done.stdout.split()[-1]) as archive:
            archive.extractall(folder, filter="data")
    found = folder / "package" / (path or "index.js")
    if not found.is_file():
        found = found.with_name(found.name + ".js")
    return found if found.is_file() else None


class Shelf:
    """Files ready to be sent: gzipped once, CDN addresses turned to this machine."""

    def __init__(self):
        self.folders: dict[str, Path] = {}
        self.sent: dict[str, tuple[bytes, str, bool]] = {}
        self.lock = threading.Lock()
        self.address = ""
        self.missing: set[str] = set()

    def get(self, path: str) -> tuple[bytes, str, bool] | None:
        """Return (bytes, type, gzipped) of an address on this server."""
        with self.lock:
            if path not in self.sent:
                file = self.find(path)
                if file is None:
                    self.missing.add(path)
                    return None
                self.sent[path] = self.prepare(file)
            return self.sent[path]

    def find(self, path: str) -> Path | None:
        for number, package in enumerate(CDNS.values()):
            if path.startswith(f"/cdn{number}/"):
                return npm_file(package(path.split("/", 2)[2]))
        _, site, inside = path.split("/", 2) if path.count("/") > 1 else ("", path[1:], "")
        file = self.folders.get(site, BENCH) / (inside or "index.html")
        return file if file.is_file() else None

    def prepare(self, file: Path) -> tuple[bytes, str, bool]:
        data = file.read_bytes()
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if not re.match(r"text/|application/(javascript|json)|image/svg", kind):
            return data, kind, False
        text = data.decode("utf-8", errors="surrogateescape")
        for number, cdn in enumerate(CDNS):
            text = text.replace(cdn, f"{self.address}/cdn{number}/")
        text = re.sub(r' integrity="[^"]*"', "", text)
        return gzip.compress(text.encode("utf-8", errors="surrogateescape"), 6), kind, True


def handler(shelf: Shelf) -> type:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            found = shelf.get(unquote(urlsplit(self.path).path))
            data, kind, packed = found or (b"", "text/plain", False)
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Access-Control-Allow-Origin", "*")
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            """Say nothing."""

    return Handler


@contextmanager
def served(**folders: Path) -> Iterator[Shelf]:
    """Serve folders, each under its name."""
    shelf = Shelf()
    shelf.folders = folders
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(shelf))
    server.daemon_threads = True
    shelf.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield shelf
    server.shutdown()


# ---------------------------------------------------------------- measuring


@contextmanager
def fresh(browser: Browser) -> Iterator[tuple[Page, object, dict]]:
    """Open a page with an empty cache that counts what it loads."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(WATCH)
    cdp = context.new_cdp_session(page)
    cdp.send("Network.enable")
    loaded = {"bytes": {}, "urls": {}, "asked": {}, "outside": []}

    def sent(e: dict) -> None:
        loaded["urls"][e["requestId"]] = e["request"]["url"]
        loaded["asked"][e["requestId"]] = 1000 * e["wallTime"]

    cdp.on("Network.requestWillBeSent", sent)
    cdp.on(
        "Network.loadingFinished",
        lambda e: loaded["bytes"].update({e["requestId"]: e["encodedDataLength"]}),
    )
    page.on(
        "requestfailed",
        lambda r: None if r.url.startswith("http://127.0.0.1") else loaded["outside"].append(r.url),
    )
    try:
        yield page, cdp, loaded
    finally:
        context.close()


def load(browser: Browser, url: str) -> dict:
    """Load a page once: times in ms, bytes as sent, requests, blocking, heap."""
    with fresh(browser) as (page, cdp, loaded):
        page.goto(url, wait_until="load")
        try:
            page.wait_for_function("window.bench.first !== null", timeout=15_000)
            first = page.evaluate("window.bench.first")
        except Exception:
            first = None
        alive = page.evaluate("performance.timeOrigin") + (first or float("inf"))
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        blocked = sum(max(0, task - 50) for task in page.evaluate("window.bench.tasks"))
        cdp.send("HeapProfiler.collectGarbage")
        heap = cdp.send("Runtime.getHeapUsage")["usedSize"]
        urls = [u for u in loaded["urls"].values() if u.startswith("http")]
        parts = {loaded["urls"].get(i, i): size for i, size in loaded["bytes"].items()}
        parts = {u: size for u, size in parts.items() if u.startswith("http")}
        early = {i: size for i, size in loaded["bytes"].items() if loaded["asked"][i] <= alive}
        early = {i: size for i, size in early.items() if loaded["urls"][i].startswith("http")}
        return {
            "first": first,
            "until": sum(early.values()),
            "bytes": sum(parts.values()),
            "requests": len(urls),
            "blocked": blocked,
            "heap": heap,
            "parts": parts,
            "outside": loaded["outside"],
        }


def several(browser: Browser, urls: dict[str, str], runs: int) -> dict[str, dict]:
    """Load pages in turn, several times; gives the medians. The first round warms the server."""
    seen: dict[str, list[dict]] = {name: [] for name in urls}
    for turn in range(runs + 1):
        for name, url in urls.items():
            one = load(browser, url)
            if turn:
                seen[name].append(one)
    result = {}
    for name, all_runs in seen.items():
        result[name] = dict(all_runs[-1])
        for what in ("first", "until", "bytes", "requests", "blocked", "heap"):
            values = [one[what] for one in all_runs if one[what] is not None]
            result[name][what] = statistics.median(values) if values else None
    return result


KEYS = {"range": ("ArrowRight", "ArrowLeft"), "select-one": ("ArrowDown", "ArrowUp"),
        "checkbox": ("Space", "Space"), "text": ("ArrowUp", "ArrowDown"),
        "search": ("a", "Backspace"),
        "board": ("Enter", "Enter"), "button": ("Space", "Space")}  # fmt: skip


def press(page: Page, control, times: int) -> list[float]:
    """Move a control by its keys, again and again; gives ms from key to paint."""
    control = control.element_handle()  # to find it anew at each press is work in the measured page
    kind = control.evaluate(
        "(c) => c.className === 'p-board' ? 'board' : c.tagName === 'BUTTON' ? 'button' : c.type"
    )
    on, back = KEYS[kind]
    control.focus()
    if kind == "board":
        control.press("ArrowRight")
    if kind == "range":
        at_end = control.evaluate("(c) => Number(c.value) >= Number(c.max)")
        on, back = (back, on) if at_end else (on, back)
    page.evaluate("window.bench.times.length = 0")
    for turn in range(times):
        if not control.is_enabled() and not again(page, control):
            break
        control.press(on if turn % 2 == 0 else back)
        page.wait_for_timeout(20 + 15 * random.random())
    page.wait_for_timeout(60)
    return page.evaluate("window.bench.times")


def again(page: Page, control) -> bool:
    """Bring a button that its own press has put out of use back by a neighbour, untimed."""
    neighbours = control.evaluate_handle(
        "(c) => [...c.closest('.p-controls').querySelectorAll('button')].filter((b) => b !== c)"
    )
    for neighbour in neighbours.get_properties().values():
        other = neighbour.as_element()
        if not other.is_enabled():
            continue
        other.press("Space")
        page.wait_for_timeout(60)
        page.evaluate("window.bench.times.pop()")
        if control.is_enabled():
            control.focus()
            page.wait_for_timeout(20 + 15 * random.random())
            return True
    return False


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(0.95 * len(times)) - 1)] if times else float("nan")


def steadied(page: Page, control, times: int, limit: float) -> float | None:
    """Return the 95th percentile of a control; one above the limit is measured again, twice.

    Other work on the machine delays single frames. A slow widget is slow three times.
    """
    best = None
    for _ in range(3):
        samples = press(page, control, times)
        if samples:
            best = min(p95(samples), best or float("inf"))
        if best is None or best <= limit:
            break
    return best


def reactions(browser: Browser, url: str, times: int, limit: float) -> dict[str, float]:
    """Return the 95th percentile of every control of every widget, as loaded and at full size."""
    found = {}
    for largest in (False, True):
        with fresh(browser) as (page, _, _):
            page.goto(url, wait_until="load")
            page.wait_for_timeout(500)
            for at in range(page.locator(".pieces").count()):
                widget = page.locator(".pieces").nth(at)
                name = widget.evaluate("(w) => w.className.match(/pieces-([\\w-]+)/)[1]")
                if largest:
                    widget.evaluate(
                        """(w) => w.querySelectorAll('input[type=range]').forEach((c) => {
                          if (!c.offsetParent) return;
                          c.value = c.max;
                          c.dispatchEvent(new Event('input'));
                        })"""
                    )
                groups = {
                    "control": ":is(.p-controls, .p-pane .p-control) :is(input, select)",
                    "step": ".p-controls button",
                    "cell": ".p-matrix input",
                    "board": ".p-board[aria-label*='Enter']",
                }
                for group, selector in groups.items():
                    most = 2 if group in ("cell", "step") else 12
                    for control in widget.locator(selector).all()[:most]:
                        if not (control.is_visible() and control.is_enabled()):
                            continue
                        label = control.evaluate(
                            "(c) => c.getAttribute('aria-label') || (c.labels?.[0] ?? c).innerText"
                        )
                        size = " (largest)" if largest else ""
                        reacted = steadied(page, control, times, limit)
                        if reacted is not None:
                            found[f"{name} {at + 1}: {label.strip()[:28]}{size}"] = reacted
    return found


def floor(browser: Browser, url: str, times: int) -> float:
    """Return the 95th percentile of one slider and one text."""
    with fresh(browser) as (page, _, _):
        page.goto(url)
        return p95(press(page, page.locator("input"), times))


# ---------------------------------------------------------------- the table


def row(what: str, figure: str, target: str = "", met: bool | None = None) -> None:
    verdict = "" if met is None else "met" if met else "MISSED"
    print(f"{what:58} {figure:>16}  {target:14} {verdict}")


def where(name: str, page: dict) -> None:
    """Print where the bytes of a page go."""
    print(f"\nWhere the bytes of {name} go:")
    for url, size in sorted(page["parts"].items(), key=lambda one: -one[1])[:14]:
        print(f"  {size / 1000:8.1f} kB  {urlsplit(url).path}")


def compare(stock: dict, ours: dict) -> None:
    print("\nThe same page with one widget: Jupyter Book as it comes, and this book\n")
    if stock["first"] is None:
        row("stock: first widget", "never")
    else:
        row("stock: first widget, ms", f"{stock['first']:.0f}")
        ratio = ours["first"] / stock["first"]
        row("ours: first widget, ms", f"{ours['first']:.0f}")
        row("ratio", f"{ratio:.2f}", "<= 0.6", ratio <= 0.6)
    row("stock: kB, requests", f"{stock['bytes'] / 1e3:.0f}, {stock['requests']:.0f}")
    row("ours: kB, requests", f"{ours['bytes'] / 1e3:.0f}, {ours['requests']:.0f}")
    ratio = ours["bytes"] / stock["bytes"]
    row("ratio of bytes", f"{ratio:.2f}", "<= 0.2", ratio <= 0.2)
    row("ratio of requests", f"{ours['requests'] / stock['requests']:.2f}")


def chapter(name: str, page: dict, stock: dict, moved: dict[str, float], ground: float) -> None:
    print(f"\n{name}\n")
    if page["first"] is None:
        row("first widget", "no widget")
    elif stock["first"] is None:
        row("first widget of the stock page", "never")
    else:
        ratio = page["first"] / stock["first"]
        row("first widget, ms", f"{page['first']:.0f}")
        row("  stock", f"{stock['first']:.0f}")
        row("  ratio", f"{ratio:.2f}", "<= 0.6", ratio <= 0.6)
    ratio = page["until"] / stock["until"]
    row("  bytes asked for until then, kB", f"{page['until'] / 1e3:.0f}")
    row("  ratio", f"{ratio:.3f}", "<= 0.2", ratio <= 0.2)
    row("  all bytes against stock", f"{page['bytes'] / stock['bytes']:.3f}")
    most = 1800 if any("/models/" in url for url in page["parts"]) else 1000  # with a model in it
    kilo = page["bytes"] / 1e3
    row("all it loads, compressed, kB", f"{kilo:.0f}", f"<= {most}", kilo <= most)
    row(
        "requests, outside",
        f"{page['requests']:.0f}, {len(page['outside'])}",
        "outside 0",
        not page["outside"],
    )
    row("blocked while loading, ms", f"{page['blocked']:.0f}", "<= 150", page["blocked"] <= 150)
    row("heap, MB", f"{page['heap'] / 1e6:.1f}", "<= 15", page["heap"] <= 15e6)
    if moved:
        worst = max(moved, key=moved.get)
        ratio = moved[worst] / ground
        row(f"control moved to painted, p95, ms: {len(moved)} controls", f"{moved[worst]:.1f}")
        row(f"  worst: {worst}", f"{ratio:.2f}", "<= 1.5", ratio <= 1.5)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--presses", type=int, default=30)
    arguments.add_argument("--only", default="", help="the chapters whose names begin so: 03,05")
    arguments.add_argument("--again", action="store_true", help="use the stock pages of last time")
    arguments.add_argument("--where", action="store_true", help="say where the bytes go")
    options = arguments.parse_args()
    site = options.site.resolve()
    if not (site / "index.html").exists():
        sys.exit(f"{site} holds no site: run `make book` first.")
    names = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit(f"No browser: install one of {', '.join(names)}.")
    found = [path.name for path in (site / "chapters").glob("*.html") if path.name[:2].isdigit()]
    only = tuple(options.only.split(","))
    chapters = sorted(f"chapters/{name}" for name in found if name.startswith(only))

    if options.again:
        stock, ours, stocked = (
            BENCH / name / "_build" / "html" for name in ("stock", "ours", "stock_book")
        )
    else:
        print("building the stock pages ...", file=sys.stderr)
        stock, ours, stocked = small("stock", {}), small("ours", our_config()), stock_book(chapters)
    (BENCH / "trivial").mkdir(exist_ok=True)
    (BENCH / "trivial" / "index.html").write_text(TRIVIAL, encoding="utf-8")
    folders = {"stock": stock, "ours": ours, "book": site, "trivial": BENCH / "trivial"}
    folders["stock_book"] = stocked
    with served(**folders) as shelf, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        urls = {
            "stock": f"{shelf.address}/stock/index.html",
            "ours": f"{shelf.address}/ours/index.html",
        }
        for name in chapters:
            urls[name] = f"{shelf.address}/book/{name}"
            urls[f"stock {name}"] = f"{shelf.address}/stock_book/{name}"
        print(f"loading {len(urls)} pages, {options.runs} times each ...", file=sys.stderr)
        seen = several(browser, urls, options.runs)
        print("moving every control ...", file=sys.stderr)
        trivial = f"{shelf.address}/trivial/index.html"
        grounds = [floor(browser, trivial, 4 * options.presses)]
        moved = {}
        for name in chapters:
            moved[name] = reactions(browser, urls[name], options.presses, 1.5 * min(grounds))
            grounds.append(floor(browser, trivial, 4 * options.presses))
        ground = statistics.median(grounds)
        compare(seen["stock"], seen["ours"])
        row("floor: one slider, one text, p95, ms", f"{ground:.1f}")
        for name in chapters:
            chapter(name, seen[name], seen[f"stock {name}"], moved[name], ground)
        if options.where:
            for name in ("stock", "ours", *chapters):
                where(name, seen[name])
                for what, time in sorted(moved.get(name, {}).items(), key=lambda one: -one[1])[:8]:
                    print(f"  {time:8.1f} ms  {what}")
        if shelf.missing:
            print("\nnot found:", *sorted(shelf.missing), sep="\n  ")
        browser.close()
    for page in seen.values():
        page.pop("parts")
    record = {"pages": seen, "floor": ground, "moved": moved}
    (BENCH / "pages.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
