"""The figures and tables of chapter 13: a translator whole, searched, and assembled wrongly."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pieces.beam_search import beam_search
from pieces.book import measured, plot
from pieces.book.tables import Table, table
from pieces.models.encoder_decoder import EncoderDecoder
from pieces.tasks import Introductions
from pieces.tasks.translation import padded

MOVED = 1e-10  # in float64: what moves less has not moved
LONGEST = 24
NAMES = ("whole", "no norms", "no positions", "no mask", "no cross-attention")


def ends(task: Introductions) -> dict[str, int]:
    """How a translation begins, and how it ends."""
    return {"start_id": task.bos_id, "eos_id": task.eos_id}


def exact(found: Tensor, targets: Tensor) -> float:
    """The share of rows that hold every target, in order; -100 is none."""
    meant = [[token for token in row if token >= 0] for row in targets.tolist()]
    pairs = zip(found.tolist(), meant, strict=True)
    return sum(row[: len(right)] == right for row, right in pairs) / len(meant)


@torch.no_grad()
def moved(model: EncoderDecoder, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """Change one token after another: which outputs move? Each map is bool, [outputs, tokens]."""
    double = copy.deepcopy(model).double()

    def run(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        memory = double.encode(source[None])
        return memory[0], double.decode_hidden(target[None], memory)[0]

    before = run(source, target)
    columns: dict[str, list[Tensor]] = {"encoder": [], "cross": [], "decoder": []}
    for j in range(len(source)):
        after = run(other(source, j), target)
        for name, old, new in zip(("encoder", "cross"), before, after, strict=True):
            columns[name].append((new - old).abs().amax(-1) > MOVED)
    for j in range(len(target)):
        after = run(source, other(target, j))
        columns["decoder"].append((after[1] - before[1]).abs().amax(-1) > MOVED)
    return {name: torch.stack(one, dim=1) for name, one in columns.items()}


def other(ids: Tensor, place: int) -> Tensor:
    """The same tokens, but for another one at this place."""
    changed = ids.clone()
    changed[place] = ids[place] + 1 if ids[place] < 5 else ids[place] - 1
    return changed


def draw_moved(model: EncoderDecoder, task: Introductions, source: str, target: str) -> None:
    """Draw whom a change of one character, or of one word, can reach."""
    words = ["<bos>", *target.split()]
    ids = (task.encode(source), task.encode(" ".join(words)))
    maps = moved(model, *ids)
    titles = {
        "encoder": ("characters move\ncharacters", None, None),
        "cross": ("characters move\nwords", words, None),
        "decoder": ("words move\nwords", words, words),
    }
    fig, axes = plot.figure(5.4, 2.3, columns=3)
    for ax, (name, seen) in zip(axes, maps.items(), strict=True):
        title, rows, columns = titles[name]
        named = {"rows": rows, "columns": columns, "role": "query", "digits": None}
        plot.heatmap(ax, seen.double(), mask=seen, **named)
        if columns:
            ax.tick_params(axis="x", rotation=90)
        ax.set_xlabel(title)
    shares = [f"{int(seen.sum())} of {seen.numel()}" for seen in maps.values()]
    plot.show(
        fig,
        alt="Which outputs move when one input token changes. Characters move vectors of the "
        f"encoder: {shares[0]} cells, all of them. Characters move words of the decoder: "
        f"{shares[1]}, all of them. Words move words: {shares[2]}, on and below the diagonal.",
    )


def search(model: EncoderDecoder, task: Introductions, text: str, n_beams: int) -> dict[str, Any]:
    """The best text of a beam search: its words, its log-probability, and its score."""
    source = task.encode(text)[None]
    ids, score = beam_search(model, source, LONGEST, n_beams=n_beams, **ends(task))
    new = ids.shape[1] - 1
    return {"text": task.decode(ids[0]), "score": score.item(), "total": score.item() * new}


def assembled() -> dict[str, list[dict[str, Any]]]:
    """The runs of each model of the experiment, three seeds at three rates."""
    record = measured.record_of("assembled_wrongly")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}
    for run in record["runs"]:
        found[run["model"]] += [one | {"seed": run["seed"]} for one in run["rates"]]
    return found


def missing() -> None:
    """Draw how many sentences each model gets right, given the words before and all alone."""
    runs = assembled()
    fig, axes = plot.figure(5.4, 2.6)
    looks = (
        ("exact_given", "given the right words before", -0.14, "s", "key"),
        ("exact", "writing alone", 0.14, "o", "weight"),
    )
    for field, label, shift, marker, role in looks:
        for y, of in enumerate(runs.values()):
            axes.plot(
                [100 * one[field] for one in of],
                [y + shift] * len(of),
                marker,
                color=plot.ROLE[role],
                markersize=5,
                alpha=0.6,
                label="" if y else label,
                clip_on=False,
            )
    axes.set_yticks(range(len(runs)), list(runs))
    axes.invert_yaxis()
    axes.set(xlabel="held-out sentences without a wrong word, %", xlim=(0, 100))
    fig.legend(loc="outside lower center", ncols=2)
    said = "; ".join(
        f"{name}: {span(of, 'exact_given')} given the right words, {span(of, 'exact')} alone"
        for name, of in runs.items()
    )
    plot.show(fig, alt=f"Held-out sentences without a wrong word, nine runs each. {said}.")


def span(runs: Sequence[dict[str, Any]], field: str) -> str:
    """The least and the greatest share of some runs, in per cent."""
    shares = [100 * run[field] for run in runs]
    least, most = (f"{number:.1f}".removesuffix(".0") for number in (min(shares), max(shares)))
    return f"{least} %" if least == most else f"{least} to {most} %"


def wrote(*texts: str, lr: float = 2e-3, seed: int = 0, words: int = 5) -> Table:
    """Show how each model begins its translation of some sentences."""
    rows = []
    for name, runs in assembled().items():
        (run,) = (one for one in runs if (one["lr"], one["seed"]) == (lr, seed))
        said = [run["wrote"][text].removesuffix(" <eos>").split() for text in texts]
        rows.append([name, *(" ".join(one[:words]) + " …" * (len(one) > words) for one in said)])
    return table(rows, ["model", *texts])


def told(ours: Tensor, theirs: Tensor) -> str:
    """How far two tensors are apart, in words where it is no more than rounding."""
    apart = (ours - theirs).abs().max().item()
    return "below 0.00005" if apart < 5e-5 else f"{apart:.5f}"


def libraries(seed: int = 0) -> Iterator[Any]:
    """Three small models of ``transformers``, by random weights: BERT, GPT-2 and T5."""
    import transformers

    torch.manual_seed(seed)
    kinds = {
        "BertModel": {"num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 50},
        "GPT2LMHeadModel": {"num_attention_heads": 3, "num_hidden_layers": 2},
        "T5ForConditionalGeneration": {"num_heads": 3, "num_layers": 2, "d_kv": 8, "d_ff": 50},
    }
    for name, sizes in kinds.items():
        kind = getattr(transformers, name)
        ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
        made = kind(kind.config_class(vocab_size=40, hidden_size=24, **ends, **sizes)).eval()
        for weights in made.parameters():
            nn.init.normal_(weights.requires_grad_(False), std=0.3)
        yield made


def beside(translate: Callable[[Tensor, Tensor], Tensor], task: Introductions, text: str) -> Table:
    """Show what becomes of a sentence alone, and in one batch with a longer one."""
    longer = "明天两个好孩子会在花园里看见两个好老师。"
    rows = []
    for name, texts in {"alone": [text], "beside a longer one": [text, longer]}.items():
        source = padded([task.encode(one).tolist() for one in texts], task.pad_id)
        ids = translate(source, (source != task.pad_id)[:, None, None])[0, 1:].tolist()
        words = task.decode(torch.tensor(ids[: ids.index(task.eos_id)]))
        rows.append([name, words])
    return table(rows, [text, ""])
