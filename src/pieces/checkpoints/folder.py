"""A checkpoint on this disk."""

import json
from pathlib import Path
from typing import Any, NoReturn

from torch import Tensor, nn

from pieces.checkpoints.convert import FAMILIES, load_checkpoint
from pieces.checkpoints.family import WHOLE, none_of
from pieces.checks import checked, one_of, refuse, require

ONE, INDEX = "model.safetensors", "model.safetensors.index.json"


@checked
def from_folder(path: str | Path, *, architecture: str | None = None) -> nn.Module:
    """Build the model of a folder with config.json and *.safetensors; nothing is downloaded.

    The folder is what ``save_pretrained`` writes and what a hub serves, in one file or in several.
    ``architecture`` is what its config.json calls so; give it where the file has none, or to read a
    ``BertModel`` from a file that has heads too.
    """
    if architecture is not None:
        one_of("architecture", architecture, FAMILIES)
    folder = Path(path)
    there(folder / "config.json", "pass the folder of a saved model")
    hf_config = read_config(folder)
    named = architecture or (hf_config.architectures or ["no architecture"])[0]
    one_of("architecture", named, FAMILIES)
    return load_checkpoint(named, hf_config, read_weights(folder)).eval()


@checked
def read_config(folder: Path) -> Any:
    """Their config."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        unreadable(folder / "config.json", error)


@checked
def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of the folder's index, or else of its one file."""
    if (folder / INDEX).is_file():
        return indexed_weights(folder)
    files = sorted(folder.glob("*.safetensors"))
    if len(files) > 1 and folder / ONE not in files:
        names, rule = [file.name for file in files], f"neither {ONE} nor an index"
        refuse("path", names, f"has several files of weights, {rule}", f"call the right one {ONE}")
    return read_file(files[0] if len(files) == 1 else folder / ONE)


@checked
def indexed_weights(folder: Path) -> dict[str, Tensor]:
    """Each weight from the file in which the index says it is."""
    try:
        listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        files = sorted(set(listed.values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        unreadable(folder / INDEX, error)
    stray = [ONE] if ONE not in files and (folder / ONE).is_file() else []
    none_of("path", stray, f"is beside {INDEX}, which does not name it", "remove one of both")
    held = {file: read_file(folder / file) for file in files}
    lost = sorted(name for name, file in listed.items() if name not in held[file])
    none_of("path", lost, "the index lists weights that its file has not", WHOLE)
    more = sorted({name for weights in held.values() for name in weights} - listed.keys())
    none_of("path", more, "are in a file, but not in the index", WHOLE)
    return {name: held[file][name] for name, file in listed.items()}


@checked
def read_file(file: Path) -> dict[str, Tensor]:
    """All weights of one file."""
    from safetensors.torch import load_file

    there(file, "get the whole checkpoint, with *.safetensors (safe_serialization=True)")
    try:
        return load_file(file)
    except Exception as error:
        unreadable(file, error)


def there(file: Path, remedy: str) -> None:
    """Refuse a path without this file."""
    require(file.is_file(), "path", str(file), "is missing", remedy)


def unreadable(file: Path, error: Exception) -> NoReturn:
    """Refuse a damaged file."""
    refuse("path", str(file), f"cannot be read: {error!r}", "get the file again")
