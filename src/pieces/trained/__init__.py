"""The book's own small trained models: weights, vocabulary, and the record of the run.

    llama = load("stories_llama")
    logits = llama.model(llama.task.encode("one day , Tom")[None])
    llama.record.loss - llama.record.floor      how far from the best possible, nats a token

    packing     weights in fewer bytes
    kinds       which builder a file's "kind" means
    file        a model as one file

How they were trained: ``experiments/`` in the book's repository, one script a model.
"""

from pathlib import Path

from pieces.checks import require
from pieces.trained.file import Record, Trained, pack, unpack

__all__ = ["NAMES", "Record", "Trained", "load", "pack", "path_of", "unpack"]

NAMES = ("stories_attention", "stories_llama", "stories_moe", "translator", "aligner")


def load(name: str) -> Trained:
    """A trained model by name, on the CPU, in float32, ready for inference.

    Each call builds it anew. Raises: ValueError if there is none of this name.
    """
    return unpack(path_of(name).read_bytes())


def path_of(name: str) -> Path:
    """Where the file of a model lies. Raises: ValueError if there is none of this name."""
    rule = f"must be one of {', '.join(NAMES)}"
    require(name in NAMES, "name", name, rule, "choose one of them")
    return Path(__file__).parent / f"{name}.safetensors"
