"""static/kit/tokens.js and chips.js: words that are spelled alike, and a row of which one is chosen."""

import pytest


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/tokens", "kit/chips", "kit/selection") as opened:
        yield opened


@pytest.mark.parametrize(
    ("a", "b", "far"), [("kitten", "sitting", 3), ("", "abc", 3), ("x", "x", 0)]
)
def test_distance_of_words(page, a, b, far):
    assert page.evaluate("([a, b]) => kit.distance(a, b)", [a, b]) == far


@pytest.mark.parametrize(
    ("word", "offers"),
    [
        ("beer", ["bear"]),
        ("boot", ["boat"]),
        ("BLUE", ["blue", "glue"]),
        ("lilly", ["Lily"]),
        ("zebra", []),
        ("x", []),  # a sign is never offered, though it is one letter away
    ],
)
def test_what_is_spelled_alike_comes_nearest_first(page, word, offers):
    known = ["<story>", "the", "Lily", "bear", "boat", "glue", "blue", ".", ",", "was"]
    assert page.evaluate("([word, known]) => kit.near(word, known)", [word, known]) == offers


def test_at_most_three_are_offered(page):
    known = ["bat", "cat", "fat", "hat", "mat"]
    assert page.evaluate("(known) => kit.near('rat', known)", known) == known[:3]


def test_chips_are_chosen_by_keyboard_and_pointer(page):
    page.evaluate(
        """(words) => {
          window.s = kit.createSelection();
          const row = kit.chips({ label: "The words", selection: s });
          document.querySelector("main").replaceChildren(row.box);
          row.draw(words.map((text) => ({ text })));
        }""",
        ["the", "blue", "boat", "."],
    )
    chips = page.locator(".p-chip")
    chips.first.focus()
    for key, at in (("ArrowRight", 1), ("End", 3), ("ArrowLeft", 2), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate("s.picked.token") == at
        assert page.evaluate("document.activeElement.dataset.at") == str(at)
    assert page.locator('[tabindex="0"].p-chip').count() == 1
    chips.nth(2).click()
    assert chips.nth(2).get_attribute("aria-checked") == "true"
    chips.nth(2).click()
    assert page.evaluate("s.picked.token") is None


def test_a_word_that_is_not_known_is_marked(page):
    page.evaluate(
        """() => {
          const row = kit.chips({ label: "The words" });
          document.querySelector("main").replaceChildren(row.box);
          row.draw([{ text: "the" }, { text: "zebra", known: false, label: "zebra, not known" }]);
        }"""
    )
    assert page.locator(".p-chip.p-unknown").all_text_contents() == ["zebra"]
    assert page.get_by_label("zebra, not known").count() == 1
