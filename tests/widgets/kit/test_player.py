"""static/kit/player.js and static/kit/keyed.js: what runs, what rests, and what keeps its focus."""

import pytest
from desk import painted

MAKE = """(options) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.shown = [];
  window.rested = [];
  window.p = kit.player(view, { label: "layers", states: 4, tween: 80, dwell: 30,
    show: (at) => shown.push(at), rest: (at) => rested.push(at), ...options });
}"""


@pytest.fixture(scope="module")
def moving(desk):
    with desk.open("kit/player", "kit/keyed", motion=True) as page:
        yield page


@pytest.fixture(scope="module")
def still(desk):
    with desk.open("kit/player", "kit/keyed") as page:
        yield page


def button(page, name):
    return page.get_by_role("button", name=name)


def test_plays_to_the_end_through_what_lies_between(moving):
    moving.evaluate(MAKE, {})
    button(moving, "Play").click()
    moving.wait_for_function("rested.length === 3")
    shown = moving.evaluate("shown")
    assert shown == sorted(shown), "never back"
    assert {1, 2, 3} <= set(shown)
    assert sum(at % 1 > 0 for at in shown) >= 3, "and it moves"
    assert moving.evaluate("rested") == [1, 2, 3]
    assert button(moving, "Play").count() == 1, "it has stopped"
    moving.wait_for_timeout(150)
    assert moving.evaluate("shown.length") == len(shown), "nothing runs when it rests"


def test_a_pause_lets_nothing_run_and_rests_on_a_state(moving):
    moving.evaluate(MAKE, {"states": 9, "tween": 200})
    moving.evaluate(
        """() => { window.frames = 0; const real = requestAnimationFrame;
        window.requestAnimationFrame = (f) => { frames++; return real(f); }; }"""
    )
    button(moving, "Play").click()
    moving.wait_for_function("shown.length > 3")
    button(moving, "Pause").click()
    at = moving.evaluate("p.position")
    assert at == round(at)
    assert moving.evaluate("rested.at(-1)") == at, "who listens stands there too"
    before = moving.evaluate("[frames, shown.length]")
    moving.wait_for_timeout(300)
    assert moving.evaluate("[frames, shown.length]") == before


def test_a_step_by_hand_ends_the_playing_and_goes_on_from_where_it_is(moving):
    moving.evaluate(MAKE, {"states": 9, "tween": 200})
    button(moving, "Play").click()
    moving.wait_for_function("p.position > 0.2")
    moving.evaluate("shown.length = 0; p.glide(5)")
    assert button(moving, "Pause").count() == 0
    moving.wait_for_function("rested.at(-1) === 5")
    shown = moving.evaluate("shown")
    assert shown == sorted(shown)
    moving.wait_for_timeout(300)
    assert moving.evaluate("p.position") == 5


def test_steps_and_scrubs_by_keyboard(still):
    still.evaluate(MAKE, {})
    on, back = button(still, "Step forward"), button(still, "Step back")
    assert back.is_disabled()
    on.press("Enter")
    on.press("Enter")
    assert still.evaluate("p.position") == 2
    back.press("Enter")
    assert still.evaluate("p.position") == 1
    slider = still.get_by_role("slider")
    slider.press("End")
    assert still.evaluate("p.position") == 3
    assert on.is_disabled()
    assert slider.get_attribute("aria-valuetext") == "4 of 4"
    assert still.locator(".p-play-at").inner_text() == "4 of 4"


def test_less_motion_means_no_places_between(still):
    still.evaluate(MAKE, {})
    button(still, "Play").click()
    still.wait_for_function("rested.length === 3")
    assert still.evaluate("shown") == [1, 2, 3]


def test_from_the_end_it_plays_again(still):
    still.evaluate(MAKE, {})
    still.evaluate("p.jump(3)")
    button(still, "Play").click()
    still.wait_for_function("rested.length === 5")
    assert still.evaluate("rested") == [3, 0, 1, 2, 3]


def test_one_state_and_fewer_states(still):
    still.evaluate(MAKE, {"states": 1})
    button(still, "Play").click()
    assert button(still, "Pause").count() == 0
    still.evaluate(MAKE, {})
    still.evaluate("p.jump(3); p.limit(2)")
    assert still.evaluate("p.position") == 1
    assert still.locator(".p-play-at").inner_text() == "2 of 2"


LIST = """() => {
  document.querySelector("main").replaceChildren();
  const ul = document.createElement("ul");
  document.querySelector("main").append(ul);
  window.made_ = 0;
  window.events = 0;
  window.list = kit.keyed(ul, { key: (x) => x,
    make: (x) => { made_++; const li = document.createElement("li"); const b = document.createElement("button");
      b.onblur = () => events++; li.append(b); return li; },
    update: (li, x, n) => { li.firstChild.textContent = `${x}${n}`; } });
}"""


@pytest.mark.parametrize("order", ["edcba", "cab", "xyc", "abcdefg", "bdaec", "c", "cxayb"])
def test_nodes_and_focus_follow_their_keys(still, order):
    still.evaluate(LIST)
    still.evaluate("list.draw([...'abcde'])")
    still.locator("button", has_text="c2").focus()
    still.evaluate("window.before = list.node('c')")
    still.evaluate("(order) => list.draw([...order])", order)
    texts = still.locator("main li").all_inner_texts()
    assert texts == [f"{x}{n}" for n, x in enumerate(order)]
    assert still.evaluate("document.activeElement === before.firstChild")
    assert still.evaluate("events") == 0, "the focus was never lost on the way"
    assert still.evaluate("made_") == 5 + len(set(order) - set("abcde"))


def test_the_same_key_twice_is_an_error(still):
    still.evaluate(LIST)
    error = still.evaluate(
        "(() => { try { list.draw(['a', 'a']); } catch (e) { return e.message; } })()"
    )
    assert error == "Two items have the key a."
    painted(still)
