"""The measures themselves, on texts and on a page of which one knows what they must say."""

import nbformat.v4 as nb
import pytest

import chapter_text as words
from browser import opened
from chapter_numbers import PAGE, TEXT, Chapter
from chapter_page import PHONE, Page, measure


def sentences(text):
    return words.sentences(text)


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "lengths"),
        [
            ("One two three. Four five!", [3, 2]),
            ("Vaswani et al. (2017) divide, e.g. by the root, i.e. once.", [11]),
            ("It is $x_i$, that is, $s = q \\cdot k$.", [6]),
            ("So that\n\n$$\na = b.\n$$\n\nNext one here.", [3, 3]),
            ("So that\n$$\na = b,\n$$\nwhere `b` is *known*. Yes", [7, 1]),
            ("# A title of words\n\n| a | table |\n|---|---|\n| b | c |\n\nText.", [1]),
            ("- an item here\n- another. And more\n\n1. a step", [3, 1, 2, 2]),
            ("> **Exercise 3.1 · A title**\n>\n> Do it now.", [3]),
            ('Does it? "Yes," it says. It\'s 3.5 of 4 nats.', [2, 3, 5]),
            ("A dash – or two — is no word.", [7]),
            ("See the [long link](x.md) here.", [5]),
            ("```python\nx = 1. Not prose.\n```\n\nProse it is.", [3]),
        ],
    )
    def test_their_words_are_counted(self, text, lengths):
        assert [words.count(sentence) for sentence in sentences(text)] == lengths

    def test_the_numbers_of_a_chapter(self):
        book = nb.new_notebook(cells=[nb.new_markdown_cell("One two three four. " + "W " * 20)])
        assert words.sentence_numbers(book) == (12, 0.5)


class TestLetters:
    @pytest.mark.parametrize(
        ("formula", "found"),
        [
            (r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}", "s i j q k d"),
            (r"\mathrm{softmax}(S)\,V \tag{5.5}", "S V"),
            (r"\alpha_j = e^{-\infty} \odot \text{a word}", "alpha j"),
            (r"\begin{cases} 0 & j \le i \end{cases}", "j i"),
            (r"\lVert W^\top x \rVert, \qquad \ln n", "W x n"),
        ],
    )
    def test_of_a_formula(self, formula, found):
        assert words.letters(formula) == set(found.split())

    def test_the_notation_page_knows_its_own_and_not_the_papers(self):
        known = words.known_letters()
        assert set("BTSDHGKFVEqkvsaoxijQXW") <= known
        assert not {"xi", "rho"} & known
        assert "N" in words.known_letters(17), "the size of a state space"
        assert "N" not in words.known_letters(6), "heads are N in a paper, and H here"

    def test_a_letter_of_one_chapter_is_strange_in_another(self):
        assert "gamma" in words.known_letters(10)
        assert "gamma" in words.known_letters()
        assert "gamma" not in words.known_letters(3)

    def test_no_letter_means_two_things_in_one_chapter(self):
        told = [(formula, number) for formula, many in words.local_letters() for number in many]
        assert len(told) > 40
        assert len(set(told)) == len(told), sorted(told)

    def test_strange_ones_are_named_with_their_formula(self):
        text = "They write $N$. $q_i$ in $d_k$, $\\rho_i$, $s / \\sqrt{D}$, $\\sqrt{D}$, `$\\rho$`"
        text += "\n\n## Notes on the source texts\n\n$\\xi$"
        strange = words.strange_letters(nb.new_notebook(cells=[nb.new_markdown_cell(text)]))
        assert strange == {
            "rho": r"\rho_i",
            "d": "d_k",
            "d with an index, where K or D is meant": "d_k",
            "√D, where √K is meant": r"s / \sqrt{D}",
        }


class TestOpenCode:
    def lines(self, source, tags=(), before="## Text"):
        cell = nb.new_code_cell(source, metadata={"tags": list(tags)})
        return words.shown_checks(nb.new_notebook(cells=[nb.new_markdown_cell(before), cell]))

    @pytest.mark.parametrize(
        "source",
        [
            "assert a == b",
            "torch.testing.assert_close(a, b)",
            "print(torch.allclose(a, b))",
            'print("✓ checked")',
            "check.attend(attend)",
        ],
    )
    def test_a_check_is_found_unless_it_is_folded(self, source):
        assert self.lines(f"a = 1\n{source}") == [source]
        for tag in ("hide-input", "hide-cell", "remove-input"):
            assert self.lines(source, [tag]) == []

    def test_mathematics_is_no_check(self):
        assert self.lines("x = torch.randn(3).requires_grad_()\nchecked = x @ x") == []

    def test_a_reader_may_check_an_answer(self):
        assert self.lines("check.attend(attend)", before="## Exercises\n\n### One") == []
        assert self.lines("assert right", before="## Exercises") == ["assert right"]
        assert self.lines("check.attend(attend)", before="## Exercises\n\n## Summary")


def test_a_jump_between_headings():
    assert words.heading_jumps([1, 2, 3, 2, 3, 4, 2]) == []
    assert words.heading_jumps([1, 3, 2, 4]) == [(1, 3), (2, 4)]


CODE = '<div class="cell_input"><div class="highlight-ipython3"><pre>a\nb\nc\n</pre></div></div>'
HTML = f"""<!doctype html><style>
* {{ margin: 0; padding: 0 }} pre {{ font: 10px/20px monospace }} article {{ height: 10000px }}
.pieces-table {{ width: 100px; overflow: auto }} .output pre {{ height: 500px }}
</style><article class="bd-article"><h1 style="height: 700px">One</h1>
<div class="pieces-live" style="height: 1000px"><h2>In a widget</h2></div>
<details><div class="pieces-live" style="height: 999px"></div>
<div class="cell_input"><pre>folded\nfolded\n</pre></div></details>
<div class="cell">{CODE}
<div class="cell_output"><div class="output"><pre>printed</pre></div></div></div>
<div class="pieces-code"><div class="highlight"><pre>d\ne\n</pre></div></div>
<div class="pieces-table"><p style="width: 300px">wide</p></div>
<h4>Four</h4></article>"""


def test_a_page_whose_numbers_are_known(chromium, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(HTML, encoding="utf-8")
    with opened(chromium, path.as_uri(), width=PHONE[0], height=PHONE[1]) as page:
        seen = measure(page)
    assert seen.first_widget == 700
    assert seen.length == 10_000
    assert seen.widget_share == 0.1
    assert [lines for lines, _ in seen.blocks] == [3, 2]
    assert seen.code_share == 0.01
    assert seen.longest_block == (3, "a\nb\nc")
    assert seen.wide == ["pieces-table: wide"]
    assert seen.page_width == PHONE[0]
    assert seen.headings == [1, 2, 4]


def test_every_number_can_be_wrong():
    """A page and a text with everything wrong at once fit nowhere."""
    worst = {
        "first_widget": 2000,
        "length": 20_000,
        "widgets": 0,
        "code": 9000,
        "blocks": [[17, "x"]],
        "wide": ["pre"],
        "page_width": 500,
        "headings": [1, 3],
    }
    chapter = Chapter("chapters/03_attention", Page(**worst), Page(**worst))
    folded = nb.new_code_cell("y = 1\n" * 170, metadata={"tags": ["hide-input"]})
    cells = [nb.new_markdown_cell("So $N$. No. Yes."), nb.new_code_cell("assert x"), folded]
    chapter.__dict__["book"] = nb.new_notebook(cells=cells)
    for number in (*PAGE, *TEXT):
        assert not number.fits(number.measure(chapter), chapter), number.name
