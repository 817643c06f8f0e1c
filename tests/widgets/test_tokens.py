"""static/tokens.js: typed text becomes words, unknown ones are named, and nothing typed is lost."""

import pytest

VOCABULARY = ["<story>", "the", "Lily", "bear", "boat", "blue", ".", ",", "was"]
MAKE = """(options) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.told = [];
  window.field = kit.tokenField(view, { label: "Your story", vocabulary: options.vocabulary, text: "the blue boat .",
    change: (tokens, text) => told.push([tokens.map((t) => [t.text, t.id]), text]), ...options });
  view.panes.append(field.box);
  field.start();
}"""


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("tokens", "chips", "selection", "keyed") as opened:
        yield opened


@pytest.fixture
def make(page):
    def maker(**options):
        page.evaluate(MAKE, {"vocabulary": VOCABULARY, **options})
        return page

    return maker


def told(page):
    return page.evaluate("told.at(-1)")


def known(*words):
    return [[w, VOCABULARY.index(w) if w in VOCABULARY else -1] for w in words]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("The blue, BLUE bear.", ["the", "blue", ",", "blue", "bear", "."]),
        ("lily was", ["Lily", "was"]),
        ("<story> the", ["<story>", "the"]),
        ("don't 北京 the", ["don't", "北京", "the"]),
        ("", []),
        ("   \n ", []),
        ("<b>the</b>", ["<b>", "the", "<", "/", "b", ">"]),
    ],
)
def test_words_of_a_text(make, typed, words):
    page = make()
    page.get_by_label("Your story").fill(typed)
    assert told(page) == [known(*words), typed]
    assert page.locator(".p-chip").all_text_contents() == words
    assert page.locator(".p-chip.p-unknown").count() == sum(w not in VOCABULARY for w in words)


def test_an_unknown_word_is_named_with_what_is_near(make):
    page = make()
    field = page.get_by_label("Your story")
    field.fill("the beer and the boot")
    note = page.locator(".p-typed-note")
    assert note.inner_text() == "", "not while it is being typed"
    page.wait_for_function("document.querySelector('.p-typed-note').textContent !== ''")
    assert "“beer” and 2 other words are not among the 9 words known here." in note.inner_text()
    page.get_by_role("button", name="Write bear in place of beer").click()
    assert field.input_value() == "the bear and the boot"
    assert "“and” and 1 other word are not" in note.inner_text()


def test_nothing_typed_is_lost_and_all_of_it_can_be_undone(make):
    page = make(most=3)
    field = page.get_by_label("Your story")
    typed = "the the the the zebra"
    field.fill(typed)
    page.wait_for_function("document.querySelector('.p-typed-note').textContent !== ''")
    assert field.input_value() == typed
    assert told(page)[0] == known("the", "the", "the")
    assert "Only the first 3 words are read." in page.locator(".p-typed-note").inner_text()
    page.get_by_role("button", name="Undo my text").click()
    assert told(page)[1] == "the blue boat ."
    assert page.get_by_role("button", name="Undo my text").is_hidden()


def test_a_kept_text_comes_back(make):
    page = make()
    page.evaluate(
        """(vocabulary) => {
          document.querySelector("main").replaceChildren();
          window.store = { text: "Lily was", read() { return this.text; }, write(text) { this.text = text; } };
          const field = kit.tokenField(made(), { label: "Kept", vocabulary, text: "the", kept: store, change() {} });
          document.querySelector("main").append(field.box);
          field.start();
        }""",
        VOCABULARY,
    )
    field = page.get_by_label("Kept")
    assert field.input_value() == "Lily was"
    field.fill("the bear zzz")
    assert page.evaluate("store.text") == "the bear zzz"


def test_chips_are_chosen_by_keyboard_and_pointer(make):
    page = make()
    page.evaluate(
        """(vocabulary) => {
          document.querySelector("main").replaceChildren();
          const view = made();
          window.s = kit.createSelection();
          const field = kit.tokenField(view, { label: "x", vocabulary, text: "the blue boat .", change() {}, selection: s });
          view.panes.append(field.box);
          field.start();
        }""",
        VOCABULARY,
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


@pytest.mark.parametrize(
    ("a", "b", "far"), [("kitten", "sitting", 3), ("", "abc", 3), ("x", "x", 0)]
)
def test_distance_of_words(make, a, b, far):
    assert make().evaluate("([a, b]) => kit.distance(a, b)", [a, b]) == far
