"""Your answers: what a chapter keeps is in the table, goes into a file, and comes back from it."""

import json

import pytest

from browser import opened
from pieces.book.answers import by_chapter, read_answers
from pieces.book.ask import names, question
from pieces.book.thread import chapter_places

PAGE = "chapters/appendix/answers.html"
RIGHT, MASK, OPEN = "3.2", "5.3", "3.5"
READY = "document.querySelector('.answers-panel')?.hidden === false"


def keep(name, typed, right=None):
    """Return a script that leaves an answer as a chapter would."""
    told = question(name)
    kind = "mask" if hasattr(told["answer"], "dtype") else "predict"
    kept = {f"pieces:{kind}:{told['question']}": typed, f"pieces:right:{told['question']}": right}
    pairs = {key: text for key, text in kept.items() if text is not None}
    return f"Object.entries({json.dumps(pairs)}).forEach((pair) => localStorage.setItem(...pair))"


def filled(name):
    """Return a mask's answer as the page keeps it."""
    return json.dumps(question(name)["answer"].tolist())


def row(page, name):
    return page.locator(f".answers tr[data-exercise='{name}']").inner_text().split("\t")


def saved(page, path, who=""):
    """Press the button, and return the file."""
    if who:
        page.get_by_label("Your name").fill(who)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    download.value.save_as(path)
    return download.value.suggested_filename


def bring(page, path):
    page.locator("input[type=file]").set_input_files(path)
    page.wait_for_function("document.querySelector('.answers-panel [role=status]').innerText")
    return page.locator(".answers-panel [role=status]").inner_text()


@pytest.fixture
def fresh(chromium, home):
    """The page, in a browser that has kept nothing."""
    with opened(chromium, f"{home}/{PAGE}") as page:
        page.wait_for_function(READY)
        yield page


def test_every_question_has_its_row(fresh):
    shown = fresh.eval_on_selector_all(
        ".answers tbody tr", "(all) => all.map((r) => r.dataset.exercise)"
    )
    assert sorted(shown) == sorted(names())
    for name in (RIGHT, MASK):
        assert row(fresh, name)[1] == question(name)["question"]
    assert f"0 of {len(names())}" in fresh.locator(".answers-count").inner_text()
    fresh.get_by_role("button", name="Save as a file").click()
    assert "nothing to save" in fresh.locator(".answers-panel [role=status]").inner_text()


def test_what_a_chapter_was_told_is_here(chromium, home):
    """Typed in the chapter, key by key; wrong, then right, then something else."""
    with opened(chromium, f"{home}/chapters/03_attention.html") as page:
        asked = page.locator(".pieces", has_text=question(RIGHT)["question"][:60])
        field = asked.get_by_label("Your answer")
        field.scroll_into_view_if_needed()
        for text, row_says in [
            ("0.7", "not right yet"),
            ("0.88", "✓ right"),
            ("0.9", "✓ 0.88 was right"),
        ]:
            field.fill("")
            field.press_sequentially(text)
            field.press("Enter")
            other = page.context.new_page()
            other.goto(f"{home}/{PAGE}")
            other.wait_for_function(READY)
            assert row(other, RIGHT)[2:] == [text, row_says]
            other.close()


def test_a_file_brings_everything_to_another_browser(chromium, home, fresh, tmp_path):
    file = tmp_path / "a.json"
    init = ";".join(
        [keep(RIGHT, "0.88", "0.88"), keep(MASK, filled(MASK), filled(MASK)), keep(OPEN, "7")]
    )
    with opened(chromium, f"{home}/{PAGE}", init=init) as page:
        page.wait_for_function(READY)
        assert "2 of" in page.locator(".answers-count").inner_text()
        assert saved(page, file, "Ada Lovelace") == "answers-Ada-Lovelace.json"
        before = [row(page, name) for name in (RIGHT, MASK, OPEN)]
    assert bring(fresh, file) == "3 answers brought back."
    assert [row(fresh, name) for name in (RIGHT, MASK, OPEN)] == before
    told = read_answers(file)
    assert told == ("Ada Lovelace", [RIGHT, MASK])
    line = by_chapter([told]).splitlines()[-1].split()
    assert line[2:] == [str({3: 1, 5: 1}.get(n, 0)) for n in chapter_places()] + ["2"]


def test_nothing_right_and_nothing_typed_is_lost(chromium, home, tmp_path):
    """A right answer stays; a begun one goes only for a right one."""
    file = tmp_path / "b.json"
    theirs = [
        {"exercise": RIGHT, "typed": "0.1", "right": None},
        {"exercise": OPEN, "typed": "9", "right": None},
        {"exercise": "3.1", "typed": "5.7", "right": "5.7"},
        {"exercise": "99.9", "typed": "1", "right": "1"},
    ]
    told = {"book": "Transformer, Piece by Piece", "version": 1, "who": "", "answers": theirs}
    file.write_text(json.dumps(told), encoding="utf-8")
    init = ";".join([keep(RIGHT, "0.88", "0.88"), keep(OPEN, "7"), keep("3.1", "4")])
    with opened(chromium, f"{home}/{PAGE}", init=init) as page:
        page.wait_for_function(READY)
        assert bring(page, file) == "1 answer brought back; 2 stayed as they were here."
        assert row(page, RIGHT)[2:] == ["0.88", "✓ right"]
        assert row(page, OPEN)[2:] == ["7", "not right yet"]
        assert row(page, "3.1")[2:] == ["5.7", "✓ right"]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"book": "Another"}', "\x00\xff"])
def test_another_file_is_refused_politely(fresh, tmp_path, text):
    file = tmp_path / "strange.json"
    file.write_bytes(text.encode("latin-1"))
    assert "“strange.json” is not a file of answers" in bring(fresh, file)
    assert fresh.record.errors == []
    with pytest.raises(ValueError, match=r"path = .*strange\.json.*file of answers"):
        read_answers(file)
