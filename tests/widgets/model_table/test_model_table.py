"""ModelTable: sorted, searched, filtered and compared by every hand; the counts are the package's."""

import json

import pytest
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, said, state
from pieces.widgets import ModelTable
from pieces.widgets.model_table import facts
from pieces.zoo import MODEL_TABLE, OUR_MODELS, build

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("one", "GPT-4"), ("norm", "BatchNorm"), ("view", "size"), ("by", "d_ff"), ("find", "x" * 61)],
)
def test_refuses_what_the_table_does_not_have(trait, value):
    with pytest.raises(ValueError, match=trait):
        ModelTable(**{trait: value})


def test_says_what_is_shown():
    told = repr(ModelTable(find="rope", norm="Pre RMS", by="total", falling=True, ours=True))
    assert told == ("ModelTable: 25 models and 6 of ours with norm Pre RMS, “rope”, as a table, by "
                    "total, falling; GPT-3 beside LLaMA-2")  # fmt: skip


def test_the_facts_are_the_packages_and_small():
    told = facts()
    assert [one["name"] for one in told] == [*MODEL_TABLE, *OUR_MODELS]
    assert [one["ours"] for one in told] == [False] * 25 + [True] * 6
    for one in told:
        assert one["total"] == sum(one["parts"].values())
    for name in ("T5", "Phi-3 mini"):
        own = next(one for one in told if one["name"] == name)
        assert own["total"] == sum(p.numel() for p in build(name).parameters())
    assert len(json.dumps(told)) < 40_000


def test_without_javascript_the_rows_are_there_as_printed(bench):
    """On a phone too, where the table scrolls in its own box."""
    context = bench.chromium.new_context(
        java_script_enabled=False, viewport={"width": 360, "height": 800}
    )
    page = context.new_page()
    page.goto(bench.url(ModelTable()))
    rows = [
        row.locator("td").all_inner_texts() for row in page.locator(".p-still tr:visible").all()
    ]
    assert [row[:1] for row in rows] == [[], *([name] for name in MODEL_TABLE)]
    assert rows[6] == ["MT-NLG", "causal", "530B", "–", "–", "–", "105", "128", "20,480"]
    assert rows[25] == [
        "T5", "encoder-decoder", "11B", "Pre RMS", "Relative", "ReLU", "24", "128", "1,024"
    ]  # fmt: skip
    for cells, one in zip(rows[1:], MODEL_TABLE.values(), strict=True):
        p = one.printed
        assert cells[6:] == [f"{n:,}" for n in (p.n_layers, p.n_heads, p.d_model)]
        assert cells[3:6] == [word or "–" for word in (p.norm, p.position, p.activation)]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()
    assert ModelTable(ours=True).still().count("<tr>") == 1 + 25 + 6


def test_sorts_by_keyboard_up_down_and_back(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        head = page.get_by_role("button", name="size")
        order = list(MODEL_TABLE)
        for by, falling, first in [("size", True, "PaLM"), ("size", False, "Mistral"),
                                   ("", False, order[0])]:  # fmt: skip
            head.press("Enter")
            now = state(page, widget)
            assert (now["by"], now["falling"], now["found"][0]) == (by, falling, first)
            check(page, widget)
        assert page.locator(".p-pane-table [role=status]").inner_text() == "In the order it came in"
        page.get_by_role("button", name="norm", exact=True).press("Space")
        assert state(page, widget)["found"][-2:] == ["MT-NLG", "LaMDA"], "blanks come last"
        check(page, widget)


def test_searches_key_by_key(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        field = page.get_by_role("searchbox", name="Search")
        field.focus()
        for letter in "swiglu 20":
            field.press(letter if letter != " " else "Space")
            check(page, widget)
        assert said(page).startswith("9 of 25 models with “swiglu 20”.")
        for letter in "19":
            field.press(letter)
            check(page, widget)
        assert state(page, widget)["found"] == []
        assert page.locator(".p-none").inner_text() == (
            "None of the 25 models has “swiglu 2019”. Ask for less, or press “Show all”."
        )
        for _ in "2019":
            field.press("Backspace")
        check(page, widget)
        page.get_by_role("button", name="Show all").press("Enter")
        assert state(page, widget)["find"] == field.input_value() == ""
        check(page, widget)


def test_a_size_is_found_as_prose_writes_it_and_no_larger_one_with_it(bench):
    with recorded(bench, ModelTable()) as page:
        page.locator(".p-find").press_sequentially("7B")
        page.evaluate(PAINTED)
        names = page.locator("tbody tr th").all_inner_texts()
        assert any("Mistral" in name for name in names)
        assert not any("GPT-3" in name or "LaMDA" in name for name in names)
    widget = ModelTable(find="7b")
    with recorded(bench, widget) as page:
        check(page, widget)


def test_a_star_finds_what_is_not_as_printed(bench):
    widget = ModelTable(find="*")
    with recorded(bench, widget) as page:
        assert state(page, widget)["found"] == []
        check(page, widget)
        page.get_by_label("these three").select_option("sources")
        assert state(page, widget)["found"] == ["MT-NLG", "Gopher", "Chinchilla", "Gemma"]
        check(page, widget)


def test_a_wish_is_cut_at_its_length(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        field = page.get_by_role("searchbox")
        field.press_sequentially("a" * 70)
        assert state(page, widget)["find"] == "a" * 60
        check(page, widget)


def test_filters_add_up_and_blanks_can_be_asked_for(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        page.get_by_label("norm", exact=True).select_option("Pre Layer")
        page.get_by_label("position", exact=True).select_option("RoPE")
        assert state(page, widget)["found"] == ["PaLM", "Pythia", "Falcon"]
        check(page, widget)
        page.get_by_role("button", name="Show all").click()
        page.get_by_label("activation", exact=True).select_option("blank")
        assert state(page, widget)["found"] == ["MT-NLG", "Gopher", "Chinchilla"]
        check(page, widget)
        page.get_by_label("these three").select_option("sources")
        assert state(page, widget)["found"] == [], "sources fill all three"
        check(page, widget)
        page.get_by_label("activation", exact=True).select_option("any")
        page.get_by_label("norm", exact=True).select_option("blank")
        assert state(page, widget)["found"] == ["LaMDA"], "no source says it"
        check(page, widget)


def test_a_pressed_model_is_compared_with_the_one_before(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        for name, pair in [("T5", ("T5", "GPT-3")), ("Gemma", ("Gemma", "T5")),
                           ("Gemma", ("Gemma", "T5")), ("T5", ("T5", "Gemma"))]:  # fmt: skip
            page.get_by_role("button", name=name, exact=True).press("Enter")
            now = state(page, widget)
            assert (now["one"], now["two"]) == pair
            assert page.evaluate("document.activeElement.textContent") == name
            check(page, widget)
        page.get_by_label("with", exact=True).select_option("Falcon")
        check(page, widget)
        page.get_by_role("button", name="positions").click()
        page.get_by_role("button", name="PaLM").press("Enter")
        assert page.evaluate("document.activeElement.textContent") == "PaLM", "the focus stays"
        check(page, widget)


def test_ours_stand_beside_and_are_marked(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        page.get_by_label("with six of ours").press("Space")
        assert state(page, widget)["found"][25:] == list(OUR_MODELS)
        assert page.get_by_role("button", name="†").count() == 6
        check(page, widget)


def test_is_a_table_for_a_screen_reader_on_a_phone_too(bench):
    for width in (1280, 360):
        with bench.show(ModelTable(), width=width) as page:
            table = page.get_by_role("table", name="as printed")
            assert table.get_by_role("columnheader").count() == 11
            assert table.get_by_role("rowheader").count() == 25
            assert table.get_by_role("cell").count() == 250
            assert bool(page.locator(".p-cards").count()) is (width == 360)


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("view", ["table", "activation"])
def test_fits_a_phone(bench, width, view):
    with bench.show(ModelTable(view=view, ours=True), width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-pane-table, .p-pane-years").evaluate_all(inside)
        assert page.record.errors == []


def test_set_by_python(bench):
    widget = ModelTable()
    with recorded(bench, widget) as page:
        put(page, widget, view="norm", words="sources", ours=True, one="Yi", two="Yi")
        check(page, widget)
        put(page, widget, view="table", by="d_model", find="PRE rms", position="RoPE")
        check(page, widget)
        put(page, widget, by="width", norm="BatchNorm", view="size")
        now = state(page, widget)
        assert (now["by"], now["norm"], now["view"]) == ("", "any", "table")
        check(page, widget)
