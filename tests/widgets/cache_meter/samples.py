"""CacheMeter: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import CacheMeter


def share_the_heads(page):
    """From 64 key-value heads to 32: the bars before stay as ghosts."""
    page.locator("[data-trait=n_kv_heads] input").press("ArrowLeft")


def choose_a_row(page):
    page.locator("[data-scheme=window]").focus()


# A widget, and what a reader does with it.
PICTURES = {
    "meter": (lambda: CacheMeter(), None),
    "meter, burst": (lambda: CacheMeter(context=32768, n_kv_heads=64, scheme="full",
                                        batch=2), share_the_heads),
    "meter, latent": (lambda: CacheMeter(n_layers=60, n_heads=128, n_kv_heads=128, weights=472,
                                         active=42, memory=640, context=131072, precision="int8",
                                         scheme="latent"), None),
    "meter, small": (lambda: CacheMeter(n_layers=28, n_heads=28, n_kv_heads=6, weights=15.2,
                                        active=20, memory=24, bandwidth=700, batch=16,
                                        context=8192, window=1024, precision="int4",
                                        scheme="single"), choose_a_row),
}  # fmt: skip
