"""ConfigCalculator: pictures that its oracle must take, on which faults are tried."""

from pieces.models.qwen2 import QWEN2_7B
from pieces.widgets import ConfigCalculator


def turn_a_size(page):
    page.locator("[data-trait=n_heads] input[type=range]").press("ArrowLeft")


def type_a_shorter_text(page):
    field = page.get_by_label("longest text, exactly")
    field.press("Control+a")
    field.press_sequentially("4096")
    field.blur()


# A widget, and what a reader does with it.
PICTURES = {
    "config": (lambda: ConfigCalculator(n_layers=40, d_model=5120, n_heads=40, n_kv_heads=8,
                                        bias=True, ff_bias=True, d_ff=13824, max_seq_len=4096,
                                        batch=4, cache_dtype="int8"), turn_a_size),
    "config, tied": (lambda: ConfigCalculator(vocab_size=496, d_model=96, n_layers=3, n_heads=4,
                                              d_ff=256, max_seq_len=8192, window=64,
                                              tied=True), None),
    "config, Qwen2": (lambda: ConfigCalculator.of(QWEN2_7B), type_a_shorter_text),
}  # fmt: skip
