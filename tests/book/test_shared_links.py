"""What a link to a page shows elsewhere, the sitemap, the page for a wrong address, and search."""

import re
import struct
from urllib.parse import quote, urljoin

import pytest
import yaml
from bs4 import BeautifulSoup

from browser import ROOT, book_pages, opened

PAGES = book_pages()[:-2]  # without the index and the search, which nobody links
BASE = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["baseurl"]


def head(site, page):
    return BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser").head


def told(site, page):
    """The properties of a page's link, each once."""
    tags = head(site, page).find_all("meta", property=re.compile("^og:"))
    found = {tag["property"]: tag["content"] for tag in tags}
    assert len(found) == len(tags)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_its_link_shows(site, page):
    shown, own = told(site, page), head(site, page)
    assert shown["og:title"] == own.title.text.split(" — ")[0]
    assert shown["og:url"] == urljoin(BASE, f"{page}.html")
    assert [tag["href"] for tag in own.find_all("link", rel="canonical")] == [shown["og:url"]]
    described = own.find_all("meta", attrs={"name": "description"})
    if "/appendix/" not in page or described:
        assert [tag["content"] for tag in described] == [shown["og:description"]]
        assert 40 < len(shown["og:description"]) <= 200


def test_descriptions_differ(site):
    all_told = [told(site, page).get("og:description") for page in PAGES]
    said = [one for one in all_told if one]
    assert len(said) == len(set(said)) > 16


def test_the_picture_has_the_size_that_is_said(site):
    shown = told(site, "index")
    picture = (site / shown["og:image"].removeprefix(BASE)).read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert (str(width), str(height)) == (shown["og:image:width"], shown["og:image:height"])
    assert len(picture) < 100_000


def test_the_sitemap_lists_the_pages(site):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(urljoin(BASE, f"{page}.html") for page in PAGES)


def test_a_wrong_address_leads_back(site):
    lost = (site / "404.html").read_text(encoding="utf-8")
    addresses = re.findall('href="([^"]*)"', lost)
    folder = re.sub("^https?://[^/]*", "", BASE)
    for address in addresses:  # whatever the wrong address was, a relative one would be wrong too
        assert address.startswith(folder)
        assert (site / (address.removeprefix(folder) or "index.html")).exists()


@pytest.mark.parametrize("address", ["http", "disk"], indirect=True)
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("残差", "glossary"),
        ("因果", "glossary"),
        ("残差连接", "glossary"),
        ("softmax", "attention"),
    ],
)
def test_search_finds_chinese_and_english(chromium, address, query, page):
    with opened(chromium, f"{address}/search.html?q={quote(query)}") as opened_page:
        results = opened_page.locator("#search-results li a")
        results.first.wait_for()
        assert any(page in one.get_attribute("href") for one in results.all())
