"""PredictNumber: a number typed in, its verdict, its hints, and what a page remembers."""

import pytest
import torch
from trials import trials

from browser import state
from pieces.widgets import PredictNumber

TestOracle = trials(__file__)


def quarter(**more):
    given = {"question": "What is 1/4?", "answer": 0.25, "hint": "Halve a half.", "why": "1 : 4."}
    return PredictNumber(**(given | more))


def answer_with(page, text, key="Enter"):
    field = page.get_by_label("Your answer")
    field.fill(text)
    if key:
        field.press(key)
    else:
        page.get_by_role("button", name="Check").click()
    return page.locator(".p-say").inner_text()


class TestPredictNumber:
    def test_where_percentages_are_asked_for_the_sign_is_only_a_sign(self, bench):
        """81 % is 81 there, and 0.81 is not."""
        widget = quarter(question="What percentage of four is three?", answer=75, tolerance=5)
        with bench.show(widget) as page:
            for text in ("75", "75 %", "78%", "300/4 %"):
                assert answer_with(page, text).startswith("✓ Right"), text
            for text in ("0.75", "0.75 %", "7500 %"):
                assert answer_with(page, text).startswith("✗"), text

    @pytest.mark.parametrize(
        "text",
        ["0.25", ".25", "0,25", " 0.254 ", "2.5e-1", "+0.25", "1/4", " −2 / -8 ", "25%", "25 % "],
    )
    @pytest.mark.parametrize("key", ["Enter", None], ids=["keyboard", "mouse"])
    def test_takes_the_right_number(self, bench, text, key):
        widget = quarter()
        with bench.show(widget) as page:
            said = answer_with(page, text, key)
            assert said.startswith("✓ Right")
            assert "1 : 4." in said
            assert state(page, widget)["correct"] is True
            assert state(page, widget)["typed"] == text

    @pytest.mark.parametrize("text", ["0.26", "-0.25", "−0.25", "25", "0", "1e308"])
    def test_says_what_is_wrong_and_hints(self, bench, text):
        widget = quarter()
        with bench.show(widget) as page:
            said = answer_with(page, text)
            assert said.startswith("✗ Not")
            assert "Halve a half." in said
            assert "0.25" not in said.replace("−0.25", ""), "the answer is not given away"
            assert state(page, widget)["correct"] is False

    def test_a_wide_tolerance_is_the_answers_alone(self, bench):
        widget = quarter(answer=184, tolerance=60, slips=[(64, "The root."), (2, "Two.")])
        with bench.show(widget) as page:
            for typed, hint in (("64", True), ("66", True), ("100", False), ("120", False)):
                assert answer_with(page, typed).endswith("The root." if hint else "Halve a half.")
            assert answer_with(page, "2").endswith("Two.")
            assert answer_with(page, "5").endswith("Halve a half.")
            assert answer_with(page, "130").startswith("✓")

    def test_a_typical_slip_is_diagnosed(self, bench):
        slips = [(4, "That is the inverse."), (0.5, "That is a half.")]
        widget = quarter(slips=slips)
        with bench.show(widget) as page:
            assert answer_with(page, "4") == "✗ Not 4. That is the inverse."
            assert answer_with(page, "1/2") == "✗ Not 0.5. That is a half."
            assert answer_with(page, "0.49").endswith("Halve a half."), "near is not the slip"
            assert answer_with(page, "0.25").startswith("✓")

    def test_after_two_wrong_answers_the_right_one_may_be_seen(self, bench):
        widget = quarter()
        with bench.show(widget) as page:
            show = page.get_by_role("button", name="Show the answer")
            for text in ("0.3", "x", "0.3"):
                answer_with(page, text)
                assert not show.is_visible(), "the same answer again is no second try"
            answer_with(page, "0.4")
            show.click()
            assert page.locator(".p-say").inner_text() == "The answer is 0.25. 1 : 4."
            assert not show.is_visible()
            assert state(page, widget)["correct"] is False, "it was shown, not found"

    def test_no_answer_is_offered_where_it_was_found(self, bench):
        with bench.show(quarter()) as page:
            for text in ("1", "2", "0.25"):
                answer_with(page, text)
            assert not page.get_by_role("button", name="Show the answer").is_visible()

    @pytest.mark.parametrize(
        "text",
        ["", "a quarter", "NaN", "Infinity", "1/0", "/4", "1/", "1/2/3", "1e999", "<b>1</b>"],
    )
    def test_asks_for_a_number(self, bench, text):
        widget = quarter()
        with bench.show(widget) as page:
            assert answer_with(page, text).startswith("Type a number")
            assert state(page, widget)["correct"] is None
            assert page.get_by_label("Your answer").get_attribute("aria-invalid") == "true"
            assert answer_with(page, "0.25").startswith("✓")

    @pytest.mark.parametrize(
        ("typed", "shown"),
        [
            ("20", "20."),
            ("-3,50", "−3.5."),
            ("0.123456789", "0.123457."),
            ("1e9", "1,000,000,000."),
            ("12345678.5", "12,345,678.5."),
        ],
    )
    def test_a_number_is_said_as_one_would_write_it(self, bench, typed, shown):
        with bench.show(quarter()) as page:
            assert answer_with(page, typed).startswith(f"✗ Not {shown} ")

    @pytest.mark.parametrize(
        ("typed", "number"),
        [("1,000", 1000), ("12,345,678.5", 12345678.5), ("1,5", 1.5), ("0,125", 0.125),
         ("-2,500", -2500), ("1,000/4", 250), ("1e3", 1000), ("1000,5", 1000.5),
         ("12,34", 12.34), ("1,0000", 1)],
    )  # fmt: skip
    def test_a_comma_is_read_as_it_was_meant(self, bench, typed, number):
        widget = quarter(answer=number)
        with bench.show(widget) as page:
            assert answer_with(page, typed).startswith("✓ Right")

    @pytest.mark.parametrize("typed", ["1,00,000", "1,000,00", "0x10", "1 000 x", "1_000", "--1"])
    def test_what_may_mean_anything_is_no_number(self, bench, typed):
        with bench.show(quarter()) as page:
            assert answer_with(page, typed).startswith("Type a number")

    def test_a_long_word_is_whole_on_a_phone(self, bench):
        widget = quarter(
            question="Is multi_head_latent_attention_with_rotary_position_embeddings_" + "x" * 40
        )
        with bench.show(widget, width=320) as page:
            cut = page.locator(".p-question").evaluate(
                "(e) => [e.scrollWidth - e.clientWidth, e.closest('.pieces').scrollWidth"
                " - e.closest('.pieces').clientWidth]"
            )
            assert max(cut) <= 0

    @pytest.mark.parametrize(("tolerance", "right"), [(0.0, False), (0.02, True)])
    def test_the_tolerance_counts(self, bench, tolerance, right):
        widget = quarter(tolerance=tolerance)
        with bench.show(widget) as page:
            answer_with(page, "0.26")
            assert state(page, widget)["correct"] is right
            answer_with(page, "0.25")
            assert state(page, widget)["correct"] is True

    def test_what_is_called_right_is_the_answer_itself(self, bench):
        """2²⁰ was asked for: what was typed was printed, rounded, as the right answer."""
        with bench.show(quarter(answer=2**20, tolerance=10)) as page:
            assert answer_with(page, "1048576").startswith("✓ Right: 1,048,576. ")
            said = answer_with(page, "1048580")
            assert said.startswith("✓ Right: you said 1,048,580, and it is 1,048,576. ")

    @pytest.mark.parametrize(
        ("typed", "right"),
        [("1.22", True), ("1.2", True), ("1", False), ("1.23", False), ("1.21", False)],
    )
    def test_precision_is_not_punished_where_none_was_asked(self, bench, typed, right):
        """The answer rounded to the digits that were typed will do, from two on; a slip never."""
        widget = quarter(answer=1.5**0.5, tolerance=0.001, slips=[(1.0, "Half.")])
        with bench.show(widget) as page:
            said = answer_with(page, typed)
            assert said.startswith("✓ Right") == right
            assert not right or said.startswith(f"✓ Right: you said {typed}, and it is 1.22474. ")

    def test_an_old_verdict_goes_when_the_answer_changes(self, bench):
        with bench.show(quarter()) as page:
            answer_with(page, "0.3")
            page.get_by_label("Your answer").fill("0.25")
            assert page.locator(".p-say").inner_text() == ""

    def test_what_was_typed_survives_a_reload(self, bench):
        with bench.show(quarter()) as page:
            answer_with(page, "0.3")
            page.reload()
            page.wait_for_selector(".pieces")
            assert page.get_by_label("Your answer").input_value() == "0.3"

    @pytest.mark.parametrize(
        ("argument", "value"),
        [("question", ""), ("question", "  "), ("answer", float("nan")), ("answer", float("inf")),
         ("answer", None), ("answer", "a"), ("answer", torch.ones(2)), ("tolerance", -1.0),
         ("tolerance", float("nan")), ("hint", 5), ("why", None), ("slips", [1]), ("slips", [(1, 2)]), ("slips", [("1", "b")]),
         ("slips", [(float("nan"), "b")])],
    )  # fmt: skip
    def test_refuses(self, unchecked, argument, value):
        with pytest.raises(ValueError, match=argument):
            quarter(**{argument: value})

    def test_takes_a_tensor(self, unchecked):
        assert quarter(answer=torch.tensor(0.5)).answer == 0.5


@pytest.mark.parametrize(
    ("state", "rows"),
    [({"question": "Q" * 40}, 1), ({"question": "Q" * 41}, 2), ({}, None), ({"question": 7}, None)],
)
def test_a_number_tells_how_many_lines_its_question_has(state, rows):
    assert PredictNumber.rows_shown(state) == rows
