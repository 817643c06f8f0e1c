"""Mathematics is rendered when the book is built, and not again in the page."""

import re
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

import katex_math


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

    @pytest.mark.parametrize(
        ("latex", "short"),
        [("j \\le i", True), (r"\Delta_t \to \infty", True), ("x = a + b + c + d", False),
         (r"\mathrm{softmax}(x_1, x_2, x_3)", False)],
    )  # fmt: skip
    def test_a_short_one_is_not_torn(self, latex, short):
        page = SimpleNamespace(body=[], encode=str)
        with pytest.raises(nodes.SkipNode):
            katex_math.visit_inline(page, nodes.math(latex, latex))
        assert BeautifulSoup("".join(page.body), "html.parser").span["class"] == (
            ["math", "short"] if short else ["math"]
        )

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
