"""Heads looked at and taken away: what each one does, over many texts and in a single one."""

import copy
from collections.abc import Sequence
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pieces.attention import MultiHeadAttention, split_heads
from pieces.book import plot
from pieces.book.tables import Table, table
from pieces.tasks import Task

Head = tuple[int, int]  # layer and head, both from 1


@torch.no_grad()
def without(model: nn.Module, *heads: Head) -> nn.Module:
    """A copy of the model that leaves out the terms of these heads, (layer, head) from 1."""
    other = copy.deepcopy(model)
    for layer, head in heads:
        attend = other.stack.blocks[layer - 1].attention
        K = attend.head_dim
        attend.output.weight[:, (head - 1) * K : head * K] = 0
    return other


@torch.no_grad()
def chance(model: nn.Module, task: Task, text: str, word: str, *off: Head) -> float:
    """The probability of a word behind a text, without some heads."""
    logits = without(model, *off)(task.encode(text)[None])
    return logits[0, -1].softmax(-1)[task.vocabulary.index(word)].item()


@torch.no_grad()
def repeat_loss(model: nn.Module, ids: Tensor, *off: Head) -> float:
    """The loss in nats a word where texts [B, 2 n] repeat their n words, without some heads."""
    logits = without(model, *off)(ids[:, :-1])
    losses = F.cross_entropy(logits.mT, ids[:, 1:], reduction="none")
    return losses[:, ids.shape[1] // 2 :].mean().item()


def what_heads_do(model: nn.Module, ids: Tensor, before: Tensor, follower: Tensor) -> Table:
    """Where each head looks in the repeat, and the loss on it without that head."""
    layers, heads = before.shape
    rows = [
        [
            f"{layer}.{head}",
            before[layer - 1, head - 1].item(),
            follower[layer - 1, head - 1].item(),
            repeat_loss(model, ids, (layer, head)),
        ]
        for layer, head in product(range(1, layers + 1), range(1, heads + 1))
    ]
    last = [(layers, head) for head in range(1, heads + 1)]
    ends = [
        [f"all of layer {layers}", "", "", repeat_loss(model, ids, *last)],
        ["none", "", "", repeat_loss(model, ids)],
    ]
    return table(
        [*rows, *ends],
        ["head", "word before", "followed", "loss without"],
        caption=f"Mean weights in the repeat, and the loss on it in nats a word; {len(ids)} texts.",
    )


def left_out(
    model: nn.Module, task: Task, text: str, word: str, cases: Sequence[Sequence[Head]]
) -> Table:
    """The probability of a word behind a text, without these heads or those."""
    rows = [
        [", ".join(f"{a}.{b}" for a, b in off) or "none", chance(model, task, text, word, *off)]
        for off in cases
    ]
    return table(rows, ["heads left out", f"probability of “{word}”"])


def sizes_of_heads(D: int = 64, T: int = 128, heads: Sequence[int] = (1, 4, 16, 64)) -> Table:
    """One layer of D numbers split in different ways: its weights, and the rank of its scores."""
    rows = []
    for H in heads:
        torch.manual_seed(2)
        layer = MultiHeadAttention(D, n_heads=H).double().requires_grad_(False)
        x = torch.randn(1, T, D, dtype=torch.float64)
        q, k = (split_heads(project(x), D // H) for project in (layer.query, layer.key))
        ranks = torch.linalg.matrix_rank((q @ k.mT)[0])
        n_weights = sum(weight.numel() for weight in layer.parameters())
        rows.append([H, D // H, n_weights, int(ranks.max())])
    return table(
        rows,
        ["heads H", "size K", "weights", "rank"],
        digits=0,
        caption=f"One layer with D = {D} that reads {T} tokens; the rank of each head’s scores.",
    )


def wrong_super() -> list[str]:
    """What S0's constructor raises: alone, and after the listing that has the other class."""
    body = "def __init__(self): super(CausalSelfAttention, self).__init__()"
    raised = []
    for scope in ({}, {"CausalSelfAttention": type("CausalSelfAttention", (nn.Module,), {})}):
        space: dict = {}
        exec(body, scope, space)
        try:
            type("MultiHeadCausalSelfAttention", (nn.Module,), space)()
        except Exception as error:
            raised.append(type(error).__name__)
    return raised


def clones(module: nn.Module, count: int) -> nn.ModuleList:
    """What S1's layer calls and does not define."""
    return nn.ModuleList(copy.deepcopy(module) for _ in range(count))


def s1_layer(linears: nn.ModuleList, x: Tensor, h: int) -> Tensor:
    """S1's layer, line by line, with an attention that it does not define."""
    B, d_k = x.shape[0], x.shape[-1] // h
    q, k, v = (f(x).view(B, -1, h, d_k).transpose(1, 2) for f in linears[:3])
    heads = (q @ k.transpose(-2, -1) / d_k**0.5).softmax(-1) @ v
    return linears[-1](heads.transpose(1, 2).contiguous().view(B, -1, h * d_k))


def draw_batch_axis(T: int = 5) -> None:
    """Draw which outputs move when token 2 of text 1 changes, with and without batch_first."""
    torch.manual_seed(7)
    x = torch.randn(2, T, 16, dtype=torch.float64)
    nudged = x.clone()
    nudged[0, 1] += 1
    fig, axes = plot.figure(5.4, 1.6, columns=2)
    for ax, first in zip(axes, (False, True), strict=True):
        moved = moves(x, nudged, first)
        names = {"rows": ["text 1", "text 2"], "columns": [str(t + 1) for t in range(T)]}
        plot.heatmap(ax, moved.double(), role="output", mask=moved, digits=None, **names)
        ax.set_title(f"batch_first={first}")
    plot.show(
        fig,
        alt="Outputs that move when token 2 of text 1 changes. Without batch_first: token 2 of "
        "both texts and nothing else. With it: all tokens of text 1, none of text 2.",
    )


def moves(x: Tensor, nudged: Tensor, batch_first: bool) -> Tensor:
    """Which outputs of PyTorch's layer differ between two inputs, bool [B, T]."""
    layer = nn.MultiheadAttention(16, 4, batch_first=batch_first).double().requires_grad_(False)
    apart = layer(nudged, nudged, nudged)[0] - layer(x, x, x)[0]
    return apart.abs().amax(-1) > 1e-9
