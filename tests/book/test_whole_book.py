"""The book in one file: a PDF whose numbers and links are right, and a zip that opens by itself."""

import io
import re
import zipfile

import pytest
from pypdf import PdfReader

import whole_book
from browser import opened

PAGES = [("chapters/01_big_picture", "The idea"), ("chapters/appendix/shapes", "Appendix")]


@pytest.fixture(scope="module")
def paper(chromium, site):
    """A book of two pages, read back."""
    file = io.BytesIO()
    whole_book.bound(chromium, PAGES).write(file)
    return PdfReader(file)


def test_the_contents_name_the_sheets_on_which_pages_begin(paper):
    contents = " ".join(paper.pages[1].extract_text().split())
    for title in ("The big picture: how one word reaches another", "Shapes"):
        number = int(re.search(re.escape(title) + r"\s*(\d+)", contents)[1])
        assert title in " ".join(paper.pages[number - 1].extract_text().split())


def test_the_contents_of_the_whole_book_stand_on_one_sheet(chromium, site):
    page = chromium.new_page()
    titles = [
        (name, re.search(r"<title>(.*?) &#8212; ", (site / f"{name}.html").read_text())[1], part)
        for name, part in whole_book.listed()
    ]
    leaves = [whole_book.Leaf(name, f"00 · {title}", part, None) for name, title, part in titles]
    body = whole_book.contents(leaves, {name: 333 for name, *_ in titles})
    (sheet,) = whole_book.printed(page, body).pages
    assert sheet.extract_text().count("334") == len(titles) > 25
    page.close()


def test_each_sheet_after_the_cover_has_its_number(paper):
    for n, sheet in enumerate(paper.pages):
        assert (sheet.extract_text().split()[-1] == str(n + 1)) == (n > 0)


def test_the_outline_is_the_table_of_contents(paper):
    parts = [one for one in paper.outline if not isinstance(one, list)]
    titles = [one.title for inside in paper.outline if isinstance(inside, list) for one in inside]
    assert [one.title for one in parts] == ["The idea", "Appendix"]
    assert titles == ["1 · The big picture: how one word reaches another", "Shapes"]


def test_links_lead_within_the_book_or_to_its_website(paper):
    inside, outside = 0, []
    for sheet in paper.pages:
        for reference in sheet.get("/Annots", ()):
            link = reference.get_object()
            if "/Dest" in link:
                assert link["/Dest"][0].get_object()["/Type"] == "/Page"
                inside += 1
            elif "/A" in link:
                outside.append(str(link["/A"]["/URI"]))
    assert inside
    assert outside
    assert all(one.startswith("https://") for one in outside), outside
    assert any(one.startswith(whole_book.BASE) for one in outside)


def test_widgets_and_formulas_are_on_paper(paper):
    text = " ".join(sheet.extract_text() for sheet in paper.pages)
    assert "From one word to another" in text  # the title of a widget
    assert "tanh" in text
    assert "Press another word" in text


def test_the_zip_is_the_site_and_lives_from_a_disk(chromium, site, tmp_path):
    target = tmp_path / "book.zip"
    whole_book.offline(target)
    with zipfile.ZipFile(target) as packed:
        packed.extractall(tmp_path)
    unpacked = tmp_path / whole_book.NAME
    names = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    assert {path.relative_to(site) for path in site.rglob("*.html")} - names == set()
    url = (unpacked / "chapters" / "01_big_picture.html").as_uri()
    with opened(chromium, url) as page:
        assert page.locator(".pieces-live[data-state=live]").count() > 3
        assert page.record.errors == []
