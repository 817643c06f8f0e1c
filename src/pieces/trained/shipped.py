"""The models that come with the package, by name."""

import functools
from pathlib import Path

from pieces.checks import one_of
from pieces.trained.file import Trained, unpack

NAMES = ("stories_attention", "stories_llama", "stories_moe", "translator", "aligner")


def load(name: str) -> Trained:
    """A trained model of this name, on the CPU, in float32, ready for inference.

    Each call builds it anew. Raises: ValueError if there is none of this name.
    """
    return unpack(path_of(name).read_bytes())


@functools.cache
def shared(name: str) -> Trained:
    """The same, built once for all who only read it. To change a model, ``load`` your own.

    Raises: ValueError if there is none of this name.
    """
    return load(name)


def path_of(name: str) -> Path:
    """Where the file of a model lies."""
    return Path(__file__).parent / f"{one_of('name', name, NAMES)}.safetensors"
