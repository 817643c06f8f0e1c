"""The thread: each chapter shows its part of the whole model, links set pictures, text and picture
stay together."""

import gzip
import re
from urllib.parse import parse_qs, unquote

import pytest
import torch
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

import chapter_text as words
import you_are_here
from browser import PAINTED, PICTURE, book_pages, opened
from chapter_page import DESK, PHONE
from pieces.book import small_model
from pieces.book.thread import chapter_places, links, place_of
from pieces.inside import inside
from pieces.switches import parts
from pieces.trained import load
from pieces.widgets.whole_still import MOST

CHAPTERS = [page for page in book_pages() if re.search(r"/\d\d_", page)]
BOTH = pytest.mark.parametrize("address", ["http", "disk"], indirect=True)
LINE = ".pieces-bar"
DIALOG = "dialog.here-dialog"
ALIVE = f"document.querySelector('{DIALOG} .pieces-live')?.dataset.state === 'live'"
HERE = "window.pieces.model(document.querySelector('dialog .pieces-live').dataset.model)"
OF_HERE = f"(name) => {HERE}.get(name)"
WRITTEN = {"attention", "feed_forward", "norm", "path", "positions", "next word"}
SIGHTS = pytest.mark.parametrize(
    "sight",
    [(name, size) for name in CHAPTERS for size in (DESK, (1920, 1080), PHONE)],
    indirect=True,
    ids=lambda one: f"{one[0]}-{one[1][0]}",
)
BESIDE = [name for name in CHAPTERS if re.search(r"/(08|11)_", name)]


@pytest.fixture(scope="module")
def sight(request, tabs, home):
    """A chapter in a window of some size, and that size."""
    name, (width, height) = request.param
    with tabs.opened(f"{home}/{name}.html", width=width, height=height) as page:
        yield page, (width, height)


@pytest.fixture(scope="module")
def pages(site):
    """The chapters as trees."""
    return {
        name: BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for name in CHAPTERS
    }


def place(name):
    """Return the place of a page."""
    return place_of(name.rpartition("/")[2])


class TestTable:
    def test_each_chapter_of_the_map_has_its_line(self):
        known = list(range(1, len(CHAPTERS) + 1))
        assert sorted(chapter_places()) == known, "src/pieces/book/thread.toml: a line a chapter"
        assert all(place(name) for name in CHAPTERS)

    @pytest.mark.parametrize("number", chapter_places())
    def test_a_line_says_what_there_is(self, number):
        line = chapter_places()[number]
        trained = load(line.model)
        assert line.part in ("", "next word", "embedding", *parts(trained.model))
        words = trained.task.cut(line.text)
        assert 5 < len(words) <= MOST
        assert [word for word in words if word not in trained.task.ids] == []
        kinds = re.findall(r'"here-([\w-]+)"', you_are_here.picture(line.model, line.text)[0])
        assert line.lit
        assert {kind.replace(" ", "-") for kind in line.lit} <= set(kinds)

    def test_a_draft_without_a_line_stands_on_the_front_page_as_it_is(self):
        """So the site builds, as CONTRIBUTING says; the first test here asks for the line."""
        draft = (
            '<dt>99 · <a href="chapters/99_draft.html">A draft</a></dt> <dd><p>Begins.</p> </dd>'
        )
        assert you_are_here.ENTRY.search(draft)
        assert you_are_here.keyed(None, draft) == draft

    def test_the_numbers_of_the_front_page_lead_to_what_is_written(self, site):
        assert set(links()) >= {
            "attention",
            "feed_forward",
            "norm",
            "path",
            "positions",
            "next word",
        }
        for address in links("chapters/").values():
            assert (site / address).exists()


class TestPicture:
    """What the small picture shows is what torch computes."""

    TEXT = chapter_places()[15].text

    def drawn(self, name="stories_llama"):
        trained = load(name)
        ids = torch.tensor([trained.task.ids[word] for word in trained.task.cut(self.TEXT)])
        values = inside(trained.model, ids)
        groups = small_model.small_model(trained.model, trained.task, self.TEXT)
        found = dict(re.findall(r'<path class="here-([\w-]+)" d="([^"]*)"/>', groups))
        return found, values, len(ids) - small_model.WORDS

    def check(self):
        found, values, first = self.drawn()
        high = [float(v) for v in re.findall(r"v([\d.e-]+)", found["next-word"])]
        likely = values["logits"][first:].softmax(-1).amax(-1)
        assert high == pytest.approx((20 * likely).tolist(), rel=0.06, abs=0.01)
        wires = [values[f"layer.{n}.weights"][:, first:, first:].amax(0) for n in (1, 2, 3)]
        wanted = sum(int((w.tril(-1) > small_model.WIRE).sum()) for w in wires)
        assert found["attention"].count("L") == wanted
        for x, back in re.findall(r"M(\d+) \d+L(\d+)", found["attention"]):
            assert int(x) < int(back), "no word looks ahead"
        assert found["feed_forward"].count("z") == 3 * small_model.WORDS * small_model.LIGHTS

    def test_bars_wires_and_lights(self):
        self.check()

    def test_experts_are_those_that_are_visited(self):
        found, values, first = self.drawn("stories_moe")
        xs = [float(x) for x in re.findall(r"M([\d.]+) ", found["feed_forward"])]
        visited = [values[f"layer.{n}.experts"][first:] for n in (1, 2, 3)]
        assert [round((x - 5) % 24 / 5) for x in xs] == torch.stack(visited).flatten().tolist()

    def test_a_model_of_attention_alone_has_no_lights_and_each_word_its_place_once(self):
        found, values, _ = self.drawn("stories_attention")
        assert "layer.1.units" not in values
        assert "feed_forward" not in found
        assert found["positions"].count("M") == small_model.WORDS
        assert found["norm"].count("z") == 3 * small_model.WORDS  # two layers, and the last

    @pytest.mark.parametrize("fault", ["bars of another word", "wires ahead", "other bars"])
    def test_a_fault_is_seen(self, fault, monkeypatch):
        bars, wires = small_model._bars, small_model._wires
        if fault.startswith("bars"):
            monkeypatch.setattr(small_model, "_bars", lambda logits: bars(logits.roll(1, 0)))
        elif fault.startswith("wires"):
            monkeypatch.setattr(small_model, "_wires", lambda w, y: wires(w.mT, y))
        else:
            monkeypatch.setattr(small_model, "_bars", lambda logits: bars(logits / 2))
        with pytest.raises(AssertionError):
            self.check()


class TestHere:
    @pytest.mark.parametrize("name", CHAPTERS)
    def test_it_names_the_part_and_is_light(self, pages, name):
        line = place(name)
        marks = pages[name].select("a.here")
        assert len(marks) == 2
        for mark in marks:
            words = mark.select_one(".here-words").get_text()
            assert words == f"You are here: {line.name}"
            assert line.name in mark.svg["aria-label"]
        lit = {kind.replace(" ", "-") for kind in line.lit}
        group = pages[name].select_one("#here")
        assert {c.removeprefix("lit-") for c in group["class"] if c.startswith("lit-")} == lit
        assert len(gzip.compress("".join(map(str, marks)).encode())) < 6000

    @SIGHTS
    def test_the_first_widget_stays_where_it_is(self, sight):
        page, (width, height) = sight
        top = page.locator("article .pieces-live").first.evaluate(
            "(e) => e.getBoundingClientRect().top + scrollY"
        )
        assert top <= (480 if (width, height) == PHONE else 330)
        seen = [mark for mark in page.locator("a.here").all() if mark.is_visible()]
        assert len(seen) == 1
        box = seen[0].bounding_box()
        assert box["y"] + box["height"] <= height
        assert box["height"] < (240 if width > 1200 else 70)

    @BOTH
    @pytest.mark.parametrize("name", CHAPTERS[::3])
    def test_a_press_opens_it_alive_and_escape_leads_back(self, chromium, address, name):
        line = place(name)
        with opened(chromium, f"{address}/{name}.html", width=1366) as page:
            page.wait_for_load_state("networkidle")
            asked = [url for url in page.record.requests if "/here/" in url or "whole_model" in url]
            assert asked == [], "nothing is asked for before"
            if address.startswith("file"):
                page.context.set_offline(True)
            mark = page.locator("a.here-side")
            mark.click()
            page.wait_for_function(ALIVE)
            assert page.evaluate(OF_HERE, "part") == line.part
            assert page.evaluate(OF_HERE, "text") == line.text
            assert page.evaluate(OF_HERE, "next_words")[0][1] > 0
            assert line.name in page.locator(f"{DIALOG} h2").inner_text()
            assert page.evaluate(
                f"document.querySelector('{DIALOG}').contains(document.activeElement)"
            )
            page.keyboard.press("Escape")
            page.locator(DIALOG).wait_for(state="detached")
            assert mark.evaluate("(e) => e === document.activeElement")
            mark.click()
            page.wait_for_function(ALIVE)
            page.locator(f"{DIALOG} .here-close").click()
            page.locator(DIALOG).wait_for(state="detached")
            assert page.record.errors == []
            assert page.record.foreign(address) == []

    def test_on_a_phone_it_fills_the_window_and_fits(self, chromium, home):
        width, height = PHONE
        url = f"{home}/{CHAPTERS[0]}.html"
        with opened(chromium, url, width=width, height=height, dark=True) as page:
            page.locator("a.here-strip").click()
            page.wait_for_function(ALIVE)
            page.evaluate(PAINTED)
            wide = page.locator(DIALOG).evaluate("(e) => e.scrollWidth - e.clientWidth")
            assert wide <= 0
            assert page.record.errors == []

    def test_where_its_scripts_do_not_come_it_says_so(self, chromium, home):
        with opened(chromium, f"{home}/{CHAPTERS[0]}.html", width=1366) as page:
            page.route("**/here/*.js", lambda route: route.abort())
            page.locator("a.here-side").click()
            page.get_by_text("could not be brought to life").wait_for()
            assert "index.html#see-whole-model" in page.locator(f"{DIALOG} a").get_attribute("href")

    @pytest.mark.parametrize("name", CHAPTERS)
    def test_without_javascript_it_is_a_link_to_the_front_page(self, chromium, home, pages, name):
        hrefs = {mark["href"] for mark in pages[name].select("a.here")}
        (href,) = hrefs
        where, _, state = href.partition("#see-whole-model")
        assert where == "../index.html"
        asked = parse_qs(state.removeprefix("?"))
        assert asked["text"] == [place(name).text]
        assert asked.get("part", [""]) == [place(name).part]

    def test_and_there_it_opens_in_that_state(self, chromium, home, pages):
        name = CHAPTERS[3]
        href = pages[name].select_one("a.here")["href"].removeprefix("../")
        with opened(chromium, f"{home}/{href}") as page:
            page.wait_for_function("document.querySelector('.w-opened')")
            shown = page.evaluate("window.pieces.model(document.querySelector('.pieces-live')"
                                  ".dataset.model).get('part')")  # fmt: skip
            assert shown == place(name).part
            assert page.locator(LINE).count() == 0

    def test_another_page_has_none(self, site):
        text = (site / "chapters" / "appendix" / "glossary.html").read_text(encoding="utf-8")
        assert 'class="here ' not in text

    def test_on_paper_it_is_a_strip(self, chromium, home):
        with opened(chromium, f"{home}/{CHAPTERS[0]}.html", width=1366) as page:
            page.emulate_media(media="print")
            assert page.locator("a.here-strip").is_visible()
            assert not page.locator("a.here-side").is_visible()


class TestLinksInTheText:
    @pytest.mark.parametrize("name", CHAPTERS)
    def test_each_sets_its_picture(self, chromium, home, name):
        """Its state is a valid one, and the picture is another one than the page's own."""
        with opened(chromium, f"{home}/{name}.html", width=1366) as page:
            page.wait_for_load_state("networkidle")
            for link in page.locator("article a.sets").all():
                id, _, state = link.get_attribute("href").removeprefix("#").partition("?")
                place = page.locator(f"id={id}")
                assert place.count() == 1, f"{id} is not on this page"
                page.evaluate("(id) => { location.hash = ''; location.hash = id; }", id)
                page.wait_for_timeout(150)
                stage = place.locator(".pieces-stage")
                before = picture_of(page, stage)
                link.evaluate("(e) => e.click()")
                page.wait_for_timeout(300)
                told = page.locator(f"{LINE} p").all_inner_texts()
                assert "".join(told) == "", f"{link.inner_text()}: {told}"
                if state:
                    assert picture_of(page, stage) != before, f"{link.inner_text()} changes nothing"
            assert page.record.errors == []

    @pytest.mark.parametrize("name", CHAPTERS)
    def test_in_a_notebook_it_is_a_plain_link_into_the_page(self, pages, name):
        source = words.markdown(words.notebook(name))
        plain = BeautifulSoup(MarkdownIt("commonmark").render(source), "html.parser")
        asked = [unquote(a["href"]) for a in plain.select('a[href^="#see-"]')]
        assert len(asked) == source.count("](#see-")
        assert [unquote(a["href"]) for a in pages[name].select("article a.sets")] == asked

    def test_most_chapters_have_some(self, pages):
        assert sum(bool(page.select("a.sets")) for page in pages.values()) >= 9


def picture_of(page, stage):
    """Return what a reader sees of a widget."""
    page.evaluate(PAINTED)
    return stage.evaluate(PICTURE)


class TestBeside:
    """Text and picture stay in sight together where the window has the room."""

    @pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
    @pytest.mark.parametrize("name", BESIDE)
    def test_they_stay_in_sight_together(self, chromium, home, name, size):
        width, height = size
        with opened(chromium, f"{home}/{name}.html", width=width, height=height) as page:
            page.wait_for_load_state("networkidle")
            for box in page.locator(".beside").all():
                text, widget = box.locator(".beside-text"), box.locator(".pieces").first
                top = text.evaluate("(e) => e.getBoundingClientRect().top + scrollY")
                long = text.evaluate("(e) => e.offsetHeight")
                for share in (0.1, 0.5, 0.7):
                    at = top + share * long - height / 2
                    page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", at)
                    one, two = text.bounding_box(), widget.bounding_box()
                    assert one["x"] + one["width"] < two["x"]
                    assert two["x"] + two["width"] <= width
                    seen = min(two["y"] + two["height"], height) - max(two["y"], 0)
                    assert seen > 0.6 * min(two["height"], height), share
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width

    @pytest.mark.parametrize("name", BESIDE)
    def test_elsewhere_and_on_paper_it_stands_as_written(self, chromium, home, name):
        with opened(chromium, f"{home}/{name}.html", width=1280) as page:
            assert page.locator(".beside").count() > 0
            for media in ("screen", "print"):
                page.emulate_media(media=media)
                for box in page.locator(".beside").all():
                    assert box.evaluate("(e) => getComputedStyle(e).display") == "block"


NEAREST = """() => {
  const box = (e) => e.getBoundingClientRect();
  const asks = ["predict_number", "fill_mask"];
  const widgets = [...document.querySelectorAll("article .pieces-live")]
    .filter((e) => !asks.includes(e.dataset.widget));
  const gap = (a, b) => Math.max(0, box(a).top - box(b).bottom, box(b).top - box(a).bottom);
  return [...document.querySelectorAll(".admonition.exercise")].filter((e) =>
    /play/i.test(e.querySelector(".admonition-title").textContent)).map((e) =>
    [e.querySelector(".admonition-title").textContent, Math.min(...widgets.map((w) => gap(e, w)))]);
}"""


@SIGHTS
def test_what_an_exercise_plays_with_is_within_a_screen(sight):
    page, (_, height) = sight
    assert [[title, px] for title, px in page.evaluate(NEAREST) if px > height] == []


class TestKey:
    def test_a_chapter_lights_its_part_and_a_part_its_chapters(self, chromium, home):
        with opened(chromium, f"{home}/index.html", width=1366) as page:
            model = page.locator(".front-key #here")
            assert page.locator(".front-map dt[data-lit]").count() == len(CHAPTERS)
            for number, line in chapter_places().items():
                entry = page.locator(".front-map dt").nth(number - 1)
                assert line.name in entry.inner_text()
            page.locator(".front-map dt").nth(9).hover()
            assert model.get_attribute("class") == "here-model lit-norm"
            page.locator(".front-map dt").nth(7).locator("a").focus()
            assert "lit-feed_forward" in model.get_attribute("class")
            page.locator(".front-key .here-norm").dispatch_event("pointerenter")
            marked = page.locator(".front-map dt.front-lit").all_inner_texts()
            wanted = [n for n, line in chapter_places().items() if "norm" in line.lit]
            assert [int(text.split()[0]) for text in marked] == wanted

    def test_picture_text_and_sentence_end_on_the_first_screen(self, chromium, home):
        width, height = DESK
        with opened(chromium, f"{home}/index.html", width=width, height=height) as page:
            end = page.locator(".pieces-live .p-say").first.bounding_box()
            assert end["y"] + end["height"] <= height


def test_what_is_written_about_a_picture_is_in_the_picture(monkeypatch):
    """A line with a part that no model has is refused by the test of the table."""
    line = chapter_places()[8]
    wrong = type(line)(line.name, line.lit, "layer.9.feed_forward", line.text)
    monkeypatch.setitem(chapter_places(), 8, wrong)
    with pytest.raises(AssertionError):
        TestTable().test_a_line_says_what_there_is(8)
