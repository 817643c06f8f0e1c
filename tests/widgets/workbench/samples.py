"""Workbench: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import Workbench


def swap_a_part(page):
    page.get_by_label("activation").select_option("gelu")
    page.locator(".p-bench-part[data-part=attention]").first.click()


def type_an_odd_size(page):
    field = page.get_by_label("head size K, exactly")
    field.press("Control+a")
    field.press_sequentially("15")
    field.blur()


def press_a_variant(page):
    page.locator(".p-bench-variant[data-name='no positions']").click()


# A widget, and what a reader does with it.
PICTURES = {
    "baseline": (Workbench, swap_a_part),
    "experts": (lambda: Workbench(n_experts=6, n_chosen=2, n_heads=6, n_kv_heads=4, head_dim=12,
                                  place="sandwich", norm="layer", position="learned", bias=True,
                                  tied=False, mask="window", window=20, n_layers=3), type_an_odd_size),
    "deep": (lambda: Workbench(place="deep", norm="layer", n_layers=14, score="additive",
                               activation="relu", position="t5", mask="prefix", prefix_len=200,
                               n_experts=3, n_chosen=7), None),
    "bare": (lambda: Workbench(norm="none", place="post", score="bilinear", mask="full",
                               position="alibi", activation="geglu", n_layers=1), None),
    "variant": (lambda: Workbench(d_model=72, n_kv_heads=2), press_a_variant),
    "odd": (lambda: Workbench(head_dim=17, n_kv_heads=3, position="rope"), None),
}  # fmt: skip
