"""One lean script a page, in place of one for each module of its widgets."""

import json
import re
from types import SimpleNamespace

import lean_scripts
import live_widgets
from browser import opened
from pieces.widgets import MaskExplorer, ShuffleTokens
from pieces.widgets.base import STATIC, needed, source_of

MODULES = sorted(p.relative_to(STATIC).with_suffix("").as_posix() for p in STATIC.rglob("*/*.js"))
TRICKY = """/** Of a module.
 *  @param {string} a */
const a = "// no comment"; // one
const b = `/* none ${c /* one */} //`;
const d = e.replace(/[/*]\\/\\/"/g, "x") / 2; /* one
over two lines */ const f = 1;
"""


def test_comments_go_and_nothing_else():
    lines = lean_scripts.lean(TRICKY).split("\n")
    assert lines[:2] == ["", ""]
    assert lines[2:5] == [
        'const a = "// no comment";',
        "const b = `/* none ${c } //`;",
        'const d = e.replace(/[/*]\\/\\/"/g, "x") / 2;',
    ]
    assert lines[5] == " const f = 1;"


def test_what_is_left_stays_on_its_line():
    """So an error names the line of the file in the repository."""
    for name in MODULES:
        before, after = source_of(name).split("\n"), lean_scripts.lean_module(name).split("\n")
        assert len(before) == len(after), name
        for line, left in zip(before, after, strict=True):
            rest = iter(line)
            assert all(letter in rest for letter in left), f"{name}: {line}"
            if not re.search(r"//|/\*|\*/|^ *\*( |$)", line):
                assert left == line.rstrip(), f"{name}: {line}"


def site(bench, tmp_path, *widgets):
    """A site of one page, as a build leaves it."""
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"), outdir=str(tmp_path), add_css_file=lambda *a, **k: 0
    )
    live_widgets.write_modules(app)
    page = tmp_path / "index.html"
    url = bench.url(*widgets)
    page.write_text((bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8"))
    return app, page


def scripts(page):
    """What a page loads of the widgets' folder."""
    return re.findall(r'src="_static/pieces/([^"?]+)', page.read_text(encoding="utf-8"))


class TestPage:
    def test_it_loads_the_host_and_one_script_with_what_it_needs(self, bench, tmp_path):
        app, page = site(bench, tmp_path, ShuffleTokens())
        lean_scripts.write_bundles(app, None)
        *classic, bundle = scripts(page)
        assert classic == ["host.js", "links.js"]
        text = (tmp_path / "_static" / "pieces" / bundle).read_text(encoding="utf-8")
        sources = json.loads(text.split("??= {}, ", 1)[1].rsplit(");\nself.pieces", 1)[0])
        assert set(sources) == set(needed(ShuffleTokens.module))
        assert "/**" not in text
        assert "/*" not in (tmp_path / "_static/pieces/pieces.css").read_text(encoding="utf-8")

    def test_a_second_build_brings_what_has_changed(self, bench, tmp_path, monkeypatch):
        """Sphinx writes no page again whose notebook stayed as it was."""
        app, page = site(bench, tmp_path, ShuffleTokens())
        lean_scripts.write_bundles(app, None)
        first = scripts(page)
        lean_scripts.write_bundles(app, None)
        assert scripts(page) == first
        monkeypatch.setattr(
            lean_scripts, "lean_module", lambda name: f"export const at = {name!r};"
        )
        lean_scripts.write_bundles(app, None)
        assert scripts(page) != first
        assert len(list((tmp_path / "_static" / "pieces").glob("page-*.js"))) == 1

    def test_its_widgets_live_from_disk_and_its_errors_name_their_module(self, bench, tmp_path):
        app, page = site(bench, tmp_path, ShuffleTokens(), MaskExplorer())
        lean_scripts.write_bundles(app, None)
        with opened(bench.chromium, page.as_uri()) as shown:
            states = shown.locator(".pieces-live").evaluate_all(
                "(all) => all.map((e) => e.dataset.state)"
            )
            assert states == ["live", "live"]
            assert shown.record.errors == []
            shown.evaluate("""() => {
              Element.prototype.setAttribute = () => { throw new Error("x"); };
              window.seen = "";
              console.error = (error) => { window.seen += error.stack; };
              const { model } = document.querySelector(".pieces-live").dataset;
              window.pieces.model(model).set({ shuffle: 3 });
            }""")
            shown.wait_for_function("window.seen !== ''")
            line = re.search(r"pieces/([\w/]+)\.js:(\d+)", shown.evaluate("window.seen"))
            assert line
            assert "setAttribute" in source_of(line[1]).split("\n")[int(line[2]) - 1]

    def test_a_page_without_widgets_and_a_failed_build_stay_as_they_are(self, tmp_path):
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
        lean_scripts.write_bundles(app, ValueError("broken"))
        assert lean_scripts.bundled_page("<p>no widget</p>", None) == "<p>no widget</p>"
