"""Chapter 11: streams and gradients before the first step, and the two halves of DeepNorm."""

from collections.abc import Sequence
from statistics import median

import torch

from pieces.book import plot, scientific
from pieces.book.figures.norm_placement import NAMES, TASK, mean_loss, size, small_model
from pieces.book.figures.norm_race import COLOURS, runs

DEPTHS = (6, 12, 24, 48, 100, 300, 1000)
HALVES = {
    ("post", "plain"): ("neither: Post", "score", ":"),
    ("deep", "plain"): ("α alone", "value", "--"),
    ("post", "scaled"): ("β alone", "query", "-."),
    ("deep", "scaled"): ("α and β", "output", "-"),
}


def at_start(placement: str, layers: int, start: str, what: str, at: int) -> list[float]:
    """A number of a layer before training ("activation" or "gradient"), for each seed."""
    own = runs("norm_placement", "layers", placement=placement, layers=layers, start=start)
    return [run[what][at] for run in own]


def slope(placement: str, layers: int, at: int) -> list[float]:
    """The gradient's norm in a layer, for each seed, from the start that belongs to a placement."""
    start = "scaled" if placement == "deep" else "plain"
    return at_start(placement, layers, start, "gradient", at)


def by_depth(depths: Sequence[int] = DEPTHS) -> None:
    """Draw the gradient's norm in the first and the last layer against the number of layers."""
    figure, axes = plot.figure(6.2, 2.6, columns=2, sharey=True)
    for ax, at, title in zip(axes, (0, -1), ("first layer", "last layer"), strict=True):
        for place, name in NAMES.items():
            color = plot.ROLE[COLOURS[place]]
            ax.plot(depths, [median(slope(place, L, at)) for L in depths], color=color, label=name)
            for L in depths:
                ax.plot([L] * 3, slope(place, L, at), ".", ms=4, color=color)
        ax.set(xscale="log", yscale="log", xlabel="layers", title=title)
    axes[0].set(ylabel="norm of the gradient", ylim=(4e-3, 6))
    fallen = scientific(median(slope("post", depths[-1], 0)), 1)
    role = plot.ROLE["score"]
    # It stands left of the fall, which begins at the last depth but one.
    axes[0].annotate(f"Post: {fallen} ↓", (depths[-2], 4.5e-3), ha="right", color=role)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    last = [
        f"{name}, last layer: {median(slope(place, depths[0], -1)):.2g} at {depths[0]} layers, "
        f"{median(slope(place, depths[-1], -1)):.2g} at {depths[-1]}"
        for place, name in NAMES.items()
    ]
    alt = "Norm of the gradient of the last matrix of the first and of the last layer against the "
    alt += f"number of layers, before training, three seeds. Post, first of {depths[-1]} layers: "
    plot.show(figure, alt=alt + f"{fallen}; " + "; ".join(last))


def uneven(placement: str, start: str, layers: int) -> list[float]:
    """The largest gradient of all layers of a stack over the smallest, for each seed."""
    own = runs("norm_placement", "layers", placement=placement, layers=layers, start=start)
    return [most / least for least, most in (run["gradient_ends"] for run in own)]


def halves(depths: Sequence[int] = (100, 1000)) -> None:
    """Draw the gradient layer by layer, with neither half of DeepNorm, with one, with both."""
    figure, axes = plot.figure(6.2, 2.6, columns=len(depths))
    words = []
    for ax, layers in zip(axes, depths, strict=True):
        for (place, start), (name, role, line) in HALVES.items():
            own = runs("norm_placement", "layers", placement=place, layers=layers, start=start)
            for n, run in enumerate(own):
                look = {"color": plot.ROLE[role], "lw": 1.2, "label": None if n else name}
                ax.plot(run["at"], run["gradient"], line, **look)
            words.append(f"{layers} layers, {name}: {median(uneven(place, start, layers)):.3g}")
        ax.set(yscale="log", title=f"{layers:,} layers", xlabel="layer")
    axes[0].set_ylabel("norm of the gradient")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    alt = "Gradient of the last matrix of each layer before training, three seeds. Its largest "
    plot.show(figure, alt=alt + "over its smallest, median of the seeds: " + "; ".join(words))


def moved(alpha: bool, seed: int, layers: int = 100, lr: float = 0.001) -> float:
    """How far one step of Adam moves what leaves the stack (rms); β is there in any case."""
    torch.manual_seed(seed)
    model = small_model("deep" if alpha else "post", layers, beta=True)
    batch = TASK.batch(8, generator=torch.Generator().manual_seed(seed))
    seen = []
    model.stack.register_forward_hook(lambda _, given, y: seen.append(y.detach()))
    mean_loss(model, batch).backward()
    torch.optim.Adam(model.stack.parameters(), lr).step()
    with torch.no_grad():
        mean_loss(model, batch)
    return size(seen[1] - seen[0])


def s0_transformer() -> torch.nn.Module:
    """The beginning of S0's listing 4-8, as printed: it names a class that no listing has."""
    lines = (
        "class Transformer(nn.Module):",
        "    def __init__(self):",
        "        super(TransformerSublayer, self).__init__()",
    )
    names = {"nn": torch.nn, "__name__": "listing_4_8"}
    exec("\n".join(lines), names)
    return names["Transformer"]()
