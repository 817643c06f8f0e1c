"""BertViz's libraries are a file beside the pages, for those that show its views."""

from types import SimpleNamespace

import bertviz_libraries


def test_bertviz_s_libraries_are_a_file_that_a_page_names(tmp_path):
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
