"""Weights of transformers' models in models of ours, and back.

    from_transformers(hf_model)   a model in memory -> the same model, made of pieces
    from_folder(path)             config.json and *.safetensors on this disk; nothing is downloaded
    to_transformers(model)        back again, for those in ``RETURNING``

Each family has one file: how its config reads, and which weight is which. What cannot be carried
over exactly is refused by name; no weight is left unused.
"""

from pieces.checkpoints.convert import FAMILIES, RETURNING, from_transformers, to_transformers
from pieces.checkpoints.folder import from_folder

__all__ = ["FAMILIES", "RETURNING", "from_folder", "from_transformers", "to_transformers"]
