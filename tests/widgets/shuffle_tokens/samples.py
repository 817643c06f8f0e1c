"""ShuffleTokens: pictures that its oracle must take, on which faults are tried."""

from samples import X

from pieces.widgets import ShuffleTokens

# A widget, and what a reader does with it.
PICTURES = {
    "shuffled": (lambda: ShuffleTokens(X=X, shuffle=3), None),
    "shuffled causal": (lambda: ShuffleTokens(X=X, shuffle=5, mask="causal"), None),
}  # fmt: skip
