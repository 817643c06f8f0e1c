"""The models that come with the package, by name."""

from pathlib import Path

from pieces.checks import one_of
from pieces.trained.file import Trained, unpack

NAMES = ("stories_attention", "stories_llama", "stories_moe", "translator", "aligner")


def load(name: str) -> Trained:
    """A trained model of this name, on the CPU, in float32, ready for inference.

    Each call builds it anew. Raises: ValueError if there is none of this name.
    """
    return unpack(path_of(name).read_bytes())


def path_of(name: str) -> Path:
    """Where the file of a model lies."""
    return Path(__file__).parent / f"{one_of('name', name, NAMES)}.safetensors"
