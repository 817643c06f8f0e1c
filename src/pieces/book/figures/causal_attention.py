"""Masks as pictures: the family of them, who sees whom in a layer, and what goes wrong."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pieces import masks
from pieces.attention import MultiHeadAttention, masked_softmax
from pieces.book import plot
from pieces.book.tables import Table, table

Layer = Callable[[Tensor], Tensor]
MOVED = 1e-13  # in float64: what moves less has not moved


def family(T: int = 8) -> dict[str, Tensor]:
    """One mask of each kind over T tokens, by its name."""
    return {
        "causal": masks.causal(T),
        "prefix 3": masks.prefix(T, 3),
        "padding 6": masks.full(T) & masks.padding([6], T)[0, 0],
        "window 3": masks.sliding_window(T, 3),
        "dilated 3, step 2": masks.dilated(T, 3, 2),
        "1 global, window 2": masks.global_window(T, 2, 1),
    }


def draw_family(T: int = 8) -> None:
    """Draw the family: a row is a query, a column a key, a hatched cell is hidden."""
    fig, axes = plot.figure(5.4, 2.7, rows=2, columns=3)
    for ax, (name, mask) in zip(axes.flat, family(T).items(), strict=True):
        plot.heatmap(ax, mask.double(), role="query", mask=mask, digits=None)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(name)
    plot.show(
        fig,
        alt="Six 8 by 8 masks. Causal: the lower triangle. Prefix 3: the same plus the first "
        "three columns. Padding 6: the first six columns. Window 3: a band of three cells. "
        "Dilated: every second cell of a wider band. Global and window: a band of two plus the "
        "first column.",
    )


def empty_row(S: int = 3) -> Table:
    """What a plain softmax makes of a row of −∞, and what ours does."""
    empty = torch.full((1, S), -torch.inf)
    return table(
        [
            ["softmax", *map(str, empty.softmax(-1)[0].tolist())],
            ["masked_softmax", *map(str, masked_softmax(empty)[0].tolist())],
        ],
        ["a row of −∞", *(f"key {j}" for j in range(1, S + 1))],
    )


def late(x: Tensor) -> Tensor:
    """A layer that masks after its softmax, which is too late."""
    scores = x @ x.mT
    return (scores.softmax(-1) * masks.causal(x.shape[1])) @ x


def leaks(who_sees_whom: Callable[..., Tensor], T: int = 8, probes: int = 4) -> Table:
    """Test a layer under each mask, and one that masks too late.

    *Moved* counts the pairs in which a word moved an output; a leak is one of them that the mask
    hides. A query is made from its own word, so with keys to choose from it moves its own row.
    """
    torch.manual_seed(0)
    heads = MultiHeadAttention(16, n_heads=4).double().requires_grad_(False)
    x, noise = torch.randn(2, probes, T, 16, dtype=torch.float64)
    layers = {
        name: (lambda x, mask=mask: heads(x, mask=mask), mask) for name, mask in family(T).items()
    }
    rows = []
    for name, (layer, mask) in (layers | {"masked too late": (late, masks.causal(T))}).items():
        moved = who_sees_whom(layer, x, noise)
        own = torch.eye(T, dtype=torch.bool) & mask.any(-1, keepdim=True)
        hidden = moved & ~(mask | own)
        rows.append([name, int(mask.sum()), int(moved.sum()), int(hidden.sum())])
    return table(rows, ["mask", "open", "moved", "leaks"])


def llama_masks(real: Tensor) -> dict[str, dict[str, Tensor]]:
    """S2's mask of a left-padded text ``real`` [1, T], and the right one: what a layer is given.

    S2 joins "hidden" and "real", flags along the queries; an axis for the heads is put in here.
    """
    T = real.shape[1]
    printed = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1) & real[:, :, None]
    proper = masks.causal(T) & real[:, None, :]
    return {
        "as it should be": {"mask": proper[:, None]},
        "read as visible": {"mask": printed[:, None]},
        "added as 0 and 1": {"bias": printed[:, None].double()},
    }


def draw_llama_masks(who_sees_whom: Callable[..., Tensor], padded: int = 2, T: int = 5) -> None:
    """Draw who sees whom under S2's mask, read in two ways, and under the right one."""
    torch.manual_seed(0)
    heads = MultiHeadAttention(16, n_heads=4).double().requires_grad_(False)
    x, noise = torch.randn(2, 1, T, 16, dtype=torch.float64)
    cases = llama_masks(torch.arange(T)[None] >= padded)
    names = ["pad"] * padded + list("abcdefgh"[: T - padded])
    fig, axes = plot.figure(5.4, 2.1, columns=3)
    for ax, (title, given) in zip(axes, cases.items(), strict=True):
        seen = who_sees_whom(lambda x, given=given: heads(x, **given), x, noise)
        named = {"rows": names, "columns": names, "digits": None}
        plot.heatmap(ax, seen.double(), role="query", mask=seen, **named)
        ax.set_title(title)
    plot.show(
        fig,
        alt="Three who-sees-whom matrices. As it should be: tokens a, b, c see themselves and "
        "earlier real tokens. Read as visible: a sees b and c, and itself as a query; b sees only "
        "c; c and the padding see nothing. Added to the scores: everyone sees everyone.",
    )


def with_our_weights(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """PyTorch's layer with the weights of ours."""
    D, H = ours.query.in_features, ours.query.out_features // ours.head_dim
    theirs = nn.MultiheadAttention(D, H, bias=False, batch_first=True).to(ours.query.weight.dtype)
    with torch.no_grad():
        parts = (ours.query.weight, ours.key.weight, ours.value.weight)
        theirs.in_proj_weight.copy_(torch.cat(parts))
        theirs.out_proj.weight.copy_(ours.output.weight)
    return theirs.requires_grad_(False)


def conventions(T: int = 6) -> Table:
    """Hand PyTorch's layer our causal mask in three forms: does it agree with ours?"""
    torch.manual_seed(2)
    ours = MultiHeadAttention(16, n_heads=4).requires_grad_(False)
    theirs, x, mask = with_our_weights(ours), torch.randn(2, T, 16), masks.causal(T)
    given = {
        "masks.torch_mha(mask)": masks.torch_mha(mask),
        "masks.to_additive(mask)": masks.to_additive(mask),
        "mask, not converted": mask,
    }
    rows = []
    for name, form in given.items():
        same = torch.allclose(ours(x, mask=mask), theirs(x, x, x, attn_mask=form)[0], atol=1e-5)
        rows.append([name, "yes" if same else "no"])
    return table(rows, ["attn_mask =", "equal to ours"])
