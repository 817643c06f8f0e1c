"""A model's weights are a file beside the pages, packed and whole."""

import base64
import json
import zlib

import numpy
import pytest

import bulk_weights


@pytest.mark.parametrize("kind", ["<f2", "<i1"])
def test_packed_weights_come_back(tmp_path, kind):
    weights = numpy.random.default_rng(0).normal(0, 20, 9999).astype(kind).tobytes() + b"!"
    bulk_weights.write_weights(tmp_path, "one", weights)
    script = (tmp_path / "_static" / "pieces" / "models" / "one.js").read_text()
    text = json.loads(script.partition(" = ")[2].rstrip(";\n"))
    layers, packed = int(text[0]), zlib.decompress(base64.b64decode(text[1:]))
    assert layers == (2 if kind == "<f2" else 1)  # what packs best
    back = bytearray(len(packed))
    for layer in range(layers):
        size = len(range(layer, len(back), layers))
        back[layer::layers], packed = packed[:size], packed[size:]
    assert bytes(back) == weights
