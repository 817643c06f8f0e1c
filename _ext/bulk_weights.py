"""Weights and long records of the site: a file for each, which a widget asks for when it is near.

A notebook saves a widget's weights with its state, and the measured runs that it shows. Here they
leave the page: each becomes a classic script, which a page can load from a server and from disk
alike, and which pages share. Weights are base64 text, packed first: what a server packs of base64
is larger than what zlib packs of the bytes.
"""

import base64
import hashlib
import json
import os
import zlib
from functools import lru_cache
from pathlib import Path

from pieces.trained import NAMES

TRAIT = ["_weights"]
STRATEGIES = zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED
LONG = 8_000  # letters of a trait, from which on it has a file of its own


def hand_over(model, outdir):
    """Move the weights of a saved widget into a file, and name the file in its state."""
    buffers = model.get("buffers", [])
    ours = [buffer for buffer in buffers if buffer["path"] == TRAIT]
    if not ours:
        return
    name = model["state"].get("model_name")
    text = ours[0]["data"].replace("\n", "")
    if name not in NAMES:  # a model of the reader's own, or a saved name that is damaged
        name = f"own-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    write_weights(outdir, name, base64.b64decode(text))
    model["buffers"] = [buffer for buffer in buffers if buffer not in ours]
    model["state"]["weights_file"] = name


@lru_cache(maxsize=16)
def smallest(weights):
    """Return weights packed, behind a digit: in how many layers their bytes lie.

    In numbers of two bytes the first are noise and the second much alike: apart they pack better.
    A model stands on many a page, so that it is packed once.
    """
    ways = {n: b"".join(weights[at::n] for at in range(n)) for n in (1, 2)}
    packed = [(n, deflated(way, how)) for n, way in ways.items() for how in STRATEGIES]
    n, least = min(packed, key=lambda one: len(one[1]))
    return f"{n}{base64.b64encode(least).decode()}"


def deflated(data, strategy):
    """Return data as zlib packs it."""
    packer = zlib.compressobj(level=9, strategy=strategy)
    return packer.compress(data) + packer.flush()


def set_apart(state, outdir):
    """Return a state without its long traits, and the name of the file that holds them, or None."""
    long = {k: v for k, v in state.items() if isinstance(v, dict | list) and len(dumped(v)) > LONG}
    if not long:
        return state, None
    text = dumped(long)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    script = f'(self.piecesRecords ??= {{}})["{name}"] = {text};\n'
    write_whole(Path(outdir) / "_static" / "pieces" / "records" / f"{name}.js", script)
    return {k: v for k, v in state.items() if k not in long}, name


def dumped(data):
    """Return JSON without blanks."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def write_weights(outdir, name, weights):
    """Write a model's file."""
    path = Path(outdir) / "_static" / "pieces" / "models" / f"{name}.js"
    packed = json.dumps(smallest(weights))
    write_whole(path, f"(self.piecesWeights ??= {{}})[{json.dumps(name)}] = {packed};\n")


def write_whole(path, script):
    """Write a script of the site, whole at once: pages are written side by side."""
    if path.exists() and path.read_text(encoding="utf-8") == script:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(script, encoding="utf-8")
    half.replace(path)
