"""The picture oracle itself takes what is right, and each fault of faults.yaml makes it fail."""

from pathlib import Path

import pytest
import torch
import yaml
from oracle import check, recorded, wrong
from samples import story

from pieces import masks
from pieces.widgets import (
    Alignment,
    AttentionSteps,
    FillMask,
    HeadSplitter,
    MaskExplorer,
    PredictNumber,
    ScoreFunctions,
    ShuffleTokens,
)

X = (3 * torch.randn(6, 3, generator=torch.Generator().manual_seed(4))).round(decimals=2)


def wrong_fill(page):
    """A reader's try at the mask: the main diagonal, checked, its faults outlined."""
    board = page.locator(".p-board")
    for i in range(3):
        board.press("Escape")
        for key in ["ArrowDown"] * (i + 1) + ["ArrowRight"] * i + ["Enter"]:
            board.press(key)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Show which").click()


def open_table(page):
    page.locator("details summary").click()


def right_number(page):
    page.get_by_label("Your answer").fill("0.254")
    page.get_by_label("Your answer").press("Enter")


# Pictures that it must take, and on which faults are tried: a widget, and what a reader does.
PICTURES = {
    "causal": (lambda: MaskExplorer(T=6, flips=[[1, 4], [3, 0]], layers=2, token=2), None),
    "named": (lambda: MaskExplorer(kind="sliding_window", tokens=list("abcdefg"), window=2), None),
    "prefix": (lambda: MaskExplorer(kind="prefix", T=5, prefix_len=3, flips=[[0, 4]]), None),
    "reach": (lambda: MaskExplorer(T=7, view="reach", kind="sliding_window", layers=2,
                                   flips=[[1, 5]], token=3), None),
    "layers": (lambda: MaskExplorer(T=7, view="layers", kind="sliding_window", layers=2,
                                    flips=[[1, 4]], tokens=list("abcdefg")), None),
    "source": (lambda: MaskExplorer(T=6, view="layers", layers=3, kind="dilated", source=2), None),
    "padded": (lambda: MaskExplorer(tokens=list("abcdefg"), also="padding", length=4, side="left",
                                    token=6), None),
    "large": (lambda: MaskExplorer(kind="global_window", T=24, window=5, layers=3), None),
    "project": (lambda: AttentionSteps(X=X, step=0, row=3), None),
    "key": (lambda: AttentionSteps(X=X, step=1, row=3, tokens=[], column=0), None),
    "value": (lambda: AttentionSteps(X=X, step=2, row=1, column=3), None),
    "score": (lambda: AttentionSteps(X=X, step=3, row=2, column=5), None),
    "scale": (lambda: AttentionSteps(X=X, step=4, row=5), None),
    "softmax": (lambda: AttentionSteps(X=X, step=5, row=4, mask="causal"), None),
    "mix": (lambda: AttentionSteps(X=X, step=6, row=3, column=2), None),
    "shuffled": (lambda: ShuffleTokens(X=X, shuffle=3), None),
    "shuffled causal": (lambda: ShuffleTokens(X=X, shuffle=5, mask="causal"), None),
    "story": (lambda: story(layer=2, head=3), None),
    "story's middle": (lambda: story(head=4, token=4), None),
    "plane": (lambda: ScoreFunctions(temperature=2.0, n_keys=5, query_x=1.4, query_y=-0.8), None),
    "additive": (lambda: ScoreFunctions(score="additive", n_keys=4), None),
    "curve": (lambda: ScoreFunctions(score="dot", K=64, n_keys=6, temperature=2.0), None),
    "learned": (lambda: ScoreFunctions(score="additive", K=256, n_keys=4), None),
    "bilinear": (lambda: ScoreFunctions(score="bilinear", K=16, n_keys=9, temperature=0.5), None),
    "silenced": (lambda: ScoreFunctions(score="dot", query_x=0.4, query_y=1.8), None),
    "line": (lambda: ScoreFunctions(score="dot", K=1, n_keys=3), None),
    "fill": (lambda: FillMask(question="Causal?", answer=masks.causal(3, 4), rows=list("abc"),
                              columns=list("wxyz")), wrong_fill),
    "aligned": (lambda: Alignment(), None),
    "unchosen": (lambda: Alignment(text="明天那只大狗会在街上追两只鸟。", word=0), None),
    "spread": (lambda: Alignment(text="那个学生看见书", word=3), None),
    "splitter": (lambda: HeadSplitter(B=2, T=3, heads=3, head_dim=2, step=2), open_table),
    "splitter's view": (lambda: HeadSplitter(T=5, heads=4, head_dim=3, step=1, silenced=4), None),
    "splitter's silence": (lambda: HeadSplitter(B=2, T=6, heads=3, head_dim=3, step=4,
                                                silenced=2), open_table),
    "splitter's mix": (lambda: HeadSplitter(heads=4, head_dim=2, step=6, silenced=1), open_table),
    "predict": (lambda: PredictNumber(question="1/4?", answer=0.25), right_number),
}  # fmt: skip

FAULTS = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PICTURES)
def test_takes_what_is_right(bench, name):
    make, hands = PICTURES[name]
    widget = make()
    with recorded(bench, widget) as page:
        if hands:
            hands(page)
        check(page, widget)
        assert page.record.errors == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(bench, fault):
    name, module, stands, instead = FAULTS[fault].values()
    make, hands = PICTURES[name]

    def spoil(source):
        assert stands in source, f"{module} has no {stands!r} now: say the fault in its new words"
        return source.replace(stands, instead)

    widget = make()
    with recorded(bench, widget, patches=[(module, spoil)]) as page:
        assert page.record.errors == [], "a fault that throws proves nothing"
        if hands:
            hands(page)
        with wrong():
            check(page, widget)
