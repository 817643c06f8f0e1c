"""The figures and tables of chapter 7: what attention costs, and what each variant saves."""

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from pieces.attention import attention
from pieces.book import measured, plot
from pieces.book.tables import Table, table

NAMES = {16: "MHA, G = 16", 4: "GQA, G = 4", 1: "MQA, G = 1"}
ROLES = {16: "query", 4: "key", 1: "value"}


def sharing(groups: Sequence[tuple[str, int]] = (("MHA", 8), ("GQA", 2), ("MQA", 1))) -> None:
    """Draw which query heads read which key-value heads: source text S2, figure 5.4."""
    figure, axes = plot.figure(6.4, 1.6, columns=len(groups))
    heads = groups[0][1]
    parts = {
        "queries": ("query", "o", 1.0),
        "keys": ("key", "s", 0.2),
        "values": ("value", "D", -0.1),
    }
    for ax, (name, G) in zip(axes, groups, strict=True):
        for h in range(heads):
            g = h * G // heads
            at = (g + 0.5) * heads / G - 0.5
            ax.plot([h, at], [1, 0.2], color=plot.ROLE["residual"], linewidth=0.9, zorder=1)
        for role, marker, y in parts.values():
            n = heads if role == "query" else G
            at = [(g + 0.5) * heads / n - 0.5 for g in range(n)]
            colour, size = plot.ROLE[role], 60 if marker == "D" else 80
            ax.scatter(at, [y] * n, s=size, marker=marker, color=colour, zorder=2)
        ax.set(title=f"{name}: G = {G}", xlim=(-0.8, heads - 0.2), ylim=(-0.3, 1.25))
        ax.axis("off")
    for name, (_, _, y) in parts.items():
        axes[0].text(-1.2, y, name, ha="right", va="center", fontsize=9.5, color=plot.INK)
    said = "; ".join(f"{name}, {G} of each" for name, G in groups)
    plot.show(
        figure,
        alt=f"Three times {heads} query heads as circles, each joined to the key (square) and "
        f"value (diamond) that it reads: {said}. The query heads stay as many.",
    )


def step_costs(
    groups: Sequence[int] = (64, 8, 1), S: int = 4096, d_model: int = 8192, head_dim: int = 128
) -> Table:
    """Count what one more token of one layer costs, by key-value heads: products and bytes."""
    rows = []
    H = d_model // head_dim
    for G in groups:
        q, k = (torch.empty(1, n, t, head_dim, device="meta") for n, t in ((H, 1), (G, S)))
        x = torch.empty(1, d_model, device="meta")
        with FlopCounterMode(display=False) as met:
            attention(q, k, k)
        with FlopCounterMode(display=False) as made:
            for wide in (H, G, G, H):  # queries, keys, values, output
                x @ torch.empty(d_model, wide * head_dim, device="meta")
        cached = 2 * G * S * head_dim * 2
        meeting = met.get_total_flops()
        numbers = [meeting / 1e6, made.get_total_flops() / 1e6, cached / 1e6]
        rows.append([f"{G}", *(f"{x:.1f}" for x in numbers), f"{meeting / cached:g}"])
    heads = ["G", "with cache", "projections", "MB read", "per byte"]
    caption = (
        f"One more token in one layer, {d_model:,} wide, with {H} query heads, {S:,} tokens in the "
        "cache: millions of operations with it and in the projections, megabytes of cache at "
        "16 bits, operations with the cache for each byte of it."
    )
    return table(rows, heads, caption=caption)


class HeldMemory(TorchDispatchMode):
    """Bytes of the tensors that operations have made and that are still there, and the most."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._users: Counter[int] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None) -> Any:
        """Do an operation, and count what it has made."""
        result = func(*args, **(kwargs or {}))
        old = {x.untyped_storage().data_ptr() for x in args if isinstance(x, Tensor)}
        for x in result if isinstance(result, tuple | list) else [result]:
            if isinstance(x, Tensor):
                self._count(x, old)
        return result

    def _count(self, x: Tensor, old: set[int]) -> None:
        place, size = x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()
        if place in old and place not in self._users:
            return  # a view of what was there before
        if not self._users[place]:
            self.now += size
            self.most = max(self.most, self.now)
        self._users[place] += 1
        weakref.finalize(x, self._let_go, place, size)

    def _let_go(self, place: int, size: int) -> None:
        self._users[place] -= 1
        if not self._users[place]:
            del self._users[place]
            self.now -= size


def peak(work: Callable[[], Any]) -> int:
    """Bytes that a computation held at most, beyond what it was given."""
    with torch.no_grad(), HeldMemory() as held:
        work()
    return held.most


def held_at_once(
    works: dict[str, Callable[[Tensor, Tensor, Tensor], Any]],
    lengths: Sequence[int] = (512, 1024, 2048),
    n_heads: int = 2,
    head_dim: int = 64,
) -> Table:
    """Compare the memory that each way of attending holds at most, by the length of the text."""
    rows = []
    for T in lengths:
        q, k, v = torch.randn(3, 1, n_heads, T, head_dim)
        rows.append([f"{T:,}", *(peak(lambda w=w: w(q, k, v)) / 2**20 for w in works.values())])  # noqa: B023
    caption = f"Most memory held at once, in MiB; {n_heads} heads of {head_dim} numbers in float32."
    return table(rows, ["tokens", *works], digits=1, caption=caption)


def reaches(masks: Sequence[Tensor]) -> list[int]:
    """Count how many tokens the last one hears through 1, 2, … layers with these masks."""
    heard = torch.eye(masks[0].shape[0], dtype=torch.float64)
    found = []
    for mask in masks:
        heard = (mask.double() @ heard > 0).double()
        found.append(int(heard[-1].sum()))
    return found


def with_cache(groups: Sequence[int] = (16, 4, 1)) -> None:
    """Draw the time of one more token by the tokens in the cache: measured, with quartiles."""
    record = measured.record_of("attention_cost")["decoding"]
    figure, axes = plot.figure(5.4, 2.3)
    said = []
    for G in groups:
        rows = [row for row in record if row["G"] == G]
        x = [row["S"] for row in rows]
        low, middle, high = ([row[part] for row in rows] for part in ("low", "median", "high"))
        colour = plot.ROLE[ROLES[G]]
        axes.plot(x, middle, "-o", color=colour, label=NAMES[G], markersize=4)
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        said.append(f"{NAMES[G]} rises from {middle[0]:.2f} to {middle[-1]:.2f}")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="tokens in the cache",
        ylabel="time of one step\n(MHA with 64 tokens = 1)",
    )
    axes.set_xticks(x, [f"{S:,}" for S in x])
    axes.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.legend(frameon=False)
    lengths = f"{x[0]:,} to {x[-1]:,}"
    plot.show(
        figure,
        alt=f"Time of one step against tokens in the cache, {lengths}, as a multiple of MHA’s at "
        f"{x[0]}. {'; '.join(said)}. The bands are quartiles.",
    )
