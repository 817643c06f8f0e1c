"""Alignment: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter

from pieces.widgets import Alignment

# A widget, and what a reader does with it.
PICTURES = {
    "aligned": (lambda: Alignment(), None),
    "unchosen": (lambda: Alignment(text="明天那只大狗会在街上追两只鸟。", word=0), None),
    "typed over": (lambda: Alignment(text="那只猫看见书", word=2), type_letter("狗", 3)),
    "doubtful": (lambda: Alignment(text="那个学生看见书", word=3), None),
    "spread": (lambda: Alignment(text="房上街个找好", word=3), None),
    "beside": (lambda: Alignment(text="朵小好", word=3), None),
}  # fmt: skip
