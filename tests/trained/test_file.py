import json
from dataclasses import asdict

import pytest
import torch
from safetensors import torch as safe

from pieces.feedforward import relu
from pieces.models.aligner import AlignerConfig, aligner
from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mixtral import MixtralConfig, mixtral
from pieces.positions import Linear
from pieces.tasks import Copy
from pieces.trained import pack, unpack
from pieces.trained.file import metadata_of, with_record
from pieces.trained.kinds import KINDS, plain

TASK, ARGUMENTS = Copy(9, 3), {"n_symbols": 9, "length": 3}
V = TASK.vocab_size
PLAIN = (V, 12, 2, 3, 20)
MODELS = {
    "llama": lambda: llama(LlamaConfig(*PLAIN, 1, tied=True)),
    "mixtral": lambda: mixtral(MixtralConfig(*PLAIN, window=3, n_experts=3)),
    "attention_only": lambda: attention_only(AttentionOnlyConfig(V, 12, 2, 3)),
    "gpt2": lambda: gpt2(GPT2Config(*PLAIN, activation=relu, tied=False)),
    "encoder_decoder": lambda: encoder_decoder(EncoderDecoderConfig(*PLAIN, dropout=0.0)),
    "aligner": lambda: aligner(AlignerConfig(V, 12, 5)),
}
RECORD = {"seed": 0, "steps": 1, "loss": 1.5, "floor": 1.25}


def packed(kind="llama", precision="int8"):
    return pack(MODELS[kind](), TASK, RECORD, arguments=ARGUMENTS, precision=precision)


def say(model):
    ids = torch.arange(6)[None]
    translates = hasattr(model, "encode")
    with torch.no_grad():
        return model.eval()(ids, ids) if translates else model.eval()(ids)


def test_every_kind_is_tried():
    assert MODELS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_comes_back(kind):
    model = MODELS[kind]()
    data = pack(model, TASK, RECORD, arguments=ARGUMENTS, precision="fp32")
    again = unpack(data)
    assert again.model.config == model.config
    assert not again.model.training
    torch.testing.assert_close(say(again.model), say(model), rtol=0, atol=0)
    assert again.task.vocabulary == TASK.vocabulary
    assert again.task.length == 3
    assert again.record == RECORD
    assert again.record.loss == again.record["loss"] == 1.5


@pytest.mark.parametrize("precision", ["int8", "fp16"])
@pytest.mark.parametrize("kind", MODELS)
def test_smaller_numbers_say_nearly_the_same(kind, precision):
    model = MODELS[kind]()
    again = unpack(pack(model, TASK, {}, arguments=ARGUMENTS, precision=precision)).model
    assert torch.allclose(say(again), say(model), atol=0.1)


def test_the_words_are_plain():
    data = packed("gpt2")
    words = metadata_of(data)
    assert words["kind"] == "gpt2"
    config = asdict(MODELS["gpt2"]().config) | {"activation": "relu"}
    assert words["config"] == {name: value for name, value in config.items() if name != "kept"}
    assert words["vocabulary"] == TASK.vocabulary
    assert words["task"] == {"name": "Copy", "arguments": ARGUMENTS}
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert all(isinstance(word, str) for word in header["__metadata__"].values())


def test_the_record_changes_alone():
    before = packed()
    after = with_record(before, {"loss": 2.0})
    assert unpack(after).record == {"loss": 2.0}
    first, second = safe.load(before), safe.load(after)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_how_far_a_model_is_from_perfect():
    assert unpack(packed()).record.above_floor == 0.25
    lost = with_record(packed(), {"loss": 2.0})
    with pytest.raises(AttributeError, match=r"no 'above_floor'; it has \['loss'\]"):
        _ = unpack(lost).record.above_floor


def test_an_unknown_field_of_the_record_is_named():
    with pytest.raises(AttributeError, match=r"no 'lost'.*'floor'"):
        _ = unpack(packed()).record.lost


def damaged():
    data = packed()
    tensors, words = safe.load(data), metadata_of(data)
    told = {key: value if key == "kind" else json.dumps(value) for key, value in words.items()}
    lost = {name: value for name, value in tensors.items() if not name.startswith("stack.final")}
    return {
        "cut short": (data[:-9], "data = .*no whole file"),
        "empty": (b"", "data = '0 bytes': no whole file"),
        "another file": (b"PK\3\4" * 40, "data = .*no whole file"),
        "no words": (safe.save(tensors), "data = .*must have"),
        "a weight lost": (safe.save(lost, told), "data = .*final_norm"),
        "another kind": (safe.save(tensors, told | {"kind": "rnn"}), "kind = 'rnn'"),
        "other words": (safe.save(tensors, told | {"vocabulary": "[]"}), "vocabulary = '0 words'"),
        "another task": (
            safe.save(tensors, told | {"task": '{"name": "NoTask", "arguments": {}}'}),
            "task = 'NoTask'",
        ),
        "no JSON": (safe.save(tensors, told | {"config": "{"}), "data = .*config"),
        "another size": (
            safe.save(tensors, told | {"config": json.dumps(words["config"] | {"d_ff": 24})}),
            "data = .*not those of its config",
        ),
        "an unknown field": (
            safe.save(tensors, told | {"config": json.dumps(words["config"] | {"depth": 24})}),
            "config = .*depth",
        ),
    }


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("how", damaged())
def test_a_damaged_file_is_refused(how):
    data, words = damaged()[how]
    with pytest.raises(ValueError, match=f"(?s){words}") as caught:
        unpack(data)
    assert "Remedy: " in str(caught.value)


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_packed_is_refused():
    with pytest.raises(ValueError, match=r"model\.config = 'NoneType'"):
        pack(torch.nn.Linear(2, 2), TASK, {})
    with pytest.raises(TypeError, match="task = 'Copy'"):
        pack(MODELS["llama"](), "Copy", {})
    with pytest.raises(ValueError, match="rope_scaling = "):
        plain(LlamaConfig(*PLAIN, rope_scaling=Linear(2.0)))
    with pytest.raises(ValueError, match="activation = "):
        plain(GPT2Config(*PLAIN, activation=lambda x: x))
