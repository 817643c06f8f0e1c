"""The picture oracle itself takes what is right, and each fault of faults.yaml makes it fail."""

from pathlib import Path

import pytest
import torch
import yaml
from oracle import check, recorded, wrong
from samples import story

from pieces import masks
from pieces.widgets import (
    Activations,
    Alignment,
    AttentionSteps,
    BeyondLength,
    BiasMaps,
    ConfigCalculator,
    ExpertLoad,
    FillMask,
    HeadSplitter,
    HiddenUnits,
    MaskExplorer,
    NormAxes,
    NormPlacement,
    PositionWaves,
    PredictNumber,
    RotaryClock,
    RouterExplorer,
    SamplingExplorer,
    ScoreFunctions,
    ShuffleTokens,
)

BEFORE = [[2, -1, 4, 3], [1, 0, -2, 5], [6, 2, 3, 1], [-3, 1, 0, 2], [4, -2, 1, 1], [0, 3, 5, -4]]
AFTER = [[2, -1, 4, 3], [1, 7.5, -2, 5], *BEFORE[2:]]
NORM = {"X": AFTER, "before": BEFORE, "words": list("uvwxyz"), "texts": 2, "row": 2, "column": 2,
        "gain": [1.5, 2.0, -1.0, 1.0], "shift": [0.5, -0.5, 0.0, 1.0]}  # fmt: skip
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


def turn_a_size(page):
    page.locator("[data-trait=n_heads] input[type=range]").press("ArrowLeft")


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
    "batch norm": (lambda: NormAxes(kind="batch", **NORM), None),
    "layer norm": (lambda: NormAxes(kind="layer", eps=0.1, **NORM), None),
    "rms norm": (lambda: NormAxes(kind="rms", eps=1.0, **NORM), None),
    "text norm": (lambda: NormAxes(kind="text", **NORM | {"row": 5, "column": 1}), None),
    "hand norm": (lambda: NormAxes(X=[[1, 2, 3], [4, 5, 6]], kind="layer", column=3), None),
    "waves": (lambda: PositionWaves(d=12, length=30, column=5, position=7), None),
    "likeness": (lambda: PositionWaves(d=8, base=100, length=90, view="similarity", k=9), None),
    "turns": (lambda: PositionWaves(d=10, length=20, column=3, view="shift", k=4), None),
    "penalty": (lambda: BiasMaps(T=14, heads=6, head=5, query=12, key=3), None),
    "both sides": (lambda: BiasMaps(T=12, heads=4, query=3, key=9, bidirectional=True), None),
    "buckets": (lambda: BiasMaps(kind="t5", T=40, num_buckets=12, max_distance=30, query=38,
                                 key=20), None),
    "buckets ahead": (lambda: BiasMaps(kind="t5", T=30, num_buckets=16, max_distance=20, query=4,
                                       key=21, bidirectional=True), None),
    "clock": (lambda: RotaryClock(i=9, j=3, pair=0), None),
    "clock's score": (lambda: RotaryClock(view="score", i=10, j=1, peak=20), None),
    "clock's pairs": (lambda: RotaryClock(view="pairs", pair=2, pairing="mixed"), None),
    "clock's neighbours": (lambda: RotaryClock(view="pairs", pair=3, pairing="interleaved"), None),
    "clock slowed": (lambda: RotaryClock(view="scaling", skip=50, scaling="yarn", factor=4), None),
    "clock by LLaMA 3": (lambda: RotaryClock(view="scaling", skip=200, scaling="llama3"), None),
    "clock, dynamic": (lambda: RotaryClock(view="scaling", skip=100, scaling="dynamic"), None),
    "beyond": (lambda: BeyondLength(stretch=9, shown=["none", "learned", "alibi", "window"]), None),
    "beyond, slowed": (lambda: BeyondLength(what="scalings", stretch=12, factor="4"), None),
    "unit": (lambda: HiddenUnits(held=True, value=90.0), None),
    "unit's word": (lambda: HiddenUnits(layer=2, unit=158, token=7), None),
    "bends": (lambda: Activations(functions=["relu", "gelu", "gelu_tanh", "swish", "cdf"],
                                  slopes=True, beta=1.7, x=-1.3), None),
    "gate": (lambda: Activations(view="gate", gate="geglu"), None),
    "size": (lambda: Activations(view="size", d_model=4096, multiple_of="256"), None),
    "norms": (lambda: NormPlacement(placement="sandwich", step=60), None),
    "norms at the end": (lambda: NormPlacement(placement="deep", layers=2, lr=0.016, warmup=40,
                                               step=160), None),
    "norms inside": (lambda: NormPlacement(view="layers", placement="pre", depth=24), None),
    "norms deep": (lambda: NormPlacement(view="layers", depth=300, start="scaled",
                                         placement="deep"), None),
    "routes": (lambda: RouterExplorer(token=18), None),
    "routes, shut": (lambda: RouterExplorer(layer=2, token=7, closed=[[2, 2], [1, 4]],
                                            capacity=0.75), None),
    "loads": (lambda: ExpertLoad(step=240), None),
    "loads of sixteen": (lambda: ExpertLoad(setting="16 1", layer=2, seed=3, step=64,
                                            capacity=2.0), None),
    "writer": (lambda: SamplingExplorer(temperature=1.4, top_k=6, top_p=0.7, seed=3), None),
    "writer's world": (lambda: SamplingExplorer(written=["met", "a"], temperature=0.7), None),
    "writer's other": (lambda: SamplingExplorer(text="In a quiet street there lived a kind boy "
                                                "named Tom. He found"), None),
    "writer astray": (lambda: SamplingExplorer(written=["took", "zebra", "clouds", "a"]), None),
    "config": (lambda: ConfigCalculator(n_layers=40, d_model=5120, n_heads=40, n_kv_heads=8,
                                        bias=True, ff_bias=True, d_ff=13824, max_seq_len=4096,
                                        batch=4, cache_dtype="int8"), turn_a_size),
    "config, tied": (lambda: ConfigCalculator(vocab_size=496, d_model=96, n_layers=3, n_heads=4,
                                              d_ff=256, max_seq_len=8192, window=64,
                                              tied=True), None),
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
