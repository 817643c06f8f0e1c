"""The twin of `pieces.inside` and `pieces.switches` in a real browser: every value, every switch.

Held to 1e-5 of the largest number of each tensor, for the book's three models and random ones.
"""

import base64
import itertools
import math

import pytest
import torch
from twins import build, opened_twin, packed

from pieces.inside import inside, lens, votes
from pieces.switches import parts
from pieces.trained import load, path_of

TOLERANCE = 1e-5
BOOK = ("stories_llama", "stories_moe", "stories_attention")
RANDOM = ("one-key-head", "two-key-heads", "biased", "wide-heads", "gpt2", "gpt2-untied", "mixtral")
RANDOM += ("one-expert", "attention-only", "attention-tied")
TEXT = (
    "Once upon a time there was a shy girl named Lily . She had a red ball . One day , she took the"
)
# All tensors of a run as one text of bytes, and their names and shapes: JSON would take minutes.
TIED = (".experts", ".visits")
READ = """(({ name, chunks, off }) => {
  let state;
  return chunks.map((ids) => {
    const read = inside.inside(models[name], ids, { off, state });
    state = read.state;
    const at = (part) => read.values.get(part);
    const found = [...read.values];
    for (let l = 1; l <= models[name].layers; l++) {
      const keys = { data: state.memory.caches[l - 1].k, shape: [state.memory.length,
        ...at(`layer.${l}.keys`).shape.slice(1)] };
      const window = models[name].config.window ?? Infinity;
      found.push([`layer.${l}.scores`, inside.scores(at(`layer.${l}.queries`), keys, window)]);
    }
    for (const part of [...read.values.keys()].filter((one) => one.endsWith(".stream"))) {
      found.push([`lens ${part}`, inside.lens(models[name], at(part), off)]);
    }
    const last = at("logits");
    const t = ids.length - 1;
    const row = last.data.subarray(t * last.shape[1], (t + 1) * last.shape[1]);
    const token = row.indexOf(Math.max(...row));
    const all = Float32Array.from(found.flatMap(([, { data }]) => [...data]));
    let text = "";
    for (const byte of new Uint8Array(all.buffer)) text += String.fromCharCode(byte);
    return { shapes: found.map(([part, { shape }]) => [part, shape]), bytes: btoa(text), token,
      votes: Object.fromEntries(inside.votes(models[name], read.values, token, t, off)) };
  });
})(a)"""


@pytest.fixture(scope="module")
def models():
    return {name: load(name).model for name in BOOK} | {name: build(name)[1] for name in RANDOM}


@pytest.fixture(scope="module")
def twin(chromium, models):
    with opened_twin(chromium, modules=("twin/model", "twin/inside", "twin/switches")) as twin:
        for name, model in models.items():
            data = path_of(name).read_bytes() if name in BOOK else packed(model, build(name)[0])
            twin.load(name, data)
            model.double()
        yield twin


def unpacked(chunk):
    """Return the tensors of a chunk by name."""
    numbers = torch.frombuffer(bytearray(base64.b64decode(chunk["bytes"])), dtype=torch.float32)
    shapes = dict(chunk["shapes"])
    parts = numbers.double().split([math.prod(shape) for shape in shapes.values()])
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}


def ids_of(model, T, seed=1):
    generator = torch.Generator().manual_seed(seed + T)
    return torch.randint(0, model.config.vocab_size, (T,), generator=generator)


def read(twin, name, ids, off=(), cuts=()):
    """Return what the twin found, reading the text in pieces where it is cut."""
    bounds = [0, *cuts, len(ids)]
    pairs = itertools.pairwise(bounds)
    chunks = [ids[a:b].tolist() for a, b in pairs]
    return twin(READ, name=name, chunks=chunks, off=list(off))


def close(got, expected, what):
    assert tuple(got.shape) == tuple(expected.shape), what
    if not expected.numel():
        return
    hidden = expected.isinf()
    assert torch.equal(got.isinf(), hidden), what
    expected = expected.masked_fill(hidden, 0).double()
    scale = max([1e-3, *expected.abs().flatten().tolist()])
    far = float((got.masked_fill(hidden, 0) - expected).abs().max()) / scale
    assert far < TOLERANCE, (what, far)


def part_of(value, name, begin, end):
    """Return the rows of the new words: weights and scores have them on their second axis."""
    if name.endswith((".weights", ".scores")):
        return value[:, begin:end, :end]
    return value[begin:end]


def agree(model, found, ids, off, cuts=()):
    expected = inside(model, ids, off)
    bounds = [0, *cuts, len(ids)]
    # Where all that reaches a router is 0, any experts are its best.
    routers = {n.rpartition(".")[0]: x for n, x in expected.items() if n.endswith("router")}
    tied = {name for name, x in routers.items() if (x == 0).all(-1).any()}
    streams = [name for name in expected if name.endswith(".stream")]
    seen = {f"lens {name}": lens(model, expected[name], off) for name in streams}
    for chunk, begin, end in zip(found, bounds, bounds[1:], strict=False):
        values = unpacked(chunk)
        assert set(values) == set(expected) | set(seen)
        for name, value in values.items():
            if name.rpartition(".")[0] in tied and name.endswith(TIED):
                continue
            close(value, part_of((expected | seen)[name], name, begin, end), (name, off))
        if tied:
            continue
        counted = votes(model, expected, chunk["token"], end - 1, off)
        assert list(chunk["votes"]) == list(counted)
        close(torch.tensor([*chunk["votes"].values()]), torch.tensor([*counted.values()]), off)


@pytest.mark.parametrize("name", [*BOOK, *RANDOM])
def test_the_names_of_the_parts_agree(twin, models, name):
    assert twin("switches.parts(models[a.name])", name=name) == parts(models[name])


@pytest.mark.parametrize("name", [*BOOK, *RANDOM])
@pytest.mark.parametrize("T", [1, 2, 13])
def test_every_inner_value_agrees(twin, models, name, T):
    ids = ids_of(models[name], T)
    agree(models[name], read(twin, name, ids), ids, [])


@pytest.mark.parametrize("name", BOOK)
def test_a_long_text_and_one_read_on(twin, models, name):
    ids = ids_of(models[name], 101)
    agree(models[name], read(twin, name, ids), ids, [])
    cuts = (1, 4, 60, 99)
    agree(models[name], read(twin, name, ids, cuts=cuts), ids, [], cuts)


@pytest.mark.parametrize("name", [*BOOK, *RANDOM])
@pytest.mark.usefixtures("unchecked")
def test_every_switch_agrees(twin, models, name):
    model = models[name]
    ids = ids_of(model, 11) if name in RANDOM else load(name).task.encode(TEXT.lower())
    ids = torch.as_tensor(ids).flatten()
    each = [[part] for part in parts(model)]
    some = [parts(model)[k::4] for k in range(4)]
    for off in [*(each if name in BOOK else []), *some, parts(model)]:
        agree(model, read(twin, name, ids, off), ids, off)


def test_a_text_read_on_with_parts_out(twin, models):
    ids, off = ids_of(models["stories_llama"], 17), ["layer.2.head.4", "positions"]
    found = read(twin, "stories_llama", ids, off, cuts=(5, 16))
    agree(models["stories_llama"], found, ids, off, (5, 16))


def test_a_text_that_was_rewound_reads_on_as_if_nothing_had_been(twin, models):
    again = twin(
        """(() => {
          const m = models.stories_llama;
          const { state } = inside.inside(m, [1, 2, 3, 4, 5, 6]);
          m.rewind(state, 2);
          const on = inside.inside(m, [9, 8], { state });
          return [on.values.get("logits"), inside.inside(m, [1, 2, 9, 8]).values.get("logits")];
        })()"""
    )
    on, whole = (torch.tensor(value["data"]).reshape(value["shape"]) for value in again)
    close(on, whole[2:], "rewound")


def test_what_is_no_part_is_refused(twin):
    with pytest.raises(Exception, match=r"layer\.4\.head\.1: the model has positions, layer\.1"):
        read(twin, "stories_llama", torch.tensor([1]), ["layer.4.head.1"])
