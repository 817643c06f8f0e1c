"""static/host.js: what brings widgets alive on a page, and what it says when it cannot."""

import functools
import http.server
import re
import threading
from contextlib import contextmanager

import pytest
import torch

from browser import PAINTED, PATIENCE, opened, picture, put, state
from classic_modules import classic
from pieces import masks
from pieces.attention import masked_softmax
from pieces.scores import scaled_dot
from pieces.widgets import AttentionSteps, FillMask, MaskExplorer, PredictNumber, ScoreFunctions

STATES = "[...document.querySelectorAll('.pieces-live')].map((one) => one.dataset.state)"
SORRY = "This picture could not be brought to life here."


def question(text="What is 1/4?"):
    return PredictNumber(question=text, answer=0.25)


def spoiled(bench, html, **options):
    return opened(bench.chromium, bench.write(html), **options)


def page_of(bench, *widgets):
    """Return the page's source with these widgets."""
    return (bench.folder / bench.url(*widgets).rsplit("/", 1)[1]).read_text(encoding="utf-8")


def states(page):
    return [place.get_attribute("data-state") for place in page.locator(".pieces-live").all()]


@contextmanager
def slowly(bench, head, tail):
    """Serve a page of which the tail is sent only when the test says so."""
    told = threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(head.encode())
            self.wfile.flush()
            told.wait(60)
            self.wfile.write(tail.encode())

        def log_message(self, *args):
            pass

    handler = functools.partial(Handler, directory=str(bench.folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", told.set
    finally:
        told.set()
        server.shutdown()
        server.server_close()


SLOW = """export default { render: async ({ el }) => {
  await new Promise((done) => { window.draw = done; });
  el.innerHTML = "<p>Here</p>";
} };"""
SLOW = f"<script>{classic([('slow/slow', SLOW)])}</script>"


class TestPatience:
    """Weights and records far below the first widget."""

    @pytest.fixture(params=["data-weights", 'data-record="some"'])
    def below(self, bench, request):
        """A page whose first widget takes its time, and whose second needs a file, far below."""
        html = page_of(bench, question("One?"), question("Two?"))
        one, two = re.findall(r'<div class="pieces-live"[^>]*>', html)
        slow = re.sub(r'data-module="[^"]*"', 'data-module="slow/slow"', one)
        html = html.replace(one, SLOW + slow, 1)
        heavy = two.replace("data-model", f"{request.param} data-model", 1)
        html = html.replace(two, f'<div style="height: 9000px"></div>{heavy}', 1)
        html += '<script>(self.piecesRecords ??= {})["some"] = {};</script>'
        page = bench.chromium.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(bench.write(html))
        page.wait_for_function("() => window.draw")
        page.wait_for_timeout(400)
        yield page
        page.close()

    def test_they_wait_until_the_first_is_there(self, below):
        assert states(below) == ["loading", None]
        below.evaluate("window.draw()")
        below.wait_for_function(f"{STATES}.join() === 'live,live'")

    def test_they_come_when_they_are_near(self, below):
        below.evaluate("scrollTo(0, 9000)")
        below.wait_for_function(f"{STATES}.join() === 'loading,live'")


class TestFailure:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda text: text.replace('{"state"', '{"state', 1),
            lambda text: text.replace('"buffers":[]}', '"buff', 1),
            lambda text: text.replace('{"state":{', '{"state":{"x":NaN,', 1),
            lambda text: text.replace('{"state":{', '{"wrong":{', 1),
            lambda text: text.replace(
                '"buffers":[]', '"buffers":[{"path":["a","b"],"data":"!"}]', 1
            ),
            lambda text: text.replace('"buffers":[]', '"buffers":7', 1),
            lambda text: text.replace('<script type="application/json">', "<script>//", 1),
        ],
        ids=["broken", "cut", "nan", "no-state", "bad-buffers", "no-list", "gone"],
    )
    def test_a_damaged_state_leaves_the_others_alive(self, bench, damage):
        first, second = question("First?"), MaskExplorer(T=4)
        html = page_of(bench, first, second)
        assert damage(html) != html
        with spoiled(bench, damage(html)) as page:
            assert states(page) == ["failed", "live"]
            box = page.locator(".pieces-live").first
            assert SORRY in box.inner_text()
            assert "JavaScript" not in box.inner_text()
            assert box.locator(".pieces").count() == 0
            put(page, second, T=5)
            assert "15 of 25 cells" in page.locator(".p-say").inner_text()
            assert page.record.errors, "the console tells the developer"

    def test_a_widget_that_throws_says_so(self, bench):
        first, second = MaskExplorer(T=4), question()
        throws = "export default { render() { throw 1; } }"
        html = bench.patched(
            page_of(bench, first, second), "mask_explorer/mask_explorer", lambda _: throws
        )
        with spoiled(bench, html) as page:
            assert states(page) == ["failed", "live"]
            assert SORRY in page.locator(".pieces-live").first.inner_text()

    def test_a_widget_that_throws_halfway_leaves_no_half(self, bench):
        throws = (
            "export default { render({ el }) {"
            " el.append('half a picture'); throw new Error('halfway'); } }"
        )
        html = bench.patched(
            page_of(bench, MaskExplorer(T=4)), "mask_explorer/mask_explorer", lambda _: throws
        )
        with spoiled(bench, html) as page:
            box = page.locator(".pieces-live")
            assert SORRY in box.inner_text()
            assert "half" not in box.inner_text()
            assert "halfway" in box.get_attribute("data-error")

    @pytest.mark.parametrize(
        "text", ["export default {", "export default 5;", "export const x = 1;", "throw 1;", ""]
    )
    def test_a_module_that_is_none(self, bench, text):
        page = page_of(bench, MaskExplorer(T=4), question())
        html = bench.patched(page, "mask_explorer/mask_explorer", lambda _: text)
        with spoiled(bench, html) as page:
            assert states(page) == ["failed", "live"]

    @pytest.mark.parametrize(
        "missing", ["twin/twin.js", "kit/heatmap.js", "mask_explorer/mask_explorer.js"]
    )
    def test_a_module_that_did_not_arrive(self, bench, missing):
        html = page_of(bench, MaskExplorer(T=4)).replace(f"pieces/{missing}", "pieces/nowhere.js")
        with spoiled(bench, html) as page:
            assert states(page) == ["failed"]
            assert SORRY in page.locator(".pieces-live").inner_text()

    def test_without_javascript_it_says_what_is_missing(self, bench):
        context = bench.chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(bench.url(MaskExplorer(T=4)))
        text = page.locator(".pieces-live").inner_text()
        context.close()
        assert "Mask explorer" in text
        assert "needs JavaScript" in text

    def test_it_is_drawn_before_the_page_has_been_read(self, bench):
        html = page_of(bench, MaskExplorer(T=4))
        reader = bench.chromium.new_page()
        head, tail = html.split("</main>")
        with slowly(bench, head, "<p id=late>The end</p></main>" + tail) as (url, go_on):
            reader.goto(url, wait_until="commit")
            reader.wait_for_selector(".pieces-live[data-state=live]")
            assert reader.evaluate("document.readyState") == "loading"
            go_on()
            reader.wait_for_selector("#late")
        reader.close()

    def test_a_live_widget_hides_the_waiting_sentence(self, bench):
        with bench.show(MaskExplorer(T=4)) as page:
            assert not page.locator(".pieces-wait").is_visible()


class TestModel:
    @pytest.mark.parametrize(
        "text",
        [
            "</script><script>window.pwned = 1</script>",
            "Why is <!--<script> here?",
            "<!-- <SCRIPT",
            "]]> &lt; <\\/ \\u003c",
        ],
    )
    def test_a_foreign_text_cannot_leave_its_script(self, bench, text):
        widget, following = question(text), MaskExplorer(T=4)
        with bench.show(widget, following) as page:
            assert states(page) == ["live", "live"], "what follows on the page is still there"
            assert page.evaluate("window.pwned") is None
            assert page.locator(".p-question").inner_text() == widget.question

    def test_bytes_come_back_as_a_view(self, bench):
        html = page_of(bench, question()).replace(
            '"buffers":[]', '"buffers":[{"path":["bulk"],"encoding":"base64","data":"AQIDBA=="}]'
        )
        with spoiled(bench, html) as page:
            page.evaluate(
                "window.m = pieces.model(document.querySelector('.pieces-live').dataset.model)"
            )
            assert (
                page.evaluate("m.get('bulk') instanceof DataView && m.get('bulk').getUint8(3)") == 4
            )

    def test_two_views_share_one_model(self, bench):
        explorer = MaskExplorer(T=4)
        with bench.show(explorer, twice=True) as page:
            assert states(page) == ["live", "live"]
            assert page.locator(".pieces-live > script").count() == 1
            first, second = (picture(page, at) for at in (0, 1))
            assert first == second
            slider = page.locator(".pieces").nth(1).locator("input[type=range]").first
            slider.focus()
            slider.press("ArrowRight")
            assert state(page, explorer)["T"] == 5
            assert picture(page, 0) == picture(page, 1) != first

    def test_the_page_below_stays_while_a_control_moves(self, bench):
        explorer = MaskExplorer(kind="dilated")
        heights = """(place) => [place, place.querySelector(".pieces-stage")]
          .map((one) => Math.ceil(one.getBoundingClientRect().height))"""
        with bench.show(explorer, width=360) as page:  # where each kind of mask has its own rows
            page.wait_for_selector("[data-settled]")
            place = page.locator(".pieces-live")
            tall, used = place.evaluate(heights)
            assert tall == used
            now, used = place.evaluate(
                f"""async (place) => {{
                  window.pieces.model(place.dataset.model).set("kind", "causal");
                  await ({PAINTED})();
                  return ({heights})(place);
                }}"""
            )
            assert now == tall > used, "not lower while it moves"
            page.wait_for_function(f"document.querySelector('.pieces-live').offsetHeight < {tall}")
            now, used = place.evaluate(heights)
            assert now == used, "and no hole when it rests"
            put(page, explorer, kind="dilated")
            assert place.evaluate(heights) == [tall, tall], "higher at once"
            page.locator("details summary").first.click()
            page.locator(".p-tables td").first.wait_for()
            page.locator("details summary").first.click()
            page.wait_for_function(f"document.querySelector('.pieces-live').offsetHeight <= {tall}")

    def test_not_even_by_a_part_of_a_pixel(self, bench):
        """A page that moves is painted anew, all of it."""
        explorer = MaskExplorer(T=9)
        high = "(place) => place.getBoundingClientRect().height"
        with bench.show(explorer) as page:
            page.wait_for_selector("[data-settled]")
            place = page.locator(".pieces-live")
            widget = place.locator(".pieces")
            widget.evaluate("(e) => { e.style.height = `${Math.ceil(e.offsetHeight) + 100.4}px`; }")
            page.evaluate(PAINTED)
            before = place.evaluate(high)
            assert before >= widget.evaluate(high)
            widget.evaluate("(e) => { e.style.height = 'auto'; }")
            page.evaluate(PAINTED)
            assert place.evaluate(high) == before

    @pytest.mark.parametrize("hand", ["none", "wheel"])
    def test_who_came_by_a_link_stays_where_it_leads(self, bench, hand):
        """What stands above grows by 500 px after the page has been scrolled."""
        html = page_of(bench, AttentionSteps(), MaskExplorer())
        below = '<h2 id="below">Below</h2><div style="height: 2000px"></div>'
        html = html.replace("</main>", f"{below}</main>")
        top = "() => document.querySelector('#below').getBoundingClientRect().top"
        with opened(bench.chromium, f"{bench.write(html)}#below") as page:
            assert page.evaluate(top) == pytest.approx(0, abs=1)
            if hand == "wheel":
                page.mouse.wheel(0, 1)  # which a page may be too busy to obey
                page.wait_for_timeout(100)
            page.evaluate("document.body.style.overflowAnchor = 'none'")  # as Safari
            before = page.evaluate(top)
            grow = "(e) => { e.style.height = `${e.offsetHeight + 500}px`; }"
            page.locator(".pieces-live").first.evaluate(grow)
            page.evaluate(PAINTED)
            page.evaluate(PAINTED)
            grown = 500 if hand == "wheel" else 0
            assert page.evaluate(top) == pytest.approx(before + grown, abs=2)

    def test_listeners_hear_what_they_asked_for(self, bench):
        widget = FillMask(question="?", answer=masks.causal(2))
        script = """(id) => {
          const model = pieces.model(id);
          const heard = [];
          const one = (m, value) => heard.push(["why", value, m === model]);
          const any = () => heard.push("change");
          model.on("change:why", one);
          model.on("change", any);
          model.set("why", "a"); model.set("why", "a"); model.set({ why: "b", rows: [] });
          model.off("change:why", one);
          model.set("why", "c");
          model.off("change", any);
          model.set("why", "d"); model.save_changes();
          return heard;
        }"""
        with bench.show(widget) as page:
            heard = page.evaluate(script, widget.model_id)
        assert heard.count("change") == 3
        assert [x for x in heard if x != "change"] == [["why", "a", True], ["why", "b", True]]

    def test_saving_clears_what_changed(self, bench):
        widget = question()
        script = """(id) => {
          const model = pieces.model(id);
          let heard = 0;
          model.set("hint", "x"); model.save_changes();
          model.on("change", () => { heard += 1; });
          model.set("hint", "x");
          return heard;
        }"""
        with bench.show(widget) as page:
            assert page.evaluate(script, widget.model_id) == 0

    def test_clean_up_stops_the_drawing(self, bench):
        explorer = MaskExplorer(T=4)
        with bench.show(explorer) as page:
            before = picture(page)
            page.evaluate("document.querySelector('.pieces-live').cleanUp()")
            put(page, explorer, T=9)
            page.evaluate("document.documentElement.dataset.theme = 'dark'")
            assert picture(page) == before

    def test_each_module_is_made_once(self, bench):
        counted = """window.made = [];
          window.piecesModules = new Proxy({}, { set(all, name, module) {
            const text = `(take) => {window.made.push("${name}"); return (${module.text})(take); }`;
            all[name] = { ...module, text };
            return true;
          } });"""
        widgets = [MaskExplorer(T=4), MaskExplorer(T=5), question(), question("More?")]
        with bench.show(*widgets, init=counted) as page:
            modules = page.evaluate("Object.keys(window.piecesModules)")
            assert sorted(page.evaluate("window.made")) == sorted(modules)


class TestNoHole:
    """Where no picture comes alive, a reader sees words and, where one can be made, a still."""

    WIDGETS = (
        (lambda: MaskExplorer(kind="sliding_window", T=5, window=2), "9 of 25 cells are open", 2),
        (lambda: AttentionSteps(step=6), "query 2 is [0.9990, 0.8667, 0.5560]", 3),
        (lambda: ScoreFunctions(K=64), "the scaled dot-product score, 3 keys of 64 numbers", 0),
        (lambda: FillMask(question="Causal <b>or</b> not?", answer=masks.causal(3)), "Causal", 1),
        (lambda: question("What is 1/4?"), "What is 1/4?", 0),
    )

    def looks(self, place, words, stills):
        text = place.inner_text()
        assert words in text
        assert "None" not in text
        assert place.locator("svg:visible").count() == stills
        used = place.evaluate("(e) => [...e.children].filter((c) => c.offsetHeight)"
                              ".reduce((sum, c) => sum + c.offsetHeight, 0)")  # fmt: skip
        assert place.evaluate("(e) => e.offsetHeight") <= used + 30, "a hole"

    @pytest.mark.parametrize(("make", "words", "stills"), WIDGETS)
    def test_without_javascript(self, bench, make, words, stills):
        context = bench.chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(bench.url(make()))
        self.looks(page.locator(".pieces-live"), words, stills)
        assert "needs JavaScript" in page.locator(".pieces-live").inner_text()
        context.close()

    @pytest.mark.parametrize(("make", "words", "stills"), WIDGETS)
    def test_where_it_failed(self, bench, make, words, stills):
        widget = make()
        throws = "export default { render() { throw 1; } }"
        with bench.show(widget, patches=[(type(widget).module, lambda _: throws)]) as page:
            self.looks(page.locator(".pieces-live"), words, stills)
            assert SORRY in page.locator(".pieces-live").inner_text()
            assert "needs JavaScript" not in page.locator(".pieces-live").inner_text()

    def test_a_still_shows_what_torch_computes(self):
        widget = AttentionSteps(step=5, mask="causal")
        texts = re.findall(r">([^<>]+)</text>", widget.still())
        numbers = [text for text in texts if "." in text]
        X, Wq, Wk = (torch.tensor(m) for m in (widget.X, widget.Wq, widget.Wk))
        scaled = scaled_dot(X @ Wq, X @ Wk)
        weights = masked_softmax(scaled, masks.causal(6))
        shown = [*scaled.flatten().tolist(), *weights[masks.causal(6)].tolist()]
        assert numbers == [f"{x:.2f}".replace("-", "−") for x in shown]
        assert widget.still().count("p-masked") == 15

    def test_a_still_of_a_mask_is_the_mask(self):
        widget = MaskExplorer(kind="dilated", T=6, window=2, dilation=2, layers=2)
        first, second = widget.still().split("</figure>")[:2]
        assert first.count("p-masked") == int((~widget.mask()).sum())
        assert second.count("p-masked") == int((~masks.reach(widget.mask(), 2)).sum())
