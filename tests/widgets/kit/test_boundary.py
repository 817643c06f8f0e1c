"""A throw in any redraw is said, on the site and in a notebook; and one draw a frame."""

import base64
import json

import pytest
from oracle import check, recorded
from samples import example

from browser import PAINTED, picture, put, state
from pieces.widgets import AttentionSteps, MaskExplorer, ScoreFunctions
from pieces.widgets.base import inlined

LATE = "could not follow the last change"
# Every redraw of a page throws while window.spoilt is true.
TRAP = """
  const real = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...a) {
    if (window.spoilt) throw new Error("spoilt on purpose");
    return real.apply(this, a);
  };"""


def at_six(source):
    """MaskExplorer's picture, which throws for six tokens."""
    return source.replace(
        "const [plain, line] = unflipped(s);",
        "if (s.T === 6) throw new Error('six'); const [plain, line] = unflipped(s);",
    )


class TestAThrow:
    def test_after_the_first_draw_is_said_and_the_picture_marked_as_old(self, bench):
        widget = MaskExplorer(T=5)
        with bench.show(widget, patches=[("mask_explorer/mask_explorer", at_six)]) as page:
            place, note = page.locator(".pieces-live"), page.locator(".pieces-sorry")
            assert not note.is_visible()
            page.get_by_label("tokens T").press("ArrowRight")
            note.wait_for()
            assert LATE in note.inner_text()
            assert note.get_attribute("role") == "alert"
            assert place.get_attribute("data-state") == "stale"
            assert place.get_attribute("data-error") == "six"
            assert page.locator("canvas").first.is_visible(), "the last picture stays"
            faded = page.locator(".p-panes").evaluate("(e) => getComputedStyle(e).opacity")
            assert float(faded) < 0.7, "and is marked as old"
            assert any("six" in error for error in page.record.errors), "the console tells"
            page.get_by_label("tokens T").press("ArrowRight")
            page.evaluate(PAINTED)
            assert not note.is_visible()
            assert place.get_attribute("data-state") == "live"
            assert "28 of 49 cells" in page.locator(".p-say").inner_text()

    @pytest.mark.parametrize("name", ["AttentionSteps", "FillMask", "MaskExplorer"])
    @pytest.mark.parametrize("move", ["theme", "width"])
    def test_when_the_page_changes_is_said_too(self, bench, name, move):
        with bench.show(example(name), init=TRAP) as page:
            page.evaluate("window.spoilt = true")
            if move == "theme":
                page.evaluate("document.documentElement.dataset.theme = 'dark'")
            else:
                page.set_viewport_size({"width": 220, "height": 900})
            page.locator(".pieces-sorry").wait_for()

    @pytest.mark.parametrize("late", [False, True], ids=["first", "later"])
    def test_in_a_notebook(self, bench, late):
        """The inlined module, as anywidget calls it, on a model of its own."""
        widget = MaskExplorer(T=5 if late else 6)
        values = json.dumps({t: getattr(widget, t) for t in [*widget.controls(), "_limits"]})
        module = base64.b64encode(at_six(inlined("mask_explorer/mask_explorer")).encode()).decode()
        script = """async ([url, values]) => {
          const [state, listeners] = [JSON.parse(values), new Set()];
          const model = { get: (name) => state[name], save_changes() {}, off() {},
            on: (event, f) => listeners.add(f),
            set(name, value) {
              Object.assign(state, typeof name === "object" ? name : { [name]: value });
              listeners.forEach((f) => f()); } };
          const el = document.createElement("div");
          document.querySelector("main").append(el);
          const { default: widget } = await import(url);
          let thrown = null;
          try { await widget.render({ model, el }); } catch (error) { thrown = error.message; }
          model.set("T", 6);
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
          return [thrown, el.innerText];
        }"""
        with bench.show() as page:
            url = f"data:text/javascript;base64,{module}"
            thrown, text = page.evaluate(script, [url, values])
        assert thrown == (None if late else "six")
        assert (LATE if late else "could not be brought to life") in text


class TestOneDrawAFrame:
    def test_many_moves_are_one_draw(self, bench):
        """21 moves of a pointer in one frame: one picture, and one change for each move at most."""
        widget = ScoreFunctions()
        script = """async (id) => {
          const model = window.pieces.model(id);
          const svg = document.querySelector(".p-plane");
          const [box, query] = [svg.getBoundingClientRect(), svg.querySelector(".p-query")];
          let [draws, heard] = [0, 0];
          new MutationObserver((all) => { draws += all.length; })
            .observe(query, { attributes: true, attributeFilter: ["transform"] });
          model.on("change", () => { heard += 1; });
          const fire = (type, n) => query.dispatchEvent(new PointerEvent(type, {
            bubbles: true, pointerId: 1, pointerType: "touch",
            clientX: box.left + 60 + 5 * n, clientY: box.top + 90 + 3 * n }));
          svg.setPointerCapture = () => {};
          fire("pointerdown", 0);
          for (let n = 1; n <= 20; n++) fire("pointermove", n);
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
          return [draws, heard];
        }"""
        with recorded(bench, widget) as page:
            draws, heard = page.evaluate(script, widget.model_id)
            assert draws == 1
            assert heard <= 3, "one for the pointer, one for what was computed"
            check(page, widget)

    @pytest.mark.parametrize("name", ["MaskExplorer", "AttentionSteps"])
    def test_many_changes_are_one_draw(self, bench, name):
        widget = example(name)
        trait, values = ("T", range(2, 24)) if name == "MaskExplorer" else ("row", [1, 2, 3, 4, 5])
        script = """async ([id, trait, values]) => {
          let draws = 0;
          new MutationObserver((all) => { draws += all.length; })
            .observe(document.querySelector(".p-say"), { childList: true });
          for (const value of values) window.pieces.model(id).set(trait, value);
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
          return draws;
        }"""
        with recorded(bench, widget) as page:
            assert page.evaluate(script, [widget.model_id, trait, list(values)]) == 1
            check(page, widget)

    def test_an_open_table_changes_only_the_cells_that_changed(self, bench):
        """Made anew at each tick, 1,728 cells took 140 ms."""
        widget = MaskExplorer(T=24, kind="sliding_window", window=3)
        script = """async (id) => {
          const tables = document.querySelector(".p-tables");
          const read = () => [...tables.querySelectorAll("td, th")].map((cell) => cell.textContent);
          const before = read();
          let [changed, made] = [0, 0];
          new MutationObserver((all) => all.forEach(({ type }) => {
            if (type === "characterData") changed += 1; else made += 1;
          })).observe(tables, { characterData: true, childList: true, subtree: true });
          window.pieces.model(id).set("window", 4);
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
          return [changed, made, read().filter((text, n) => text !== before[n]).length];
        }"""
        with recorded(bench, widget) as page:
            page.locator("details summary").click()
            page.locator(".p-tables td").first.wait_for()
            changed, made, differ = page.evaluate(script, widget.model_id)
            assert (changed, made) == (differ, 0)
            assert 21 <= differ < 500
            put(page, widget, T=5)
            assert page.locator(".p-tables td").count() == 3 * 25 + 30

    def test_a_draw_writes_no_trait_that_did_not_change(self, bench):
        widget = AttentionSteps()
        with bench.show(widget) as page:
            before = picture(page), state(page, widget)
            heard = page.evaluate(
                """async (id) => {
                  const model = window.pieces.model(id);
                  let heard = 0;
                  model.on("change", () => { heard += 1; });
                  model.set("X", model.get("X").map((row) => [...row]));
                  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
                  return heard;
                }""",
                widget.model_id,
            )
            assert heard == 1, "only the one that was set"
            assert (picture(page), state(page, widget)) == before


class TestWhatIsHeard:
    def test_one_sentence_when_the_control_rests(self, bench):
        widget = MaskExplorer(T=5)
        with bench.show(widget) as page:
            page.evaluate("""() => {
              window.spoken = [];
              const live = "[role=status], [role=alert], [aria-live=polite], "
                + "output:not([aria-live=off])";
              new MutationObserver((all) => all.forEach(({ target }) => {
                const region = (target.closest ? target : target.parentNode)?.closest(live);
                if (region) window.spoken.push(region.textContent);
              })).observe(document.querySelector(".pieces"),
                { childList: true, characterData: true, subtree: true });
            }""")
            for _ in range(3):
                page.get_by_label("tokens T").press("ArrowRight")
            page.evaluate(PAINTED)
            assert page.evaluate("window.spoken") == []
            page.wait_for_function("window.spoken.length > 0")
            said = page.locator(".p-say").inner_text()
            page.wait_for_timeout(300)
            assert page.evaluate("window.spoken") == [said]
            put(page, widget, T=8)
            put(page, widget, T=7)
            page.wait_for_timeout(1000)
            assert len(page.evaluate("window.spoken")) == 2
