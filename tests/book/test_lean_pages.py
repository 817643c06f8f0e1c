"""A page asks for no more than it uses."""

from types import SimpleNamespace

import pytest

import lean_pages


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
