"""Two small writers, one with a causal mask and one without: what they learn and what they write.

A writer is one attention layer between an embedding and an output. Nothing differs between the two
but the function that makes their mask.
"""

import html
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW

from pieces import masks
from pieces.attention import MultiHeadAttention
from pieces.book import plot
from pieces.tasks import Batch, Stories

START = 6  # words of a story that a writer is given


class Writer(nn.Module):
    """One attention layer between an embedding and an output; ``mask(T)`` says who sees whom."""

    def __init__(self, mask: Callable[[int], Tensor], task: Stories, width: int = 64) -> None:
        super().__init__()
        self.word = nn.Embedding(task.vocab_size, width)
        self.place = nn.Embedding(task.length, width)
        self.attend = MultiHeadAttention(width, n_heads=1)
        self.next = nn.Linear(width, task.vocab_size)
        self.mask = mask

    def forward(self, ids: Tensor, return_weights: bool = False):
        """Return the logits of each next word [B, T, V], with the weights if they are wanted."""
        T = ids.shape[1]
        x = self.word(ids) + self.place.weight[:T]
        heard, weights = self.attend(x, mask=self.mask(T), return_weights=True)
        logits = self.next(x + heard)
        return (logits, weights) if return_weights else logits


def train(
    mask: Callable[[int], Tensor], texts: Batch, task: Stories, seed: int = 0, steps: int = 300
) -> Writer:
    """Train a writer under a mask: 16 texts a step, AdamW at 0.01."""
    torch.manual_seed(seed)
    model = Writer(mask, task)
    optimiser = AdamW(model.parameters(), lr=1e-2)
    for _ in range(steps):
        rows = torch.randint(len(texts.input_ids), (16,))
        logits = model(texts.input_ids[rows])
        loss = F.cross_entropy(logits.flatten(0, 1), texts.targets[rows].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model.requires_grad_(False)


def losses(model: Writer, texts: Batch) -> Tensor:
    """The loss at each place [B, T], in nats, with all words of the text in the input."""
    logits = model(texts.input_ids)
    return F.cross_entropy(logits.transpose(1, 2), texts.targets, reduction="none")


def write(model: Writer, start: Tensor, length: int) -> Tensor:
    """Add the likeliest word to each text, until it has this many words."""
    ids = start
    while ids.shape[1] < length:
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
    return ids


def sound_words(model: Writer, texts: Batch, task: Stories) -> float:
    """How many words a model adds, on average, before the first that no story has there."""
    counts = []
    for row in write(model, texts.input_ids[:, :START], task.length):
        bad = task.first_impossible(row)
        counts.append((task.length if bad is None else bad) - START)
    return sum(map(float, counts)) / len(counts)


class Told:
    """Stories side by side: the words that were given plain, those that a model wrote in bold."""

    def __init__(self, stories: dict[str, Tensor], task: Stories) -> None:
        self.stories = {}
        for name, ids in stories.items():
            words = [task.vocabulary[i] for i in ids]
            start, whole = task.join(words[:START]), task.join(words)
            self.stories[name] = (start, whole[len(start) :].strip())

    def __repr__(self) -> str:
        """Say what it is: the words that a model writes may differ between machines."""
        return f"Stories: {', '.join(self.stories)}"

    def _repr_html_(self) -> str:
        page = "".join(
            f"<p><em>{html.escape(name)}:</em></p>"
            f"<p>{html.escape(start)} <strong>{html.escape(rest)}</strong></p>"
            for name, (start, rest) in self.stories.items()
        )
        return f"<blockquote>{page}</blockquote>"


def loss_and_sound(models: dict[str, Sequence[Writer]], texts: Batch, task: Stories) -> None:
    """Draw the loss of each writer, and how many of its words are sound: a dot for each seed."""
    floor = -task.true_log_probs(texts.input_ids, texts.targets).mean()
    fig, axes = plot.figure(5.6, 1.8, columns=2)
    for row, many in enumerate(models.values()):
        here = [row] * len(many)
        nats = [losses(model, texts).mean() for model in many]
        sound = [sound_words(model, texts, task) for model in many]
        axes[0].scatter(nats, here, color=plot.ROLE["weight"], s=34)
        axes[1].scatter(sound, here, color=plot.ROLE["output"], s=34)
    axes[0].axvline(floor, color=plot.FAINT, linestyle=":", linewidth=1.3)
    axes[0].text(floor + 0.03, 0.5, "floor of an\nhonest reader", fontsize=9, va="center")
    axes[0].set(xlim=(0, 1.75), xlabel="loss in nats a word")
    own = task.length - START
    axes[1].set(xlim=(0, own + 0.5), xlabel=f"sound words written, of {own}")
    for ax in axes:
        ax.set(yticks=range(len(models)), yticklabels=list(models), ylim=(len(models) - 0.5, -0.5))
    axes[1].set_yticklabels([])
    plot.show(
        fig,
        alt="Three seeds each. Causal: a loss near 1.3, above the honest floor of 0.85, and most "
        "of the 26 added words are sound. No mask: a loss near 0.1, far below the floor, and on "
        "average fewer than two of the added words are sound.",
    )


def where_they_look(models: dict[str, Writer], text: Tensor, task: Stories, T: int = 12) -> None:
    """Draw the attention weights of each writer over the first words of a text."""
    fig, axes = plot.figure(5.6, 3.1, columns=len(models))
    names = [task.vocabulary[i] for i in text[:T]]
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        _, weights = model(text[None], return_weights=True)
        seen = masks.causal(T) if model.mask is masks.causal else None
        options = {"rows": names, "columns": names, "top": 1.0, "digits": None}
        plot.heatmap(ax, weights[0, 0, :T, :T], role="weight", mask=seen, **options)
        ax.set_title(name)
        ax.tick_params(axis="x", rotation=90)
    axes[1].set_yticklabels([])
    plot.show(
        fig,
        alt="Attention weights over the first twelve words of a story. With the causal mask they "
        "lie on and below the diagonal. Without a mask most weight lies just above the "
        "diagonal: nearly every word looks at the word on its right.",
    )
