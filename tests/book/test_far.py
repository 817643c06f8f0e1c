"""What is far from the screen rests, and nobody sees it: no place moves, and a link reaches it."""

import pytest

from browser import PAINTED, ROOT, opened, until

CHAPTERS = [f"chapters/{path.stem}" for path in sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))]
SETTLED = """() => [...document.querySelectorAll(".pieces-live[data-module]")].every(
  (place) => place.dataset.settled !== undefined) && !!document.querySelector(".p-far")"""
# Every block of the text, its place on the page with what is far at rest, and with none at rest.
PLACES = """() => {
  const blocks = [...document.querySelectorAll("article section > :not(section), article section")]
    .filter((block) => !block.parentElement.closest(".p-far"));
  const far = [...document.querySelectorAll(".p-far")];
  const tops = () => [document.documentElement.scrollHeight,
    ...blocks.map((block) => Math.round(2 * block.getBoundingClientRect().top) / 2)];
  const resting = tops();
  far.forEach((part) => part.classList.remove("p-far"));
  const awake = tops();
  far.forEach((part) => part.classList.add("p-far"));
  return [resting, awake, far.length];
}"""


@pytest.fixture
def chapter(chromium, home):
    """A chapter that has come to rest."""
    with opened(chromium, f"{home}/{CHAPTERS[4]}.html") as page:
        page.evaluate(until(SETTLED))
        yield page


def rested(page):
    """Wait until what is far has come to rest again, and compare its places."""
    page.evaluate(PAINTED)
    page.evaluate(PAINTED)
    resting, awake, far = page.evaluate(PLACES)
    assert far, "nothing is far"
    assert resting == awake


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", CHAPTERS)
def test_no_place_moves(tabs, home, name, width):
    with tabs.opened(f"{home}/{name}.html", width=width) as page:
        page.evaluate(until(SETTLED))
        rested(page)
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        rested(page)


def test_another_width_has_other_heights(chapter):
    for width in (700, 1100):
        chapter.set_viewport_size({"width": width, "height": 800})
        chapter.wait_for_timeout(1000)  # what is left over below a widget goes after 400 ms
        rested(chapter)


def test_what_opens_far_away_takes_its_room(chapter):
    before = chapter.evaluate("document.documentElement.scrollHeight")
    chapter.evaluate("""() => document.querySelectorAll(".p-far details:not(.p-details)").forEach(
      (fold) => { fold.open = true; })""")
    chapter.wait_for_function(
        "(before) => document.documentElement.scrollHeight > before + 100", arg=before
    )
    rested(chapter)


def test_a_link_reaches_it(chapter):
    last = chapter.locator("section.p-far").last
    where = last.get_attribute("id")
    chapter.evaluate("(id) => { location.hash = id; }", where)
    chapter.wait_for_function(
        "(id) => document.getElementById(id).getBoundingClientRect().top < innerHeight", arg=where
    )
    chapter.wait_for_selector(f"#{where}:not(.p-far)")


def test_nothing_rests_on_paper(chapter):
    chapter.emulate_media(media="print")
    chapter.evaluate(PAINTED)
    kinds = chapter.locator(".p-far").evaluate_all(
        "(all) => all.map((part) => getComputedStyle(part).contentVisibility)"
    )
    assert kinds
    assert set(kinds) == {"visible"}


def test_a_widget_that_rests_takes_what_it_is_given(chapter):
    """A link may set a widget that is far away: it stands right when the reader comes to it."""
    place = chapter.locator(".p-far .pieces-live[data-module^=mask_explorer]:not(details *)").last
    ident = place.get_attribute("data-model")
    place = chapter.locator(f".pieces-live[data-model='{ident}']")  # also when it is near
    tall = place.evaluate("(e) => e.offsetHeight")
    chapter.evaluate("(id) => window.pieces.model(id).set('T', 3)", ident)
    place.scroll_into_view_if_needed()
    chapter.wait_for_function(
        "([id, tall]) => document.querySelector(`[data-model='${id}']`).offsetHeight < tall - 20",
        arg=[ident, tall],
    )
    assert place.locator(".p-chip").count() == 3
    rested(chapter)
