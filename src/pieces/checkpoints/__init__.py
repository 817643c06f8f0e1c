"""Weights of transformers' models in models of ours, and back.

    from_transformers(hf_model)   a model in memory -> the same model, made of pieces
    from_folder(path)             config.json and *.safetensors on this disk; nothing is downloaded
    to_transformers(model)        back again, with what its config said beside

Each family has one file: how its config reads, and which weight is which. What cannot be carried
over exactly is refused by name; no weight is left unused, but for buffers and heads of other tasks,
which the family lists.
"""

from pieces.checkpoints.convert import FAMILIES, from_transformers, to_transformers
from pieces.checkpoints.folder import from_folder

__all__ = ["FAMILIES", "from_folder", "from_transformers", "to_transformers"]
