"""BytePairs: learnt from what is typed, key by key, played and stepped; its twin."""

import pytest
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import put, state
from pieces.byte_pairs import characters, cut_into_pieces, learn_merges, utf8_bytes
from pieces.tasks.corpus import prose
from pieces.widgets import BytePairs
from widgets.byte_pairs.samples import CHINESE

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("text", "a" * 601), ("merges", 41), ("merges", -1), ("unit", "words"), ("word", "a" * 41)],
)
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        BytePairs(**{trait: value})


def test_typed_key_by_key(bench):
    """Each key is learnt from at once; what is wished of merges stays while a text is too short."""
    widget = BytePairs(merges=6)
    with recorded(bench, widget) as page:
        field = page.get_by_label("Type a text to learn from")
        field.fill("")
        check(page, widget)
        for key in "banana 爱爱🚀🚀 banana":
            field.press_sequentially(key)
            assert field.input_value() == state(page, widget)["text"]
        check(page, widget)
        assert state(page, widget)["merges"] == 6
        field.press_sequentially(" bandana banana nab bands bands nabs")
        check(page, widget)
        assert len(state(page, widget)["learnt"]) == 6
        word = page.get_by_label("Type a word it may not have seen")
        word.fill("")
        for key in "anab🚀":
            word.press_sequentially(key)
        check(page, widget)


def test_stepped_scrubbed_and_played(bench):
    widget = BytePairs()
    with recorded(bench, widget) as page:
        on, back = (page.get_by_role("button", name=name) for name in ("Step forward", "Step back"))
        for n in range(1, 4):
            on.click()
            assert state(page, widget)["merges"] == n
            check(page, widget)
        back.click()
        assert state(page, widget)["merges"] == 2
        scrub = page.get_by_label("Merges").locator("input")
        scrub.focus()
        scrub.press("End")
        check(page, widget)
        last = page.locator(".p-learnt li").last
        inside = (
            "(li) => { const [a, b] = [li, li.parentNode].map((n) => n.getBoundingClientRect());"
        )
        inside += " return a.bottom <= b.bottom + 1 && a.right <= b.right + 1; }"
        assert last.evaluate(inside), "the newest merge is in sight"
        scrub.press("Home")
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("document.querySelector('.p-play-at').value.startsWith('3 of')")
        page.get_by_role("button", name="Pause").click()
        check(page, widget)


def test_a_piece_under_the_pointer_lights_all_like_it(bench):
    widget = BytePairs(merges=8)
    with recorded(bench, widget) as page:
        page.locator(".p-fresh").first.hover()
        lit = page.locator(".p-piece.p-on")
        assert set(lit.all_inner_texts()) == {"he·"}
        assert lit.count() == 4
        assert page.locator(".p-learnt li.p-on").all_inner_texts() == ["8. h + e· → he·"]
        page.mouse.move(2, 2)
        check(page, widget)


def test_another_unit_and_set_by_python(bench):
    widget = BytePairs(text=CHINESE, merges=4)
    with recorded(bench, widget) as page:
        page.get_by_label("begin with").select_option("bytes")
        check(page, widget)
        put(page, widget, text="<b>a</b> <b>", merges=2, unit="characters", word="<i>")
        check(page, widget)
        assert page.locator(".p-pieces b").count() == 0, "typed text is only text"


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("byte_pairs/pairs",)) as opened:
        yield opened


@pytest.mark.parametrize(
    "text", [prose()[3000:3600], CHINESE, "aaaa aaa aa abab", "\u3000 \u00a0", "e\u0301 é ﬁ 🚀！"]
)
@pytest.mark.parametrize(
    ("name", "symbols"), [("characters", characters), ("utf8Bytes", utf8_bytes)]
)
def test_it_learns_as_the_package_does(twin, text, name, symbols):
    merges = learn_merges(text, 30, symbols=symbols)
    plain = lambda p: p.hex() if isinstance(p, bytes) else p  # noqa: E731
    found = twin(f"pairs.learnMerges(a.text, 30, pairs.{name}).merges", text=text)
    assert [(m["left"], m["right"], m["count"]) for m in found] == [
        (plain(a), plain(b), n) for a, b, n in merges
    ]
    other = f"{text[::-1]} 爱 shell"
    cut = twin(f"pairs.cutIntoPieces(a.other, a.merges, pairs.{name})", other=other, merges=found)
    ours = cut_into_pieces(other, merges, symbols=symbols)
    assert cut == [[plain(p) for p in word] for word in ours]


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widget = BytePairs(merges=12, unit="bytes", text=CHINESE, word="w" * 40)
    with recorded(bench, widget, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-pieces, .p-compare").evaluate_all(inside)
        page.get_by_role("button", name="Step forward").tap()
        check(page, widget)
