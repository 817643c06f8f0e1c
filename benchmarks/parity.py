"""How far the package's models are from those of transformers, with the same weights.

    python benchmarks/parity.py [--device cuda] [--keep]

Thirteen families, five random configs each with random weights, texts of 1, 13 and 24 tokens, in
float32. What is printed is the largest difference of two logits (of two states, for BERT), over
the largest of theirs. The page `appendix/parity` is written from here when the book is built; the
models and their configs are those of the tests. `--keep` writes a record, which that page tells of
beside its own run: the build has no GPU.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor, nn

from pieces.checkpoints import from_transformers

TESTS = Path(__file__).parents[1] / "tests"
RECORDS = Path(__file__).parent / "records"
LENGTHS = (1, 13, 24)
LIMIT = 1e-5
Both = Callable[[int], tuple[Tensor, Tensor]]


def decoder_only(theirs: nn.Module, ours: nn.Module, device: torch.device) -> Both:
    """The logits of a text."""

    def both(T: int) -> tuple[Tensor, Tensor]:
        ids = torch.randint(1, 37, (2, T), device=device)
        return ours(ids), theirs(ids, use_cache=False).logits

    return both


def encoder_only(theirs: nn.Module, ours: nn.Module, device: torch.device) -> Both:
    """The states of a text in two segments."""

    def both(T: int) -> tuple[Tensor, Tensor]:
        ids = torch.randint(1, 37, (2, T), device=device)
        kinds = torch.randint(0, 2, (2, T), device=device)
        options = {"input_ids": ids, "token_type_ids": kinds}
        return ours(ids, segments=kinds), theirs(**options).last_hidden_state

    return both


def encoder_decoder(theirs: nn.Module, ours: nn.Module, device: torch.device) -> Both:
    """The logits of a target, given a longer source."""

    def both(T: int) -> tuple[Tensor, Tensor]:
        source = torch.randint(2, 37, (2, T + 17), device=device)
        target = torch.randint(2, 37, (2, T), device=device)
        return ours(source, target), theirs(input_ids=source, decoder_input_ids=target).logits

    return both


def families() -> Iterator[tuple[str, Callable[[int], nn.Module], Callable[..., Both]]]:
    """Each family: its name, its model by seed, and how the two are compared."""
    sys.path.insert(0, str(TESTS))
    import tiny

    for family, (_, architecture) in tiny.FAMILIES.items():
        name = architecture.removesuffix("ForCausalLM").removesuffix("LMHeadModel")
        yield name, lambda seed, family=family: tiny.theirs(family, seed), decoder_only
    yield "Bert", lambda seed: tiny.their_bert("BertModel", seed), encoder_only
    yield "T5", tiny.their_t5, encoder_decoder


@torch.no_grad()
def differences(device: torch.device, seeds: range = range(5)) -> list[tuple[str, int, float]]:
    """Each family's name, how many pairs of outputs were compared, and the largest difference."""
    rows = []
    for name, model_of, compare in families():
        largest, compared = 0.0, 0
        for seed in seeds:
            theirs = model_of(seed).to(device)
            both = compare(theirs, from_transformers(theirs).to(device), device)
            torch.manual_seed(seed)
            for ours, expected in map(both, LENGTHS):
                error = (ours - expected).abs().max() / expected.abs().max()
                largest, compared = max(largest, error.item()), compared + 1
            theirs.cpu()
        rows.append((name, compared, largest))
    return rows


def versions(device: torch.device) -> str:
    """What it was run with."""
    found = [f"{name} {version(name)}" for name in ("torch", "transformers")]
    where = torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {platform.machine()}"
    return ", ".join([f"Python {platform.python_version()}", *found, where])


def main() -> None:
    """Print the table, and fail beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--keep", action="store_true", help="write the result for the book")
    options = parser.parse_args()
    device = torch.device(options.device)
    rows = differences(device)
    print(versions(device))
    for name, compared, largest in rows:
        verdict = "met" if largest <= LIMIT else "MISSED"
        print(f"{name:12} {compared:3} outputs  {largest:.1e}  {verdict}")
    if options.keep:
        record = {"tools": versions(device), "rows": rows}
        file = RECORDS / f"parity_{device.type}.json"
        file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(largest > LIMIT for *_, largest in rows))


if __name__ == "__main__":
    main()
