"""Widgets of a page without a kernel: which ones, in what order, and what they need."""

import json
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

import bulk_weights
import classic_modules
import live_widgets
from pieces import masks
from pieces.widgets import FillMask, MaskExplorer
from pieces.widgets.base import STATIC, imports


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
