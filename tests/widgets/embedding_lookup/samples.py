"""EmbeddingLookup: pictures that its oracle must take, on which faults are tried."""

import torch

from pieces.widgets import EmbeddingLookup
from pieces.widgets.embedding_lookup import W

# Numbers that nobody chose, and one of them as it was before a change.
OTHER = (1.5 * torch.randn(8, 4, generator=torch.Generator().manual_seed(5))).clamp(-5, 5)
OTHER = OTHER.round(decimals=1)
WAS = OTHER.clone()
WAS[5, 2] += 2.5


def chosen(page):
    page.locator(".p-chip").nth(4).click()


# A widget, and what a reader does with it.
PICTURES = {
    "dog": (lambda: EmbeddingLookup(), None),
    "bare": (lambda: EmbeddingLookup(W=OTHER, positions=False, row=3, column=4, token=1), chosen),
    "changed": (
        lambda: EmbeddingLookup(
            W=OTHER, before=WAS, text="Tom found Lily , Lily found Tom", row=6, column=3
        ),
        None,
    ),
    "chinese": (lambda: EmbeddingLookup(language="chinese", before=W, token=6, column=2), None),
    "nothing": (lambda: EmbeddingLookup(text="xyz"), None),
}  # fmt: skip
