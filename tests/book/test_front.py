"""The front door: a picture that moves until it is touched, and a map of the whole book."""

import re

import pytest
import yaml
from bs4 import BeautifulSoup

from browser import ROOT, SETTLED, until
from pieces.book.thread import chapter_places

TEXT = "() => window.pieces.model(document.querySelector('.pieces-live').dataset.model).get('text')"
BUTTON = ".pieces-live .front-write"
STORY = "This is the story of Lily."


@pytest.fixture(scope="module")
def front(site):
    return BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def start(chromium, home):
    """Opens the front page for somebody who wants motion, or less of it."""
    contexts = []

    def open_page(motion="no-preference", **options):
        contexts.append(chromium.new_context(reduced_motion=motion, **options))
        page = contexts[-1].new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{home}/index.html")
        if options.get("java_script_enabled", True):
            page.evaluate(until(SETTLED))
        return page

    yield open_page
    for context in contexts:
        context.close()


def words(page):
    return page.evaluate(TEXT).split()


def stop_the_clock(page):
    """From here on the page's time passes by ``run_for`` alone: no slow machine adds to it."""
    page.clock.install(time=0)
    page.clock.pause_at(60)


class TestPicture:
    def test_it_writes_the_models_own_words_by_itself(self, start):
        page = start()
        before = words(page)
        page.wait_for_function(f"({TEXT})().split(' ').length >= {len(before) + 2}")
        assert words(page)[: len(before)] == before
        assert words(page)[len(before) :][:2] == ["She", "had"]
        assert page.locator(BUTTON).inner_text() == "Stop writing"
        assert page.locator(".pieces-live .w-wires path").count() > 0
        assert page.errors == []

    def test_there_is_time_to_read(self, start):
        """The opening stands longest; then each word for 3 s, on a clock that is set by hand."""
        page = start()
        page.wait_for_timeout(4000)
        assert page.evaluate(TEXT) == STORY
        stop_the_clock(page)
        for _ in range(2):
            page.locator(BUTTON).click()
        for wait, more in ((400, 0), (200, 1), (2800, 1), (300, 2)):
            page.clock.run_for(wait)
            assert len(words(page)) == len(STORY.split()) + more

    @pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
    def test_its_stop_stands_on_the_first_screen_beside_the_other_controls(self, start, size):
        page = start(viewport={"width": size[0], "height": size[1]})
        stop, say = (page.locator(one).bounding_box() for one in (BUTTON, ".pieces-live .w-one"))
        assert stop["y"] + stop["height"] <= size[1]
        assert stop["y"] == pytest.approx(say["y"], abs=4)
        assert page.locator(".pieces-live .w-picture").bounding_box()["y"] < 0.75 * size[1]

    @pytest.mark.parametrize("touch", ["press", "key", "voice", "button"])
    def test_a_touch_ends_it(self, start, touch):
        page = start()
        before = words(page)
        page.wait_for_function(f"({TEXT})().split(' ').length > {len(before)}")
        if touch == "press":
            page.locator(".pieces-live .p-say").click()
        elif touch == "key":
            page.locator(".pieces-live textarea").focus()
            page.keyboard.press("ArrowLeft")
        elif touch == "voice":  # a click that no pointer made
            page.locator(".pieces-live .p-say").evaluate("(said) => said.click()")
        else:
            page.locator(BUTTON).click()
        left = words(page)
        page.wait_for_timeout(4000)
        assert words(page) == left
        assert page.locator(BUTTON).inner_text() == "Let it write"
        page.locator(BUTTON).click()
        page.wait_for_function(f"({TEXT})().split(' ').length > {len(left)}")

    def test_it_goes_on_behind_a_text_of_the_readers_own(self, start):
        page = start("reduce")
        page.locator(".pieces-live textarea").fill("Tom had a big dog. He")
        page.locator(BUTTON).click()
        page.wait_for_function(f"({TEXT})().split(' ').length > 6")
        assert words(page)[:6] == ["Tom", "had", "a", "big", "dog.", "He"]

    def test_it_is_still_where_less_motion_is_wanted(self, start):
        page = start("reduce")
        before = words(page)
        page.wait_for_timeout(4000)
        assert words(page) == before
        assert page.locator(BUTTON).inner_text() == "Let it write"

    def test_nothing_runs_while_it_is_out_of_sight(self, start):
        page = start(viewport={"width": 390, "height": 500})
        page.evaluate("scrollTo({ top: 4000, behavior: 'instant' })")
        page.wait_for_timeout(500)
        left = words(page)
        page.wait_for_timeout(4000)
        assert words(page) == left
        page.locator(BUTTON).scroll_into_view_if_needed()
        page.wait_for_function(f"({TEXT})().split(' ').length > {len(left)}")

    @pytest.mark.parametrize("width", [1366, 768, 390])
    def test_it_begins_again_and_nothing_below_it_moves(self, start, width):
        """Time runs fast here: a whole round, and the map stays where it is."""
        page = start(viewport={"width": width, "height": 768})
        assert page.evaluate(TEXT) == STORY
        top = "document.querySelector('.front-map').getBoundingClientRect().top + scrollY"
        tops, texts = set(), []
        stop_the_clock(page)
        for _ in range(2):
            page.locator(BUTTON).click()
        for _ in range(20):
            page.clock.run_for(2000)
            tops.add(round(page.evaluate(top)))
            texts.append(page.evaluate(TEXT))
        assert len(tops) == 1
        assert max(map(len, texts)) > len(STORY) + 6
        assert STORY in texts[texts.index(max(texts, key=len)) :]

    def test_what_goes_on_by_itself_is_not_read_aloud(self, start):
        page = start()
        voices = page.locator(".pieces-live [role=status]")
        assert voices.count() > 0
        assert {v.get_attribute("aria-live") for v in voices.all()} == {"off"}
        page.locator(BUTTON).click()
        assert {v.get_attribute("aria-live") for v in voices.all()} == {None}

    def test_the_first_screen_says_what_a_layer_does_and_shows_it_whole(self, start):
        page = start(viewport={"width": 1366, "height": 768})
        told, drawn, typed = (
            page.locator(name).first.bounding_box()
            for name in (".front-what", ".pieces-live .w-picture", ".pieces-live textarea")
        )
        assert told["y"] + told["height"] <= drawn["y"]
        assert typed["y"] + typed["height"] <= 768
        for part in ("layer", "attention", "feed-forward"):
            assert part in page.locator(".front-what").inner_text()

    def test_it_is_written_as_a_story_is_printed(self, start):
        page = start()
        page.wait_for_function(f"({TEXT})().length > 30")
        assert not re.search(r"\s[,.!?”]|[.!?] [a-z]", page.evaluate(TEXT))

    def test_without_javascript_there_is_no_dead_button(self, start):
        page = start(java_script_enabled=False)
        assert not page.locator(BUTTON).is_visible()
        assert page.get_by_text("stories_llama reads").is_visible()

    def test_what_the_note_offers_to_try_shows_what_it_says(self, start):
        page = start("reduce")
        leads = page.locator(".pieces-live .w-next-row").first
        for place, word in enumerate(("red", "ball")):
            page.locator(".front-hint a").nth(place).click()
            page.wait_for_function(f"({TEXT})().endsWith('she took the')")
            leads.get_by_text(word, exact=True).wait_for()
        assert page.locator(".pieces-live .w-part.w-off").count() == 1


class TestMap:
    def test_all_chapters_in_order_each_with_its_moment(self, front):
        names = [dt.get_text() for dt in front.select(".front-map dt")]
        assert [int(re.match(r"\d+", name)[0]) for name in names] == sorted(chapter_places())
        times = [time.get_text() for time in front.select(".front-map dd .front-time")]
        told = [dd.get_text().strip() for dd in front.select(".front-map dd")]
        moments = [a.removesuffix(b).strip() for a, b in zip(told, times, strict=True)]
        assert len(set(moments)) == len(names)
        assert all(moment.endswith(".") and len(moment.split()) > 8 for moment in moments)

    def test_what_is_written_is_linked_and_the_rest_says_so(self, front):
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
        files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
        written = {f"{file}.html" for file in files if re.search(r"/\d\d_", file)}
        linked = {a["href"] for a in front.select(".front-map dt a")}
        assert linked == written
        for dt in front.select(".front-map dt"):
            assert bool(dt.a) != ("to come" in dt.get_text()), dt.get_text()

    def test_each_part_has_its_name_in_the_table_of_contents(self, front):
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
        parts = [h3.get_text().strip("#") for h3 in front.select(".front-map h3")]
        assert len(parts) == 4
        for part in toc["parts"]:
            if part["caption"] != "Appendix":
                place = front.select(".front-part")[parts.index(part["caption"])]
                files = [chapter["file"] for chapter in part["chapters"]]
                ours = {f"{file}.html" for file in files if re.search(r"/\d\d_", file)}
                assert ours == {a["href"] for a in place.select("dt a")}


def test_there_are_three_ways_in_and_a_way_to_run_it(front):
    assert len(front.select(".front-way a")) >= 3
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"][
        "url"
    ]
    place = address.removeprefix("https://github.com/")
    binder = [a["href"] for a in front.select("article a") if "mybinder.org/v2/gh" in a["href"]]
    assert any(f"/gh/{place}/main" in href and "01_big_picture.ipynb" in href for href in binder)
    article = front.select_one("article").get_text()
    assert f"git clone {address}" in article
    assert f"pip install git+{address}" in article
