"""How a trained model's file is read in the page: every number, every form, and what is no file."""

import base64
import json
import struct
from copy import deepcopy

import pytest
import torch
from safetensors.torch import save
from twins import build, opened_twin, packed, vocabulary

from pieces import trained
from pieces.tasks import Reverse
from pieces.trained.packing import quantised, restore

TOLERANCE = 1e-5
TRAINED = [n for n in trained.NAMES if trained.path_of(n).exists()]


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium) as twin:
        yield twin


def unpacked(twin, data):
    """What the page reads: tensors by name, as PyTorch's."""
    text = base64.b64encode(data).decode()
    got = twin("Object.fromEntries(safetensors.unpack(bytes(a.data)).tensors)", data=text)
    return {
        name: torch.tensor([float(x) for x in t["data"]]).reshape(t["shape"])
        for name, t in got.items()
    }


def words(**more):
    config = {"config": json.dumps({}), "vocabulary": json.dumps(["a"])}
    return {"kind": "llama"} | config | more


def test_every_half_precision_number(twin):
    halves = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.float16)
    got = unpacked(twin, save({"x": halves}, words()))["x"]
    expected = halves.float()
    assert torch.equal(got.isnan(), expected.isnan())
    whole = ~expected.isnan()
    assert torch.equal(got[whole], expected[whole])
    assert torch.equal(got[whole].signbit(), expected[whole].signbit()), "minus zero"


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (7, 128), (6,)])
def test_float32_is_taken_as_it_is(twin, shape):
    x = torch.randn(shape) * 1e20
    odd = torch.ones(3, dtype=torch.int8)  # so that the next tensor starts at an odd place
    got = unpacked(twin, save({"a": odd, "a.scale": torch.ones(1), "x": x}, words()))
    assert torch.equal(got["x"], x)


@pytest.mark.parametrize("scale", [torch.float16, torch.float32])
def test_int8_rows_times_their_scales(twin, scale):
    x = torch.randint(-128, 128, (5, 9)).to(torch.int8)
    scales = (torch.rand(5) + 0.01).to(scale)
    got = unpacked(twin, save({"w": x, "w.scale": scales}, words()))
    assert list(got) == ["w"], "the scales are no weights"
    assert torch.equal(got["w"], x.float() * scales.float()[:, None])


@pytest.mark.parametrize("precision", ["int8", "fp16", "fp32"])
@pytest.mark.parametrize("name", ["llama", "gpt2", "mixtral", "attention-only", "translator"])
def test_logits_on_the_same_unpacked_weights(twin, name, precision):
    kind, model = build(name)
    small = quantised(model.state_dict(), precision)
    model.load_state_dict(restore(small))
    twin.load("it", packed(model, kind, small))
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
    source = ids[:, :5]
    reads = kind == "encoder_decoder"
    with torch.no_grad():
        model.double()
        expected = model(source, ids)[0] if reads else model(ids)[0]
    got = twin.run("it", ids[0], **({"source": source[0]} if reads else {}))["logits"]
    assert (got - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("name", TRAINED)
def test_the_books_own_models(twin, name):
    """The files as they are shipped, on texts of their own task."""
    ours = trained.load(name)
    reference = deepcopy(ours.model).double()
    twin.load(name, trained.path_of(name).read_bytes())
    for source, target in texts(ours):
        with torch.no_grad():
            expected = reference(*[part[None] for part in (source, target) if part is not None])
        got = twin.run(name, target, **({} if source is None else {"source": source}))
        far = (got["logits"] - expected[0]).abs().max()
        # Numbers up to 20, spread by 2 or 3: PyTorch's own float32 is as far from float64.
        assert far < TOLERANCE * expected.std()
    assert twin("models[a.name].vocabulary", name=name) == ours.task.vocabulary
    assert twin("models[a.name].record", name=name) == dict(ours.record)


def texts(ours):
    """Four texts of a model's task: (source or None, target)."""
    generator = torch.Generator().manual_seed(4)
    if not hasattr(ours.model, "encode"):
        return [(None, row) for row in ours.task.batch(4, "held_out", generator).input_ids]
    sources, real, targets, _ = ours.task.pairs(4, "held_out", generator)
    rows = zip(sources, real[:, 0, 0], targets, strict=True)
    return [(source[mask], target) for source, mask, target in rows]


def test_the_page_reads_typed_text_as_the_task_does(twin):
    ours = trained.load("translator")
    twin.load("translator", trained.path_of("translator").read_bytes())
    items = ours.task.items(20, "held_out", torch.Generator().manual_seed(2))
    for pair in ours.task.sentences(items):
        for text in pair:
            got = twin("models.translator.encode(a.text)", text=text)
            assert got["ids"] == ours.task.encode(text).tolist()
            assert got["unknown"] == []


def test_a_file_that_pieces_packs(twin):
    _, model = build("llama", vocab_size=Reverse().vocab_size)
    data = trained.pack(model, Reverse(), {"seed": 3}, precision="fp16")
    twin.load("packed", data)
    ids = torch.tensor([[1, 2, 0]])
    with torch.no_grad():
        expected = trained.unpack(data).model.double()(ids)[0]
    assert (twin.run("packed", ids[0])["logits"] - expected).abs().max() < TOLERANCE


def damaged():
    kind, model = build("llama")
    data = packed(model, kind)
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])

    def headed(change):
        new = json.loads(json.dumps(header))
        change(new)
        text = json.dumps(new).encode()
        return struct.pack("<Q", len(text)) + text + data[8 + length :]

    def is_int8(new):
        new["head.weight"]["dtype"] = "I8"
        start, _ = new["head.weight"]["data_offsets"]
        new["head.weight"]["data_offsets"] = [start, start + 37 * 24]

    name = "embedding.weight"
    return {
        "empty": (b"", "no whole file"),
        "short": (data[:5], "no whole file"),
        "cut-header": (data[:100], "no whole file"),
        "cut": (data[:-9], "the file ends before"),
        "no-json": (struct.pack("<Q", 4) + b"{no}" + data, "JSON"),
        "no-kind": (headed(lambda new: new["__metadata__"].pop("kind")), "its kind"),
        "no-words": (headed(lambda new: new.pop("__metadata__")), "kind, config, vocabulary"),
        "other-kind": (headed(lambda new: new["__metadata__"].update(kind="x")), "kind = x"),
        "bf16": (headed(lambda new: new[name].update(dtype="BF16")), "BF16"),
        "other-shape": (headed(lambda new: new[name].update(shape=[9, 9])), "needs 324 bytes"),
        "no-scale": (headed(is_int8), "rows"),
        "less": (headed(lambda new: new.pop("stack.blocks.1.attention.key.weight")), "key.weight"),
        "scaled": (
            headed(lambda new: new["__metadata__"].update(config=json.dumps({"rope_scaling": 1}))),
            "rope_scaling",
        ),
    }


DAMAGED = damaged()


@pytest.mark.parametrize("what", DAMAGED)
def test_what_is_no_whole_file_is_refused(twin, what):
    data, said = DAMAGED[what]
    with pytest.raises(Exception, match=said):
        twin("new model.TrainedModel(bytes(a.data))", data=base64.b64encode(data).decode())


@pytest.mark.parametrize("form", ["x", "x.buffer", "new DataView(x.buffer)", "padded.subarray(3)"])
def test_bytes_in_any_form_a_front_end_hands_over(twin, form):
    kind, model = build("llama")
    script = f"""(() => {{
      const x = bytes(a.data);
      const padded = new Uint8Array(x.length + 3);
      padded.set(x, 3);
      return new model.TrainedModel({form}).run([1, 2]).logits.data.length;
    }})()"""
    assert twin(script, data=base64.b64encode(packed(model, kind)).decode()) == 2 * 37


@pytest.mark.parametrize("bad", ["null", "'text'", "7", "undefined", "[1, 2]"])
def test_what_is_no_bytes_is_refused(twin, bad):
    with pytest.raises(Exception, match="bytes are needed"):
        twin(f"new model.TrainedModel({bad})")


class TestText:
    @pytest.fixture
    def spoken(self, twin):
        kind, model = build("llama")
        twin.load("llama", packed(model, kind))
        return lambda text: twin("models.llama.encode(a.text)", text=text)

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("the blue book .", [3, 5, 6, 1]),
            ("The BLUE book.", [3, 5, 6, 1]),
            ("tom, the book", [4, 2, 3, 6]),
            ("  the\n\tbook  ", [3, 6]),
            ("<story> Tom can't ice-cream.", [0, 4, 8, 7, 1]),
            ("", []),
            ("the.book", [3, 1, 6]),
            ("Can’t Tom's ICE-CREAM", [8, 4, 9, 7]),
            ('the "blue" "book"', [3, 10, 5, 11, 10, 6, 11]),
            ("   ", []),
        ],
    )
    def test_words_become_ids(self, spoken, text, ids):
        got = spoken(text)
        assert got["ids"] == ids
        assert got["unknown"] == []
        assert [token["id"] for token in got["tokens"]] == ids

    def test_unknown_words_are_told_and_left_out(self, spoken):
        got = spoken("the zebra, the Größe; zebra 3.5 <b> Tom'll")
        assert got["ids"] == [3, 2, 3, 1, 4]
        assert got["unknown"] == ["zebra", "Größe", ";", "3", "5", "<b>", "'ll"]
        assert [t["text"] for t in got["tokens"] if t["id"] is None].count("zebra") == 2

    @pytest.mark.parametrize("text", ["__proto__", "constructor", "toString", "🦓 a", "\ud800"])
    def test_no_text_throws(self, spoken, text):
        assert spoken(text)["ids"] == []

    def test_ids_become_words(self, twin, spoken):
        assert twin("models.llama.decode([4, 5, 36])") == f"Tom blue {vocabulary(37)[36]}"
