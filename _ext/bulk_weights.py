"""Weights of trained models on the site: one file for each model, for the pages that need it.

A notebook saves a widget's weights with its state. Here they leave the page's state: each model
becomes a classic script with base64 text, which a page can load from a server and from disk alike.
"""

import hashlib
import json
import os
from pathlib import Path

TRAIT = ["_weights"]


def hand_over(model, outdir):
    """Move the weights of a saved widget into a file, and name the file in its state."""
    buffers = model.get("buffers", [])
    ours = [buffer for buffer in buffers if buffer["path"] == TRAIT]
    if not ours:
        return
    name = model["state"].get("model_name", "own")
    text = ours[0]["data"].replace("\n", "")
    if name == "own":
        name = f"own-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    write_once(Path(outdir) / "_static" / "pieces" / "models" / f"{name}.js", name, text)
    model["buffers"] = [buffer for buffer in buffers if buffer not in ours]
    model["state"]["weights_file"] = name


def write_once(path, name, text):
    """Write a model's file, whole at once: pages are written side by side."""
    script = f"(self.piecesWeights ??= {{}})[{json.dumps(name)}] = {json.dumps(text)};\n"
    if path.exists() and path.read_text(encoding="utf-8") == script:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(script, encoding="utf-8")
    half.replace(path)
