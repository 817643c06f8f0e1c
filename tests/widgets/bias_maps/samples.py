"""BiasMaps: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import BiasMaps

# A widget, and what a reader does with it.
PICTURES = {
    "penalty": (lambda: BiasMaps(T=14, heads=6, head=5, query=12, key=3), None),
    "small slopes": (lambda: BiasMaps(T=8, heads=8, head=7, query=7, key=3), None),
    "both sides": (lambda: BiasMaps(T=12, heads=4, query=3, key=9, bidirectional=True), None),
    "buckets": (lambda: BiasMaps(kind="t5", T=40, num_buckets=12, max_distance=30, query=38,
                                 key=20), None),
    "its own bucket": (lambda: BiasMaps(kind="t5", T=12, query=7, key=7), None),
    "buckets ahead": (lambda: BiasMaps(kind="t5", T=30, num_buckets=16, max_distance=20, query=4,
                                       key=21, bidirectional=True), None),
}  # fmt: skip
