"""static/links.js: a link keeps the state of any widget, sets no other, and leads there and back."""

import json
import re
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import quote

import pytest
from samples import NAMES, example

from browser import PAINTED, STATIC, opened, picture, put, state
from pieces.widgets import (
    AttentionSteps,
    MaskExplorer,
    ModelTable,
    NormAxes,
    NormPlacement,
    PredictNumber,
)

# What the item copies is kept here, for a page without a clipboard.
CLIPBOARD = """Object.defineProperty(navigator, "clipboard", { value: {
  writeText: (text) => { window.copied = text; return Promise.resolve(); } } })"""
READ = "(query) => window.piecesLinks.read(document.querySelector('.pieces-live'), query)"
ANY = [None, "text", -1, 0, 1, 2, 3, 0.5, 7, 1e9, 1e300, True, False, [], [None], [[None]], [[-1, 0]],
       [[0.5, 0]], [[0, 1]], ["a"], ["a", 1], ["relu"], ["relu", "relu"], ["layer.1.head.2"], {},
       [1, 2], [[1, 2], [3]], [[1, 2], [3, 4]], [["1", 2]], [[101] * 3] * 3, [[1e9]], [[0.0] * 9],
       [[1, "a"]], [[1, "a"], [1, "b"]], [[99, "a"]], [[1] * 3] * 3, [[1] * 3] * 6, ["a"] * 99, [1] * 99, "x" * 3000, "causal", "norm", "layer.0.norm",
       "", "toString", "__proto__"]  # fmt: skip
LINE = ".pieces-bar"


def settable(widget):
    """Return what a link may set: traits with limits that are not fixed, and those."""
    return {name: own for name, own in widget._limits.items() if not own.get("fixed")}


def written(kind, value):
    """Return a value as a link has it, or None where it cannot say it."""
    if kind in ("choice", "text"):
        return quote(value) if isinstance(value, str) else None
    return quote(json.dumps(value))


def other(widget, name, own):
    """Return a value of a trait that it does not have now."""
    now = getattr(widget, name)
    if own["kind"] in ("count", "real"):
        return own["low"] if now != own["low"] else min(own["high"], 2 * own["low"] + 2)
    if own["kind"] in ("choice", "among"):
        return next((option for option in own["options"] if option != now), now)
    found = {"switch": lambda: not now, "cells": lambda: [[0, 0]] if not now else []}
    found["words"] = lambda: now[:-1]
    found["placed"] = lambda: [[1, "a"]] if not now else []
    found["text"] = lambda: "" if now else now
    found["numbers"] = found["matrix"] = lambda: list(now[::-1])
    return found[own["kind"]]()


def linked(bench, widget, query="", **options):
    """Open the page of a widget by a link."""
    url = bench.url(widget)
    return opened(bench.chromium, f"{url}#{place(widget)}{query and '?'}{query}", **options)


def place(widget):
    """Return what links call the first widget of its kind."""
    return f"see-{type(widget).module.partition('/')[0].replace('_', '-')}"


class TestCopied:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_link_opens_in_the_state_in_which_it_was_copied(self, bench, name):
        widget = example(name)
        wanted = {trait: other(widget, trait, own) for trait, own in settable(widget).items()}
        url = bench.url(widget)
        with bench.tabs.opened(url, init=CLIPBOARD) as page:
            page.locator(".p-link").click()
            assert page.evaluate("window.copied") == f"{url}#{place(widget)}"
            if wanted:
                put(page, widget, **wanted)
                page.wait_for_timeout(200)
                page.locator(".p-link").click()
            link, shown = page.evaluate("window.copied"), state(page, widget)
            assert page.record.errors == []
        assert ("?" in link) == bool(wanted)
        assert len(link) < 2300
        with bench.tabs.opened(link) as page:
            again = state(page, widget)
            assert {t: again[t] for t in wanted} == {t: shown[t] for t in wanted}
            assert page.locator(LINE).count() == 0
            assert page.record.errors == []

    def test_it_names_what_differs_and_nothing_else(self, bench):
        widget = NormAxes(kind="rms")
        with bench.show(widget, init=CLIPBOARD) as page:
            put(page, widget, row=3, kind="layer")
            page.locator(".p-link").click()
            assert page.evaluate("window.copied").endswith("#see-norm-axes?kind=layer&row=3")
            put(page, widget, row=1)
            page.locator(".p-link").click()
            assert page.evaluate("window.copied").endswith("#see-norm-axes?kind=layer")

    def test_what_is_too_much_for_a_link_is_told(self, bench):
        widget = AttentionSteps()
        with bench.show(widget, init=CLIPBOARD) as page:
            put(page, widget, tokens=["a word " * 80] * 6)
            page.locator(".p-link").click()
            assert page.evaluate("window.copied ?? null") is None
            assert "too much for a link" in page.locator(LINE).inner_text()
            page.locator(LINE).get_by_label("Close").click()
            assert page.locator(LINE).count() == 0

    def test_without_a_clipboard_the_reader_copies_it(self, bench):
        with bench.show(NormAxes()) as page:
            page.locator(".p-link").click()
            assert page.locator(f"{LINE} input").input_value().endswith("#see-norm-axes")

    def test_a_notebook_has_no_such_item(self, bench):
        """There the module draws the same widget, and the site's scripts are not there."""
        url = bench.url(NormAxes())
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        html = re.sub(r'<script async src="[^"]*pieces/links\.js"></script>', "", html)
        with opened(bench.chromium, bench.write(html)) as page:
            assert page.locator(".pieces .p-foot").count() == 1
            assert page.locator(".p-link").count() == 0

    def test_the_item_does_not_make_a_widget_higher(self, bench):
        with bench.show(NormAxes(), PredictNumber("What?", 1.0), width=360) as page:
            before = [e.bounding_box()["height"] for e in page.locator(".pieces").all()]
            page.evaluate("document.querySelectorAll('.p-link').forEach((item) => item.remove())")
            assert [e.bounding_box()["height"] for e in page.locator(".pieces").all()] == before


class TestRead:
    @pytest.mark.parametrize("name", NAMES)
    def test_what_a_link_may_set_python_would_take(self, bench, name):
        widget = example(name)
        with bench.show(widget) as page:
            for trait, own in widget._limits.items():
                for value in [*ANY, other(widget, trait, own)]:
                    text = written(own["kind"], value)
                    if text is None or len(text) > 7000:
                        continue
                    values = page.evaluate(READ, f"{trait}={text}").get("values")
                    if values is None:
                        continue
                    assert not own.get("fixed"), f"{trait} is its author's"
                    assert values == {trait: value}
                    setattr(example(name), trait, value)  # which refuses what is not to be

    @pytest.mark.parametrize("name", NAMES)
    def test_it_may_set_what_the_page_itself_shows(self, bench, name):
        widget = example(name)
        with bench.show(widget) as page:
            for trait, own in settable(widget).items():
                value = getattr(widget, trait)
                said = page.evaluate(READ, f"{trait}={written(own['kind'], value)}")
                assert said == {"values": {trait: value}}, trait

    BAD = ("T", "T=", "T=99", "T=8.5", "T=1e1000", "T=[8]", "T=%", "T=%E0%A4%A", "t=8", "__proto__=8",
           "_limits={}", "kind=spiral", "kind=causal&T=99", "flips=[[-1,0]]", "flips=[[0]]", "x" * 9000,
           "reach=[]", "tokens=[1]", "=8", "T=8=8")  # fmt: skip

    @pytest.mark.parametrize("query", BAD, ids=lambda query: query[:30])
    def test_a_wrong_or_an_old_link_is_told_and_sets_nothing(self, bench, query):
        widget = MaskExplorer(T=5)
        with linked(bench, widget, query) as page:
            page.locator(LINE).wait_for()
            assert "something that the picture does not have" in page.locator(LINE).inner_text()
            assert state(page, widget)["T"] == 5
            assert state(page, widget)["flips"] == []
            assert state(page, widget)["kind"] == "causal"
            assert page.record.errors == []

    def test_a_picture_that_is_gone_is_told(self, bench):
        with opened(bench.chromium, f"{bench.url(NormAxes())}#see-mask-explorer?T=5") as page:
            page.locator(LINE).wait_for()
            assert "does not stand on this page" in page.locator(LINE).inner_text()

    def test_what_it_says_is_text(self, bench):
        query = f"kind={quote('<img src=x onerror=window.pwned=1>')}"
        with linked(bench, MaskExplorer(), query) as page:
            page.locator(LINE).wait_for()
            assert page.locator(f"{LINE} img").count() == 0
            assert page.evaluate("window.pwned ?? null") is None

    def test_each_of_a_kind_has_its_own_name_and_two_views_share_one(self, bench):
        one, two = NormAxes(), NormAxes()
        with bench.show(one, two, twice=True) as page:
            ids = page.eval_on_selector_all(".pieces-live", "(all) => all.map((e) => e.id)")
            assert ids == ["see-norm-axes", "see-norm-axes-2", "", ""]


class TestProse:
    """A link in the text of a page: pressed, it sets the picture, leads there, and back."""

    FAR = '<p><a id="one" href="#see-norm-placement?view=layers&amp;depth=300">deeper</a> {}</p>'

    @contextmanager
    def page(self, bench, between, **options):
        url = bench.url(NormPlacement())
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        text = self.FAR.format('<a id="two" href="#see-norm-placement?placement=pre">Pre</a>')
        html = html.replace("</h1>", f"</h1>{text}<div style='height: {between}px'></div>")
        with opened(bench.chromium, bench.write(html), **options) as page:
            yield page

    def test_a_press_sets_it_and_what_it_does_not_name_is_the_pages_own(self, bench):
        with self.page(bench, 0, height=1600) as page:
            before = picture(page)
            page.locator("#one").click()
            page.wait_for_function(
                "window.piecesLinks.write(document.querySelector('.pieces-live'))"
            )
            assert picture(page) != before
            assert self.written(page) == "depth=300&view=layers"
            assert page.locator(LINE).count() == 0, "it is in sight"
            assert page.evaluate("scrollY") == 0
            page.locator("#two").click()
            page.wait_for_function(
                "window.piecesLinks.write(document.querySelector('.pieces-live')) == 'placement=pre'"
            )

    def written(self, page):
        return page.evaluate("window.piecesLinks.write(document.querySelector('.pieces-live'))")

    @pytest.mark.parametrize("width", [1366, 390])
    def test_out_of_sight_it_leads_there_and_back(self, bench, width):
        with self.page(bench, 3000, width=width, height=768) as page:
            page.locator("#one").click()
            page.locator(LINE).wait_for()
            picture = page.locator(".pieces .p-pane:visible").first.bounding_box()
            assert 40 < picture["y"] < 500
            assert page.evaluate("document.activeElement.className").startswith("pieces")
            page.get_by_role("button", name="Back to where you read").click()
            page.wait_for_function("document.activeElement.id === 'one'")
            page.evaluate(PAINTED)
            assert page.evaluate("scrollY") == 0
            assert page.locator(LINE).count() == 0
            assert self.written(page) == "depth=300&view=layers", "what was set stays"

    @pytest.mark.parametrize("width", [1366, 390])
    def test_the_browsers_own_way_back_leads_there_too(self, bench, width):
        with self.page(bench, 3000, width=width, height=768) as page:
            address, entries = page.url, page.evaluate("history.length")
            for turn in (1, 2):
                page.locator("#one").click()
                page.locator(LINE).wait_for()
                page.wait_for_function("scrollY > 2500")
                assert page.evaluate("history.length") == entries + 1, f"press {turn}: one entry"
                page.go_back()
                page.wait_for_function("document.activeElement.id === 'one'")
                page.evaluate(PAINTED)
                assert page.evaluate("scrollY") == 0
                assert page.locator(LINE).count() == 0
                assert page.url == address
                assert self.written(page) == "depth=300&view=layers", "what was set stays"

    def test_the_bars_way_back_leaves_no_entry_to_go_through_again(self, bench):
        with self.page(bench, 3000, width=1366, height=768) as page:
            page.locator("#one").click()
            page.get_by_role("button", name="Back to where you read").click()
            page.wait_for_function("document.activeElement.id === 'one'")
            assert not page.evaluate("history.state?.pieces")
            page.locator("#two").click()  # and another press makes the first one of it again
            page.locator(LINE).wait_for()
            assert page.evaluate("history.state.pieces") == 1

    def test_the_bar_leads_back_from_a_heading_that_was_opened_since(self, bench):
        with self.page(bench, 3000, width=1366, height=768) as page:
            page.locator("#one").click()
            page.locator(LINE).wait_for()
            page.wait_for_function("scrollY > 2500")
            page.evaluate("history.pushState(null, '')")
            page.get_by_role("button", name="Back to where you read").click()
            page.wait_for_function("document.activeElement.id === 'one'")
            assert page.evaluate("scrollY") == 0

    def test_the_way_back_goes_when_the_reader_has_scrolled_back_or_on(self, bench):
        with self.page(bench, 3000, width=1366, height=768) as page:

            def offered(top):
                page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", top)
                page.evaluate(PAINTED)
                return page.locator(LINE).count() == 1

            page.evaluate(
                "document.body.insertAdjacentHTML('beforeend', '<p style=height:3000px>')"
            )
            for on, gone in ((120, 0), (-120, 0), (60, 2500)):
                page.locator("#one").click()
                page.locator(LINE).wait_for()
                there = page.evaluate("scrollY")
                assert offered(there + on), "the picture is still to be seen"
                assert not offered(gone and there + gone)
                assert not offered(there), "and it does not come again"
                page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")

    def test_in_a_fold_it_opens_it(self, bench):
        url = bench.url(NormAxes())
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        html = re.sub(r"(<div class=\"pieces-live\".*)</main>", r"<details><summary>s</summary>\1</details></main>", html, flags=re.S)  # fmt: skip
        with opened(bench.chromium, f"{bench.write(html)}#see-norm-axes?row=2") as page:
            page.wait_for_function("document.querySelector('details').open")
            assert page.locator(".pieces").is_visible()


class TestSight:
    """A widget higher than the window: a press leads to that of it which the link has changed."""

    LINKS: ClassVar = {
        "view=position": ".p-board, .p-years",
        "view=norm&words=sources": ".p-board, .p-years",
        "one=T5&two=Gemma": '.p-pair [data-trait="one"]',
        "by=total&falling=true": ".p-pane tbody tr",
        "words=sources": ".p-pane tbody tr",
        "ours=true&by=year&falling=true": ".p-pane tbody tr",
    }
    BAR = """<div class="bd-header-article" style="position: sticky; top: 0; height: 48px; display: flex;
      background: #ddd; z-index: 9"><button style="width: 40px">menu</button><i style="flex: 1"></i>
      <button style="width: 40px">one</button><button style="width: 40px">two</button></div>"""

    @contextmanager
    def page(self, bench, script="", **options):
        """The table of models, and the links in a text below it."""
        url = bench.url(ModelTable())
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        links = [f'<p><a href="#see-model-table?{query}">{query}</a></p>' for query in self.LINKS]
        html = html.replace("</main>", f"{''.join(links)}<p style='height: 4000px'></p></main>")
        html = html.replace("<body>", f"<body>{self.BAR}")
        if script:
            html = re.sub(r'src="[^"]*pieces/links\.js"', f'src="{script}"', html)
        with opened(
            bench.chromium, bench.write(html), **{"width": 1366, "height": 768} | options
        ) as page:
            assert page.locator(".bd-header-article").count() == 1
            yield page

    def press(self, page, query):
        """Press a link in the middle of the window, once; return where it stood."""
        link = page.get_by_role("link", name=query, exact=True)
        link.evaluate(
            "(e) => scrollTo({ top: scrollY + e.getBoundingClientRect().top - innerHeight / 2 })"
        )
        page.wait_for_timeout(500)  # the host has given up what was kept free
        at = link.bounding_box()["y"]
        link.click()
        page.wait_for_timeout(700)
        return link, at

    def misses(self, page, query):
        """Whether what a link has changed is not in the upper half of the window."""
        self.press(page, query)
        top = page.locator(self.LINKS[query]).locator("visible=true").first.bounding_box()["y"]
        return not 48 <= top < (480 if page.viewport_size["width"] > 600 else 600)

    @pytest.mark.parametrize("width", [1366, 390])
    @pytest.mark.parametrize("query", LINKS)
    def test_the_first_press_shows_what_it_changed(self, bench, query, width):
        with self.page(bench, width=width) as page:
            assert not self.misses(page, query)
            assert page.record.errors == []

    @pytest.mark.parametrize("query", LINKS)
    def test_the_way_back_covers_nothing_and_leads_back(self, bench, query):
        """Also where the widget has another height than before."""
        with self.page(bench) as page:
            link, at = self.press(page, query)
            bar = page.locator(LINE).bounding_box()
            assert 0 <= bar["y"]
            assert bar["y"] + bar["height"] <= 48, "within the site's bar"
            for other in page.locator(".bd-header-article button").all():
                box = other.bounding_box()
                assert bar["x"] + bar["width"] <= box["x"] or box["x"] + box["width"] <= bar["x"]
            page.get_by_role("button", name="Back to where you read").click()
            page.wait_for_timeout(200)
            assert link.bounding_box()["y"] == pytest.approx(at, abs=2)
            assert page.locator(LINE).count() == 0

    def test_in_a_narrow_bar_it_is_short(self, bench):
        with self.page(bench, width=320) as page:
            self.press(page, "view=position")
            back = page.get_by_role("button", name="Back to where you read")
            assert back.inner_text() == "↩ Back"
            box = page.locator(LINE).bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= 320

    def test_what_is_in_sight_stays_there(self, bench):
        with self.page(bench) as page:
            self.press(page, "one=T5&two=Gemma")
            before = page.evaluate("scrollY")
            page.get_by_role("link", name="one=T5&two=Gemma").evaluate("(e) => e.click()")
            page.wait_for_timeout(500)
            assert abs(page.evaluate("scrollY") - before) < 2

    FAULTS: ClassVar = {
        "the whole widget": ("!boxes.length || stuck", "true", "one=T5&two=Gemma", 1366),
        "what is folded counts": ("&& node.checkVisibility()", "", "one=T5&two=Gemma", 1366),
        "its sentence counts": ('".p-say, .p-voice"', '".p-voice"', "words=sources", 1366),
        "what is scrolled away counts": ("> node.clientHeight + 1", "> 1e9", "ours=true&by=year&falling=true", 390),
    }  # fmt: skip

    @pytest.mark.parametrize("fault", FAULTS)
    def test_each_part_of_it_is_needed(self, bench, fault):
        stands, instead, query, width = self.FAULTS[fault]
        source = (STATIC / "links.js").read_text(encoding="utf-8")
        assert source.count(stands) == 1, f"links.js has no {stands!r} now"
        name = f"links_{abs(hash(fault))}.js"
        (bench.folder / name).write_text(source.replace(stands, instead), encoding="utf-8")
        with self.page(bench, name, width=width) as page:
            assert self.misses(page, query), "the fault does nothing"


FAULTS = {
    "what is its author's": ("&& !own.fixed", "", PredictNumber("?", 1.0), "answer=2", None),
    "a number out of range": ("x >= low && x <= high", "true", NormAxes(), "row=99", None),
    "half of a whole one": ("count: (x, own) => whole(x)", "count: (x, own) => true", NormAxes(),
                            "row=1.5", None),
    "a side too long": ("if (!list(x, most))", "if (!list(x))", NormAxes(), f"X={json.dumps([[1]] * 7)}", None),
    "a name of no part": ("named(x, own)", "true", "WholeModel", "part=layer.0.norm", None),
    "one that is no option": ("options.includes(x)", "x", NormAxes(), "kind=none", None),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_rule_is_needed(bench, fault):
    """Without it, what it keeps out comes in: so the tests above would see the fault."""
    stands, instead, widget, query, wanted = FAULTS[fault]
    widget = example(widget) if isinstance(widget, str) else widget
    source = (STATIC / "links.js").read_text(encoding="utf-8")
    assert stands in source, f"links.js has no {stands!r} now: say the fault in its new words"
    told = []
    for text in (source, source.replace(stands, instead)):
        name = f"links_{abs(hash(text))}.js"
        (bench.folder / name).write_text(text, encoding="utf-8")
        url = bench.url(widget)
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        html = re.sub(r'src="[^"]*pieces/links\.js"', f'src="{name}"', html)
        with opened(bench.chromium, bench.write(html)) as page:
            page.evaluate(PAINTED)
            told.append(page.evaluate(READ, query).get("values"))
    assert told[0] is wanted
    assert told[1], "the fault does nothing"
