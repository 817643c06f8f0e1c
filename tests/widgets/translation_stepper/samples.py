"""TranslationStepper: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter

from browser import PAINTED
from pieces.widgets import TranslationStepper

TEACHER = "昨天那个老师拿走了两本书。"


def take(word):
    """Return hands that press a candidate."""

    def hands(page):
        page.locator(f'.p-next-row[data-word="{word}"]').click()
        page.evaluate(PAINTED)

    return hands


def step_back(page):
    """The pointer leaves, and the film goes one step back."""
    page.get_by_label("Step back").click()
    page.mouse.move(2, 2)
    page.evaluate(PAINTED)


def step_on(page):
    """The film goes one step on, to a word of the reader's that is none of the likeliest."""
    page.get_by_label("Step forward").click()
    page.mouse.move(2, 2)
    page.evaluate(PAINTED)


# A widget, and what a reader does with it.
PICTURES = {
    "student": (lambda: TranslationStepper(), None),
    "one head": (lambda: TranslationStepper(text=TEACHER, step=4, layer=1, head=3, attention="decoder"), None),
    "encoder": (lambda: TranslationStepper(step=1, layer=1, head=2, attention="encoder"), None),
    "doubt": (lambda: TranslationStepper(text="那个学生看见书。", step=2, head=1), None),
    "overruled": (lambda: TranslationStepper(overruled=[[2, "teacher"], [9, "cat"], [20, "zebra"]], step=2), None),
    "unlikely": (lambda: TranslationStepper(overruled=[[2, "zebra"], [3, "river"]], step=2), None),
    "one more": (lambda: TranslationStepper(overruled=[[3, "river"]], step=1), step_on),
    "taken": (lambda: TranslationStepper(step=3), take("students")),
    "another text": (lambda: TranslationStepper(step=5), type_letter("猫", 1)),
    "back": (lambda: TranslationStepper(step=5), step_back),
    "beam": (lambda: TranslationStepper(search="beam", step=2), None),
    "beam's end": (lambda: TranslationStepper(search="beam", n_beams=2, step=23, text="那个学生看见书。"), None),
    "beam's winner": (lambda: TranslationStepper(search="beam", n_beams=2, step=23, text="。"), None),
    "wide beam": (lambda: TranslationStepper(search="beam", n_beams=5, step=5, attention="decoder"), None),
}  # fmt: skip
