"""The book's own Sphinx extension, piece by piece."""

import ast
import base64
import io
import json
import os
import re
import time
import zlib
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import nbformat
import numpy
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from fontTools.ttLib import TTFont

import bertviz_libraries
import bulk_weights
import classic_modules
import fresh_outputs
import katex_math
import lean_icons
import lean_pages
import live_widgets
import notebook_form
import percent_signs
from pieces import masks
from pieces.widgets import FillMask, MaskExplorer
from pieces.widgets.base import STATIC, imports


def test_a_percent_sign_stays_with_its_number():
    told = nodes.paragraph("", "", nodes.Text("From 33.6 to 39.4 % of it, 5 %, and a % alone; "))
    told += [nodes.strong("", "35 % of 64"), nodes.literal("", "f'{x} 7 %'")]
    code = nodes.literal_block("", "print(100 % 7, 3 % 2)")
    percent_signs.keep(None, nodes.section("", told, code), "page")
    assert told.astext() == (
        "From 33.6 to 39.4\u00a0% of it, 5\u00a0%, and a % alone; 35\u00a0% of 64f'{x} 7 %'"
    )
    assert code.astext() == "print(100 % 7, 3 % 2)"


class TestFilesBesideThePages:
    """What a page need not bring before its first widget."""

    @pytest.mark.parametrize("kind", ["<f2", "<i1"])
    def test_packed_weights_come_back(self, tmp_path, kind):
        weights = numpy.random.default_rng(0).normal(0, 20, 9999).astype(kind).tobytes() + b"!"
        bulk_weights.write_weights(tmp_path, "one", weights)
        script = (tmp_path / "_static" / "pieces" / "models" / "one.js").read_text()
        text = json.loads(script.partition(" = ")[2].rstrip(";\n"))
        layers, packed = int(text[0]), zlib.decompress(base64.b64decode(text[1:]))
        assert layers == (2 if kind == "<f2" else 1)  # what packs best
        back = bytearray(len(packed))
        for layer in range(layers):
            size = len(range(layer, len(back), layers))
            back[layer::layers], packed = packed[:size], packed[size:]
        assert bytes(back) == weights

    def test_bertviz_s_libraries_are_a_file_that_a_page_names(self, tmp_path):
        from pieces.book.bertviz import packed

        body = f'<p>Two</p><div class="pieces-bertviz" data-libraries="{packed()}">views</div>'
        context = {"body": body, "pathto": lambda name, resource: f"../{name}"}
        app = SimpleNamespace(outdir=tmp_path)
        bertviz_libraries.share(app, "page", "", context, None)
        file = "_static/pieces/bertviz.js"
        named = f'<p>Two</p><div class="pieces-bertviz" data-file="../{file}">views</div>'
        assert context["body"] == named
        script = (tmp_path / file).read_text(encoding="utf-8")
        assert script == f'self.piecesBertviz = "{packed()}";\n'
        for other in (named, '<pre>&lt;div data-libraries="</span><span>{packed()}"</pre>'):
            context["body"] = other  # a page that has been done, and one that shows the code
            bertviz_libraries.share(app, "page", "", context, None)
            assert context["body"] == other
        assert (tmp_path / file).read_text(encoding="utf-8") == script


class TestKatex:
    INLINE = (r"\frac{QK^\top}{\sqrt{d_k}}", r"a \odot b", "a < b")
    ALONE = (r"\mathrm{softmax}(x)_i \tag{5.5}", r"\begin{aligned} a &= b \\ c &= d \end{aligned}")

    @pytest.mark.parametrize(
        ("latex", "display"),
        [(latex, False) for latex in INLINE] + [(latex, True) for latex in INLINE + ALONE],
    )
    def test_typesets_what_the_book_uses(self, latex, display):
        html = katex_math.typeset(latex, display)
        assert 'class="katex' in html
        assert "<math" in html, "a screen reader reads MathML"
        assert "katex-error" not in html
        assert "<script" not in html

    @pytest.mark.parametrize("latex", [r"\frac{1}{", r"\unknown x", "x^2^3"])
    def test_a_mistake_is_a_warning_at_its_place(self, latex, monkeypatch):
        warned = []
        monkeypatch.setattr(
            katex_math.LOGGER, "warning", lambda *args, **more: warned.append((args, more))
        )
        node = nodes.math(latex, latex)
        node.source, node.line = "chapters/05.ipynb", 7
        page = SimpleNamespace(body=[], encode=lambda text: text.replace("<", "&lt;"))
        katex_math.render(page, node, display=False)
        ((args, more),) = warned
        assert latex in args
        assert more["location"] is node
        assert more["type"] == "katex"
        assert page.body == [latex], "the reader sees the source, not a hole"

    def test_a_link_in_a_formula_is_no_link(self):
        assert "href=" not in katex_math.typeset(r"\href{javascript:alert(1)}{y}", False)

    def test_inline_and_block(self):
        def page():
            return SimpleNamespace(
                body=[], encode=str, starttag=lambda node, tag, **k: f'<{tag} class="{k["CLASS"]}">'
            )

        for visit, node in (
            (katex_math.visit_inline, nodes.math("x", "x")),
            (katex_math.visit_block, nodes.math_block("x", "x")),
        ):
            one = page()
            with pytest.raises(nodes.SkipNode):
                visit(one, node)
            html = BeautifulSoup("".join(one.body), "html.parser")
            assert html.select_one(".math .katex")

    def test_a_full_stop_stays_with_its_formula(self):
        alone, followed = nodes.math("x", "x"), nodes.math("y", "y")
        word, last = nodes.emphasis("", "cat"), nodes.math("z", "z")
        line = nodes.paragraph("", "", word, nodes.Text("."), followed, nodes.Text("). Then "))
        line += [alone, nodes.Text(" is "), last, nodes.Text(".")]
        document = nodes.section("", line)
        before = line.astext()
        katex_math.keep_signs(None, document, "page")
        together = [node.astext() for node in line.findall(nodes.inline)]
        assert together == ["y).", "z."]
        assert alone.parent is line
        assert line.astext() == before == "cat.y). Then x is z."

    def test_a_labelled_number_is_refused(self):
        node = nodes.math_block("x", "x", number=3)
        with pytest.raises(Exception, match="tag"):
            katex_math.visit_block(SimpleNamespace(body=[]), node)

    def test_the_script_stays_at_home(self, tmp_path):
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
        katex_math.write_style(app)
        written = {path.suffix for path in (tmp_path / "_static" / "katex").rglob("*.*")}
        assert ".css" in written
        assert ".woff2" in written
        assert ".js" not in written

    def test_the_style_and_its_faces_load_only_where_formulas_are(self):
        for body, expected in (("<p>x</p>", []), ('<span class="katex">', ["katex/katex.min.css"])):
            app, context = Mock(), {"body": body, "pathto": lambda file, resource: f"../{file}"}
            katex_math.only_where_needed(app, "p", "t", context, None)
            early = re.findall(r"\.\./_static/katex/fonts/\S+?\.woff2", context.get("metatags", ""))
            assert len(early) == 2 * len(expected)
            assert all((katex_math.KATEX / one.partition("katex/")[2]).exists() for one in early)
            assert [call.args[0] for call in app.add_css_file.call_args_list] == expected
            scripts = [call.kwargs["body"] for call in app.add_js_file.call_args_list]
            assert ["KaTeX_Main" in script for script in scripts] == [True] * len(expected)


class TestFreshOutputs:
    @pytest.fixture
    def package(self, tmp_path, monkeypatch):
        folder = tmp_path / "pieces"
        (folder / "widgets" / "static").mkdir(parents=True)
        (folder / "masks.py").write_text("a = 1\n")
        (folder / "widgets" / "static" / "kit.js").write_text("let a;\n")
        monkeypatch.setattr(fresh_outputs, "PACKAGE", folder)
        return folder

    @pytest.mark.parametrize("name", ["masks.py", "widgets/static/kit.js"])
    def test_an_edit_changes_the_hash(self, package, name):
        before = fresh_outputs.folder_hash(package)
        assert fresh_outputs.folder_hash(package) == before
        (package / name).write_text("changed\n")
        assert fresh_outputs.folder_hash(package) != before

    def test_a_new_file_and_a_new_name_change_it(self, package):
        before = fresh_outputs.folder_hash(package)
        (package / "new.py").write_text("")
        added = fresh_outputs.folder_hash(package)
        (package / "new.py").rename(package / "other.py")
        assert len({before, added, fresh_outputs.folder_hash(package)}) == 3

    def test_compiled_files_and_times_do_not(self, package):
        before = fresh_outputs.folder_hash(package)
        (package / "__pycache__").mkdir()
        (package / "__pycache__" / "masks.pyc").write_bytes(b"x")
        os.utime(package / "masks.py", (time.time() + 99,) * 2)
        assert fresh_outputs.folder_hash(package) == before

    def test_each_state_has_its_own_cache(self, package, tmp_path):
        app = SimpleNamespace(outdir=str(tmp_path / "_build" / "html"))
        config = SimpleNamespace(nb_execution_cache_path="")
        fresh_outputs.place_cache(app, config)
        first = Path(config.nb_execution_cache_path)
        (first / "kept").write_text("x")
        fresh_outputs.place_cache(app, config)
        assert (first / "kept").exists(), "nothing changed, nothing is lost"
        (package / "masks.py").write_text("a = 2\n")
        fresh_outputs.place_cache(app, config)
        assert Path(config.nb_execution_cache_path) != first
        assert not first.exists()

    @pytest.mark.parametrize("folder", ["_ext", "_static"])
    def test_an_edit_of_the_look_is_a_change_of_the_configuration(self, tmp_path, folder):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "book.css"
        app, config, seen = SimpleNamespace(srcdir=str(tmp_path)), SimpleNamespace(), []
        for text in ("a", "a", "b"):
            file.write_text(text)
            fresh_outputs.note_style(app, config)
            seen.append(config.look_of_the_pages)
        assert seen[0] == seen[1] != seen[2]


def state(**models):
    return {name: {"state": one} for name, one in models.items()}


class TestLiveWidgets:
    def test_knows_our_widgets_and_no_others(self):
        ours = {"state": {"_anywidget_id": "pieces.widgets.mask_explorer.MaskExplorer"}}
        assert live_widgets.widget_class(ours) is MaskExplorer
        assert live_widgets.widget_class({"state": {"_anywidget_id": "other.Widget"}}) is None
        assert live_widgets.widget_class({"state": {}}) is None
        assert live_widgets.widget_class({}) is None

    def test_the_saved_id_of_a_widget_is_found(self):
        for widget in (MaskExplorer(), FillMask(question="?", answer=masks.causal(2))):
            saved = {"state": widget.get_state()}
            assert live_widgets.widget_class(saved) in type(widget).__mro__

    def test_modules_come_after_what_they_import(self):
        order = live_widgets.needed("mask_explorer/mask_explorer")
        assert order[-1] == "mask_explorer/mask_explorer"
        assert len(order) == len(set(order))
        for name in order:
            text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
            for other in imports(text, name):
                assert order.index(other) < order.index(name)

    @pytest.mark.parametrize("text", ["</script>", "</SCRIPT >", "<!--", "\u2028", "–×", '"\\'])
    def test_json_cannot_end_its_script(self, text):
        html = f'<script type="application/json">{live_widgets.safe_json({"a": text})}</script>'
        (script,) = BeautifulSoup(html, "html.parser").select("script")
        assert "</" not in script.string
        assert json.loads(script.string) == {"a": text}

    def test_a_live_place_carries_the_state_once(self):
        model = {"state": {"T": 4, "_esm": "x" * 999, "_view": 1, "layout": "IPY_MODEL_1"}}
        first = BeautifulSoup(
            live_widgets.live_place("m", model, MaskExplorer, True), "html.parser"
        )
        data = json.loads(first.script.string)
        assert data == {"state": {"T": 4}, "buffers": []}
        again = BeautifulSoup(
            live_widgets.live_place("m", model, MaskExplorer, False), "html.parser"
        )
        assert again.script is None
        assert again.div["data-model"] == first.div["data-model"] == "m"
        assert "needs JavaScript" in again.text

    def test_what_is_long_in_a_state_is_a_file_that_pages_share(self, tmp_path):
        runs = {"loss": [0.125] * bulk_weights.LONG}
        model = {"state": {"T": 4, "measured": runs, "text": "x" * 2 * bulk_weights.LONG}}
        places = [
            BeautifulSoup(
                live_widgets.live_place(name, model, MaskExplorer, True, outdir=tmp_path),
                "html.parser",
            )
            for name in "ab"
        ]
        (file,) = (tmp_path / "_static" / "pieces" / "records").iterdir()
        for place in places:
            kept = json.loads(place.script.string)["state"]
            assert kept == {"T": 4, "text": model["state"]["text"]}
            assert place.div["data-record"] == file.stem
        script = file.read_text(encoding="utf-8")
        begin = f'(self.piecesRecords ??= {{}})["{file.stem}"] = '
        assert script.startswith(begin)
        assert json.loads(script.removeprefix(begin).rstrip(";\n")) == {"measured": runs}

    def test_a_short_state_stays_in_its_page(self, tmp_path):
        model = {"state": {"T": 4, "measured": {"loss": [0.125]}}}
        place = live_widgets.live_place("m", model, MaskExplorer, True, outdir=tmp_path)
        assert "data-record" not in place
        assert not list(tmp_path.iterdir())

    def test_a_still_place_shows_the_last_figure(self):
        models = state(
            box={"children": ["IPY_MODEL_slider", "IPY_MODEL_out"]},
            slider={"value": 3},
            out={
                "outputs": [
                    {"output_type": "display_data", "data": {"text/html": "<svg>figure</svg>"}},
                    {"output_type": "stream", "text": "<b>printed</b>"},
                    {"output_type": "display_data", "data": {"text/plain": ["a", "b"]}},
                ]
            },
        )
        html = live_widgets.still_place("box", models)
        assert "<svg>figure</svg>" in html
        assert "<pre>&lt;b&gt;printed&lt;/b&gt;</pre>" in html
        assert "<pre>ab</pre>" in html
        assert html.count("These controls talk to Python") == 1

    def test_an_unknown_widget_is_still_a_sentence(self):
        assert "These controls talk to Python" in live_widgets.still_place("gone", {})

    def test_a_circle_of_children_ends(self):
        models = state(a={"children": ["IPY_MODEL_b"]}, b={"children": ["IPY_MODEL_a"]})
        assert "These controls" in live_widgets.still_place("a", models)

    def test_a_page_loads_what_it_needs_and_nothing_else(self):
        explorer = MaskExplorer(T=4)
        models = {explorer.model_id: {"state": explorer.get_state()}}
        view = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "%s"}</script>'
        body = json.dumps({"state": models})
        script = SimpleNamespace(attributes={"type": live_widgets.STATE_MIME, "body": body})
        other = SimpleNamespace(attributes={})
        context = {"body": f"<p>{view % explorer.model_id}</p>", "script_files": [script, other]}
        files = []
        app = SimpleNamespace(add_js_file=lambda name, **how: files.append((name, how)))
        live_widgets.enliven_page(app, "page", "", context, None)
        names = [name for name, _ in files]
        assert names[:2] == ["pieces/host.js", "pieces/links.js"]
        assert "pieces/mask_explorer/mask_explorer.js" in names
        assert "pieces/fill_mask/fill_mask.js" not in names
        assert all(how["loading_method"] == "async" for _, how in files)
        assert context["script_files"] == [other]
        assert "_esm" not in context["body"]
        plain = {"body": "<p>text</p>", "script_files": []}
        files.clear()
        live_widgets.enliven_page(app, "page", "", plain, None)
        assert files == []

    def test_modules_are_classic_scripts(self, tmp_path):
        app = SimpleNamespace(
            builder=SimpleNamespace(format="html"),
            outdir=str(tmp_path),
            add_css_file=lambda *a, **k: 0,
        )
        live_widgets.write_modules(app)
        folder = tmp_path / "_static" / "pieces"
        written, own = (
            {p.relative_to(root) for p in root.rglob("*.js")} for root in (folder, STATIC)
        )
        assert written == own
        text = (folder / "twin" / "twin.js").read_text(encoding="utf-8")
        assert text == classic_modules.script("twin/twin")
        style = (folder / "pieces.css").read_text(encoding="utf-8")
        for sheet in STATIC.rglob("*.css"):
            assert sheet.read_text(encoding="utf-8").strip() in style


class TestLeanPages:
    def test_thebe_goes_and_the_rest_stays(self):
        thebe = SimpleNamespace(filename="_static/sphinx-thebe.js", attributes={})
        inline = SimpleNamespace(filename=None, attributes={"body": "const THEBE_JS_URL = 1"})
        kept = SimpleNamespace(filename="_static/doctools.js", attributes={})
        context = {"script_files": [thebe, kept, inline]}
        lean_pages.drop_thebe(None, "p", "t", context, None)
        assert context["script_files"] == [kept]

    def test_pages_lose_what_is_unwanted_and_are_repaired(self, tmp_path):
        page = tmp_path / "chapters" / "one.html"
        page.parent.mkdir()
        page.write_text(
            '<link rel="preload" as="font" href="fontawesome.woff2">\n'
            '<script src="fontawesome.js?digest=1"></script><script src="kept.js"></script>'
            "<script>kernelName = 'python3'</script>"
            '<div class="bd-sidebar-primary bd-sidebar"></div>'
            '<div class="citation" role="doc-biblioentry"></div>'
        )
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
        lean_pages.drop_unwanted(app, None)
        once = page.read_text()
        assert "fontawesome" not in once
        assert "kernelName" not in once
        assert "kept.js" in once
        assert 'role="complementary"' in once
        assert "doc-biblioentry" not in once
        lean_pages.drop_unwanted(app, None)
        assert page.read_text() == once

    @pytest.mark.parametrize(("body", "kept"), [('<p class="sd-x">', True), ("<p>", False)])
    def test_tabs_and_cards_load_only_where_they_are(self, tmp_path, body, kept):
        page = tmp_path / "one.html"
        page.write_text(
            '<link rel="stylesheet" href="_static/sphinx-design.min.css?v=1" />'
            f'<script defer src="_static/design-tabs.js?v=1"></script>{body}'
        )
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
        lean_pages.drop_unwanted(app, None)
        assert ("sphinx-design" in page.read_text()) == kept
        assert ("design-tabs" in page.read_text()) == kept

    def test_a_failed_build_is_left_alone(self, tmp_path):
        page = tmp_path / "one.html"
        page.write_text("<script>kernelName = 'x'</script>")
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
        lean_pages.drop_unwanted(app, ValueError("broken"))
        assert "kernelName" in page.read_text()


class TestLeanIcons:
    STYLE = (
        '.fa-bars:before{content:"\\f0c9"}.fa-a:before,.fa-old:before{content:"\\41"}'
        '.fa-copy:before{content:"\\f0c5"}.fa-lg{font-size:1.25em}'
        'src:url(../webfonts/x.woff2) format("woff2"),url(../webfonts/x.ttf) format("truetype")'
    )

    def test_what_is_shown_stays(self):
        codes = {"f0c5"}  # a style sheet of the theme names it by its code
        lean = lean_icons.lean_style(self.STYLE, {"fa-bars", "fa-lg"}, codes)
        assert ".fa-bars:before" in lean
        assert ".fa-copy:before" in lean
        assert ".fa-lg{" in lean
        assert "fa-old" not in lean
        assert codes == {"f0c5", "f0c9"}
        assert 'src:url(../webfonts/x.woff) format("woff")' in lean

    def test_pages_scripts_and_styles_say_what_is_shown(self, tmp_path):
        (tmp_path / "_static" / "vendor").mkdir(parents=True)
        (tmp_path / "index.html").write_text('<i class="fa-solid fa-bars"></i>')
        (tmp_path / "_static" / "theme.js").write_text('icon("fa-sun")')
        (tmp_path / "_static" / "theme.css").write_text(
            'a::before { content: "\\f0c5"; --x: "\uf010" }'
        )
        (tmp_path / "_static" / "vendor" / "all.css").write_text(".fa-never:before{}")
        names, codes = lean_icons.shown(tmp_path)
        assert names == {"fa-solid", "fa-bars", "fa-sun"}
        assert codes == {"f0c5", "f010"}

    def test_a_lean_font_holds_its_icons_alone(self):
        font = next(lean_icons.THEME.glob("vendor/fontawesome/*/webfonts/fa-solid-900.ttf"))
        data = lean_icons.lean_font(font, {"f0c9", "f0c5"})
        assert data[:4] == b"wOFF"
        assert set(TTFont(io.BytesIO(data)).getBestCmap()) == {0xF0C9, 0xF0C5}


CHAPTERS = sorted((notebook_form.ROOT / "chapters").glob("*.ipynb"))


def reached(code):
    """Return the libraries that some code may import, by way of the package's own modules."""
    found, waiting = set(), list(imported_by(re.sub(r"^( *)%.*$", r"\1pass", code, flags=re.M)))
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name.startswith("pieces."):
            place = notebook_form.ROOT / "src" / Path(*name.split("."))
            for file in filter(Path.exists, (place.with_suffix(".py"), place / "__init__.py")):
                waiting += imported_by(file.read_text(encoding="utf-8"))
            waiting.append(name.rpartition(".")[0])
    return {name.partition(".")[0] for name in found}


def imported_by(code):
    """Yield each name that some code imports, and what it takes from it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


class TestNotebookForm:
    @pytest.fixture
    def messy(self):
        book = nbformat.v4.new_notebook(metadata={"widgets": {"state": 1}, "colab": {}})
        code = nbformat.v4.new_code_cell("print(1)   \n\n", execution_count=7)
        code.metadata = nbformat.from_dict({"tags": ["hide-input"], "collapsed": True})
        code.outputs = [
            nbformat.v4.new_output("stream", name="stdout", text="1\n"),
            nbformat.v4.new_output("stream", name="stderr", text="warning\n"),
            nbformat.v4.new_output(
                "execute_result",
                {"text/plain": "x", "image/png": "AAAA", "text/html": "<b>"},
                execution_count=7,
                metadata={"volatile": 1},
            ),
            nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"}),
        ]
        setup = nbformat.v4.new_code_cell("import importlib.util\nimportlib.util.find_spec")
        setup.metadata = nbformat.from_dict({"tags": ["remove-cell"]})
        book.cells = [setup, nbformat.v4.new_markdown_cell("text  \n"), code]
        return book

    def test_keeps_texts_and_nothing_else(self, messy):
        form = notebook_form.committed_form(messy)
        code = form.cells[2]
        assert code.source == "print(1)"
        assert code.execution_count is None
        assert dict(code.metadata) == {"tags": ["hide-input"]}
        assert [o.output_type for o in code.outputs] == ["stream", "execute_result"]
        assert dict(code.outputs[1].data) == {"text/plain": "x"}
        assert code.outputs[1].metadata == {}
        assert set(form.metadata) == {"kernelspec", "language_info"}
        assert form.cells[1].source == "text"

    def test_puts_the_set_up_cell_in(self, messy):
        form = notebook_form.committed_form(messy)
        assert form.cells[0].source == notebook_form.setup_cell()
        assert notebook_form.repository() in form.cells[0].source

    def test_the_set_up_cell_brings_what_the_chapter_imports_in_its_version(self):
        project = notebook_form.package()
        assert set(notebook_form.EXTRAS) == set(project["optional-dependencies"])
        source = f"git+{notebook_form.repository()}@v{project['version']}"
        for code, wanted in (
            ("import torch\nx = 'import bertviz'", "pieces"),
            ("from pieces.bertviz import head_view", "pieces[bertviz]"),
            ("if True:\n    from transformers.models import t5", "pieces[checkpoints]"),
            ("import bertviz\nimport transformers", "pieces[checkpoints,bertviz]"),
            ("from pieces.checkpoints import from_folder", "pieces[checkpoints]"),
        ):
            assert f'"{wanted} @ {source}"' in notebook_form.setup_cell(code)

    @pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
    def test_it_brings_the_libraries_that_the_package_reaches_for_from_there(self, path):
        """Each import of the package is followed, those within a function too."""
        notebook = nbformat.read(path, as_version=4)
        codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        extras = notebook_form.package()["optional-dependencies"]
        brought = {re.match(r"[\w-]+", line)[0]: name for name, (line,) in extras.items()}
        wanted = {brought[name] for name in reached("\n".join(codes)) if name in brought}
        named = re.search(r'"pieces(?:\[([\w,]+)\])? @ ', "\n".join(codes))[1]
        assert set((named or "").split(",")) - {""} == wanted

    def test_is_its_own_form(self, messy):
        once = notebook_form.text_of(notebook_form.committed_form(messy))
        again = nbformat.reads(once, as_version=4)
        assert notebook_form.text_of(notebook_form.committed_form(again)) == once
        nbformat.validate(again)

    def test_an_error_is_not_hidden(self, messy):
        error = nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[])
        messy.cells[2].outputs = [error]
        assert notebook_form.committed_form(messy).cells[2].outputs == [error]
