"""A checkpoint on this disk."""

import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from pieces.checkpoints.convert import load_checkpoint, require_architecture
from pieces.checks import checked, refuse, require

ONE, INDEX = "model.safetensors", "model.safetensors.index.json"
WHOLE = "get the whole checkpoint"


@checked
def from_folder(path: str | Path, *, architecture: str | None = None) -> nn.Module:
    """Build the model of a folder with config.json and *.safetensors; nothing is downloaded.

    The folder is what ``save_pretrained`` writes and what a hub serves, in one file or in several.
    ``architecture`` is what its config.json calls so; give it where the file has none, or to read a
    ``BertModel`` from a file that has heads too.
    """
    if architecture is not None:
        require_architecture(architecture)
    folder = Path(path)
    rule, remedy = "must be a folder with a config.json", "pass the folder of a saved model"
    require((folder / "config.json").is_file(), "path", str(path), rule, remedy)
    hf_config = read_config(folder)
    named = architecture or (hf_config.architectures or ["no architecture"])[0]
    require_architecture(named)
    return load_checkpoint(named, hf_config, read_weights(folder)).eval()


@checked
def read_config(folder: Path) -> Any:
    """Their config."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "get the file again"
        refuse("path", str(folder / "config.json"), f"cannot be read: {error}", remedy)


@checked
def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of the folder's index, or else of its one file."""
    if (folder / INDEX).is_file():
        return indexed_weights(folder)
    files = sorted(folder.glob("*.safetensors"))
    rule, remedy = "has no *.safetensors file", "save it with safe_serialization=True"
    require(bool(files), "path", str(folder), rule, remedy)
    chosen = [folder / ONE] if folder / ONE in files else files
    rule = f"has several files of weights, neither {ONE} nor an index"
    names = [file.name for file in chosen]
    require(len(chosen) == 1, "path", names, rule, f"call the right one {ONE}")
    return read_file(chosen[0])


@checked
def indexed_weights(folder: Path) -> dict[str, Tensor]:
    """Each weight from the file in which the index says it is."""
    try:
        listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        files = sorted(set(listed.values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        rule, remedy = f"cannot be read: {error!r}", "get the file again"
        refuse("path", str(folder / INDEX), rule, remedy)
    rule, remedy = f"the folder has it beside {INDEX}, which does not name it", "remove one of both"
    require(ONE in files or not (folder / ONE).is_file(), "path", ONE, rule, remedy)
    held = {file: read_file(folder / file) for file in files}
    lost = sorted(name for name, file in listed.items() if name not in held[file])
    require(not lost, "path", lost[:8], "the index lists weights that its file has not", WHOLE)
    more = sorted({name for weights in held.values() for name in weights} - listed.keys())
    require(not more, "path", more[:8], "are in a file, but not in the index", WHOLE)
    return {name: held[file][name] for name, file in listed.items()}


@checked
def read_file(file: Path) -> dict[str, Tensor]:
    """All weights of one file."""
    from safetensors.torch import load_file

    require(file.is_file(), "path", str(file), "is missing", WHOLE)
    try:
        return load_file(file)
    except Exception as error:
        refuse("path", str(file), f"cannot be read: {error}", "get the file again")
