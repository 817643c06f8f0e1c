"""The icons of the site and no others."""

import io

from fontTools.ttLib import TTFont

import lean_icons


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
