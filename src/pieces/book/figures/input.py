"""Chapter 2: what a look-up costs, what pieces do to a text, and how words come close."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from pieces.book import plot
from pieces.book.tables import Table, table
from pieces.byte_pairs import cut_into_pieces, learn_merges, spaced_words
from pieces.embeddings import TokenEmbedding
from pieces.positions import Sinusoidal
from pieces.tasks.corpus import prose

SUBJECTS = ("我", "你", "他", "她", "孩子")
LIKED = ("猫", "狗", "鸟", "花", "苹果", "茶")
OBJECTS = {  # which verb takes which objects
    "爱": LIKED,
    "喜欢": LIKED,
    "讨厌": LIKED,
    "吃": ("苹果", "面包", "鱼"),
    "喝": ("茶", "水", "牛奶"),
    "看": ("书", "鸟", "花"),
}
WORDS = (*SUBJECTS, *OBJECTS, *sorted({word for row in OBJECTS.values() for word in row}))
PAIRS = (("喜欢", "like", "output"), ("讨厌", "dislike", "score"), ("吃", "eat", "residual"))


TEXTS = (("the picture", 6, 8, 4), ("stories", 64, 496, 96), ("GPT-2", 1024, 50_257, 768))


def costs(sizes: Sequence[tuple[str, int, int, int]] = TEXTS) -> Table:
    """What T tokens cost as a product, which a look-up does not: (name, T, V, D) a row."""
    rows = [
        [name, f"{T:,}", f"{V:,}", f"{D:,}", _counted(T * V * D), f"{4 * T * V / 1e6:,.1f}"]
        for name, T, V, D in sizes
    ]
    heads = ["", "T", "V", "D", "products", "MB"]
    return table(rows, heads, caption="Multiplications, and what the one-hot rows take.")


def _counted(n: int) -> str:
    return f"{n:,}" if n < 1e9 else f"{n / 1e9:.1f} billion"


def halves(share: float = 0.9) -> tuple[str, str]:
    """The book's prose: what is learned from, and the last part, which is only cut."""
    text = prose()
    border = round(share * len(text))
    return text[:border], text[border:]


def ways(merges: Sequence[int], text: str, other: str) -> Table:
    """Cut `other` in the ways that `text` teaches: vocabulary, tokens a word, what is unknown."""
    learnt = learn_merges(text, max(merges))
    words, unseen = spaced_words(text), spaced_words(other)
    alphabet, known = {sign for word in words for sign in word}, set(words)
    rows = []
    for n in (0, *merges):
        pieces = [piece for word in cut_into_pieces(other, learnt[:n]) for piece in word]
        strange = sum(not set(piece) <= alphabet for piece in pieces) / len(pieces)
        name = f"{n} merges" if n else "characters"
        vocabulary = len(alphabet | {a + b for a, b, _ in learnt[:n]})
        rows.append([name, f"{vocabulary:,}", len(pieces) / len(unseen), _percent(strange)])
    strange = sum(word not in known for word in unseen) / len(unseen)
    rows.append(["words", f"{len(known):,}", 1.0, _percent(strange)])
    heads = ["cut into", "vocabulary", "tokens a word", "unknown"]
    caption = (
        f"{len(unseen):,} words of this text, cut by what the {len(words):,} before them teach."
    )
    return table(rows, heads, digits=2, caption=caption)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def sentences(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Chinese template sentences: who does what to whom, each choice with equal chances."""
    drawn = torch.Generator().manual_seed(seed)
    pick = lambda some: some[int(torch.randint(len(some), (), generator=drawn))]  # noqa: E731
    verbs = [pick(tuple(OBJECTS)) for _ in range(count)]
    return [(pick(SUBJECTS), verb, pick(OBJECTS[verb])) for verb in verbs]


def pairs_of(lines: Sequence[tuple[str, ...]]) -> tuple[Tensor, Tensor]:
    """Each word with each of its neighbours: ids [N], ids [N]."""
    beside = [(a, b) for line in lines for a, b in pairwise(line)]
    both = [*beside, *((b, a) for a, b in beside)]
    ids = torch.tensor([[WORDS.index(a), WORDS.index(b)] for a, b in both])
    return ids[:, 0], ids[:, 1]


def start(D: int, seed: int, one: str = "爱", other: str = "喜欢") -> Tensor:
    """Random rows of length 1, of which two are at a right angle: [V, D]."""
    drawn = torch.Generator().manual_seed(seed)
    W = F.normalize(torch.randn(len(WORDS), D, generator=drawn), dim=-1)
    a, b = WORDS.index(one), WORDS.index(other)
    W[b] = F.normalize(W[b] - (W[b] @ W[a]) * W[a], dim=0)
    return W


def cosines(tables: Sequence[Tensor], word: str, one: str = "爱") -> Tensor:
    """Cosine of two words in each of several tables."""
    rows = torch.stack(list(tables))
    return F.cosine_similarity(rows[:, WORDS.index(one)], rows[:, WORDS.index(word)], dim=-1)


Train = Callable[[Tensor, Tensor, Tensor], Sequence[Tensor]]


def come_close(train: Train, seeds: Sequence[int], D: int = 16) -> dict[str, Tensor]:
    """Train from several starts, on sentences of their own: cosines with 爱, [seeds, steps]."""
    runs = [train(start(D, seed), *pairs_of(sentences(400, seed))) for seed in seeds]
    return {word: torch.stack([cosines(run, word) for run in runs]) for word, *_ in PAIRS}


def closeness(found: dict[str, Tensor]) -> None:
    """Draw how alike 爱 and three other verbs become: the mean of the seeds, and their range."""
    figure, ax = plot.figure(5.4, 2.7)
    said = []
    for word, english, role in PAIRS:
        runs, name = found[word], f"love and {english}"
        steps = range(runs.shape[1])
        low, high = runs.min(0).values, runs.max(0).values
        ax.fill_between(steps, low.numpy(), high.numpy(), color=plot.ROLE[role], alpha=0.18, lw=0)
        ax.plot(steps, runs.mean(0).numpy(), color=plot.ROLE[role], label=name)
        said.append(f"{name} from {runs[:, 0].mean():.2f} to {runs[:, -1].mean():.2f}")
    ax.set(xlabel="step", ylabel="cosine", ylim=(-0.8, 1.05))
    ax.legend(loc="lower right")
    told = "; ".join(said).replace("-", "−")
    plot.show(
        figure,
        alt=f"Cosine of the embeddings of two verbs over training, mean and range of "
        f"{len(runs)} seeds: {told}.",
    )


def sizes(D: int = 512, V: int = 1000, T: int = 64) -> Table:
    """How large a row is beside the code of its place, and how large the tied logits are."""
    drawn = torch.Generator().manual_seed(0)
    ids = torch.randint(V, (1, T), generator=drawn)
    code = Sinusoidal(D)(torch.arange(T))
    state = F.layer_norm(torch.randn(1, T, D, generator=drawn), (D,))
    rows = []
    for start, std in (("N(0, 1)", 1.0), ("N(0, 1/D)", D**-0.5)):
        for factor, scale in (("1", 1.0), ("√D", math.sqrt(D))):
            layer = TokenEmbedding(V, D, scale=scale, std=std)
            with torch.no_grad():
                layer.weight.copy_(std * torch.randn(V, D, generator=drawn))
                word, logits = layer(ids).square().mean().sqrt(), layer.logits(state)
            place = code.square().mean().sqrt()
            rows.append(
                [
                    start,
                    factor,
                    word.item(),
                    place.item(),
                    (word / place).item(),
                    logits.std().item(),
                ]
            )
    heads = ["start", "factor", "word", "place", "word / place", "tied logits"]
    caption = f"Root mean squares at D = {D}, before any training."
    return table(rows, heads, digits=2, caption=caption)
