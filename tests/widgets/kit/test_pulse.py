"""When a picture is drawn: at once after an event, then once in each frame, also without frames."""

import pytest

COUNT = """() => {
  window.draws = [];
  window.pulse = kit.oncePerFrame(() => draws.push(document.timeline.currentTime));
}"""
FRAME = "() => new Promise((go) => requestAnimationFrame(() => go(draws.length)))"
HIDDEN = "() => Object.defineProperty(document, 'hidden', { value: true, configurable: true })"


@pytest.fixture
def page(desk):
    with desk.open("kit/kit", "kit/pulse") as page:
        page.evaluate(COUNT)
        yield page


def test_a_change_is_drawn_before_the_frame_and_once_for_all_that_an_event_changes(page):
    # The button's handler asks three times; what reads after it in the same event sees nothing yet.
    page.evaluate(
        """() => {
          const one = document.createElement("button");
          one.textContent = "change";
          one.onclick = () => { pulse.ask(); pulse.ask(); pulse.ask(); window.during = draws.length; };
          document.querySelector("main").append(one);
          requestAnimationFrame(() => {
            one.click();
            queueMicrotask(() => { window.after = draws.length; });
          });
        }"""
    )
    assert page.evaluate(FRAME) == 1
    assert (page.evaluate("during"), page.evaluate("after")) == (0, 1)


def test_more_changes_before_the_frame_are_drawn_with_it_once(page):
    seen = page.evaluate(
        """async () => {
          const soon = () => Promise.resolve();
          await new Promise((go) => requestAnimationFrame(go));
          const seen = [];
          for (let n = 0; n < 5; n += 1) { pulse.ask(); await soon(); seen.push(draws.length); }
          await new Promise((go) => requestAnimationFrame(go));
          seen.push(draws.length);
          await new Promise((go) => requestAnimationFrame(go));
          seen.push(draws.length);
          pulse.ask();
          await soon();
          return [...seen, draws.length];
        }"""
    )
    assert seen == [1, 1, 1, 1, 1, 2, 2, 3]


def test_what_is_called_off_is_not_drawn(page):
    assert page.evaluate("() => { pulse.ask(); pulse.cancel(); }") is None
    assert page.evaluate(FRAME) == 0
    page.evaluate("() => pulse.ask()")
    assert page.evaluate(FRAME) == 1


def test_a_page_in_the_background_draws_without_frames(page):
    page.evaluate(HIDDEN)
    page.evaluate("() => { window.requestAnimationFrame = () => 0; pulse.ask(); pulse.ask(); }")
    assert page.evaluate("draws.length") == 1
    page.evaluate("() => pulse.ask()")
    assert page.evaluate("draws.length") == 2


def test_what_drawing_asks_for_waits_for_the_next_frame(page):
    seen = page.evaluate(
        """async () => {
          let again = 3;
          window.pulse = kit.oncePerFrame(() => { draws.push(0); if (again-- > 0) pulse.ask(); });
          await new Promise((go) => requestAnimationFrame(go));
          pulse.ask();
          const seen = [];
          await Promise.resolve();
          seen.push(draws.length);
          for (let n = 0; n < 5; n += 1) {
            await new Promise((go) => requestAnimationFrame(go));
            seen.push(draws.length);
          }
          return seen;
        }"""
    )
    assert seen == [1, 2, 3, 4, 4, 4]
