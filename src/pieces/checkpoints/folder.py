"""A checkpoint on this disk."""

import json
from pathlib import Path

from torch import Tensor, nn

from pieces.checkpoints.convert import load, require_architecture
from pieces.checks import refuse, require, require_instance


def from_folder(path: str | Path) -> nn.Module:
    """Build the model of a folder with config.json and *.safetensors; nothing is downloaded.

    The folder is what ``save_pretrained`` writes and what a hub serves, in one file or in several.
    Raises: ValueError if a file is missing or not a safetensors file, and as
    ``from_transformers``.
    """
    from transformers import AutoConfig

    require_instance("path", path, str | Path, "pass the folder's path")
    folder = Path(path)
    rule, remedy = "must be a folder with a config.json", "pass the folder of a saved model"
    require((folder / "config.json").is_file(), "path", str(path), rule, remedy)
    hf_config = AutoConfig.from_pretrained(folder, local_files_only=True)
    named = hf_config.architectures or ["no architecture"]
    require_architecture(named[0])
    return load(named[0], hf_config, read_weights(folder)).eval()


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All weights of a folder, from its index if it has one. Raises: ValueError."""
    from safetensors.torch import load_file

    index = folder / "model.safetensors.index.json"
    if index.is_file():
        listed = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        files = [folder / name for name in sorted(set(listed.values()))]
    else:
        listed, files = {}, sorted(folder.glob("*.safetensors"))
    rule, remedy = "has no *.safetensors file", "save it with safe_serialization=True"
    require(bool(files), "path", str(folder), rule, remedy)
    state: dict[str, Tensor] = {}
    for file in files:
        require(file.is_file(), "path", str(file), "is missing", "get the whole checkpoint")
        try:
            state |= load_file(file)
        except Exception as error:
            refuse("path", str(file), f"cannot be read: {error}", "get the file again")
    lost = sorted(set(listed) - set(state))
    rule = "the index lists weights that no file has"
    require(not lost, "path", lost, rule, "get the whole checkpoint")
    return state
