"""ConfigCalculator: a config.json as `transformers` writes it, read in the page."""

import json

import pytest
import torch
import transformers
from oracle import check, recorded
from twins import opened_twin

from browser import PAINTED, put, state
from overlaps import JUPYTER
from pieces.widgets import ConfigCalculator
from pieces.widgets.base import STATIC

# The texts of the cards, as boxes: two overlap where both their sides do.
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".p-facts :is(dt, dd)")].map((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [node.textContent, range.getBoundingClientRect(), node.parentElement.getBoundingClientRect()];
  });
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1
    || b.bottom <= a.top + 1;
  return [boxes.length, boxes.flatMap(([text, box, card], n) =>
    [...(box.right > card.right + 1 || box.bottom > card.bottom + 1 ? [`${text} leaves its card`] : []),
     ...boxes.slice(n + 1).filter(([, other]) => !apart(box, other)).map(([other]) => `${text} | ${other}`)])];
}"""
SMALL = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 40, "vocab_size": 30, "max_position_embeddings": 64}  # fmt: skip
FILES = [
    transformers.LlamaConfig(**SMALL),
    transformers.LlamaConfig(**SMALL, attention_bias=True, mlp_bias=True),
    transformers.LlamaConfig(**SMALL, head_dim=8, tie_word_embeddings=True),
    transformers.MistralConfig(**SMALL),
    transformers.MistralConfig(**SMALL, sliding_window=None),
    transformers.Qwen2Config(**SMALL),
    transformers.Qwen2Config(**SMALL, sliding_window=32),
    transformers.GemmaConfig(**SMALL),
    transformers.GemmaConfig(**SMALL, attention_bias=True),
]


@pytest.fixture(scope="module")
def twin(chromium):
    modules = ("config_calculator/llama_sizes", "config_calculator/config_json")
    with opened_twin(chromium, modules=modules) as opened:
        yield opened


def read(twin, given):
    """Return what the page reads of a text."""
    text = given if isinstance(given, str) else json.dumps(given)
    limits = ConfigCalculator()._limits
    return twin(
        "config_json.readConfig(a.text, (name) => a.limits[name])", text=text, limits=limits
    )


@pytest.mark.parametrize("config", FILES, ids=lambda c: c.model_type)
@pytest.mark.parametrize("written", ["to_json_string", "to_diff_dict"])
def test_a_file_is_counted_as_transformers_builds_it(twin, config, written):
    """Whole, and with what the file leaves out where it is as the class has it."""
    given = getattr(config, written)()
    given = json.loads(given) if isinstance(given, str) else given
    given = {k: v for k, v in given.items() if "dtype" not in k} | {"model_type": config.model_type}
    sizes = read(twin, given)
    assert sizes["sentence"] == ""
    sizes = sizes["sizes"]
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    total = sum(p.numel() for p in model.parameters())
    assert twin("llama_sizes.countParameters(a.s)", s=sizes)["total"] == total
    assert sizes["max_seq_len"] == 64
    assert sizes["window"] == (getattr(config, "sliding_window", None) or 0
                               if config.model_type == "mistral" else 0)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "told"),
    [({"model_type": "qwen3"}, "This is qwen3, which has parts that are not counted here"),
     ({"hidden_size": None}, "hidden_size is missing."),
     ({"hidden_size": None, "vocab_size": None}, "vocab_size and hidden_size are missing."),
     ({"vocab_size": 3.5}, "vocab_size is 3.5; here it can be a whole number from 1 to 1,000,000."),
     ({"num_hidden_layers": 300}, "num_hidden_layers is 300; here it can be a whole number from 1 to 256."),
     ({"num_attention_heads": "4"}, 'num_attention_heads is "4"; here it can be'),
     ({"attention_bias": "yes"}, 'attention_bias is "yes", where true or false belongs.'),
     ({"head_dim": 9}, "Heads of 9 numbers cannot be turned in pairs"),
     ({"num_attention_heads": 5}, "5 heads cannot share 48 numbers evenly, and head_dim is missing."),
     ({"num_key_value_heads": 3}, "4 heads cannot share 3 key-value heads evenly."),
     ({"sliding_window": -1}, "sliding_window is -1; here it can be"),
     ({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
      "Only some of its layers have a window")],
)  # fmt: skip
def test_what_cannot_be_read_is_said(twin, change, told):
    given = {k: v for k, v in (SMALL | change).items() if v is not None}
    got = read(twin, given)
    assert got["sizes"] is None
    assert told in got["sentence"]


@pytest.mark.parametrize(("first", "window"), [(0, 8), (2, 0), (28, 0), (None, 0)])
def test_a_qwen2_has_its_window_from_a_layer_on(twin, first, window):
    """With as many layers, or more, before the first of them as it has, none has one."""
    given = SMALL | {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 8}
    given |= {} if first is None else {"max_window_layers": first}
    assert read(twin, given)["sizes"]["window"] == window
    config = {name: value for name, value in given.items() if name != "model_type"}
    kinds = transformers.Qwen2Config(**config).layer_types
    assert set(kinds) == {"sliding_attention" if window else "full_attention"}


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "7", '"llama"', '{"hidden_size": 4'])
def test_what_is_no_file_is_said(twin, text):
    whole = text not in ("", "{") and not text.startswith('{"')
    said = read(twin, text)["sentence"]
    assert said.startswith("This is JSON, but not a config." if whole else "This is not JSON yet.")


def test_a_file_without_a_kind_is_a_llama_with_what_it_says(twin):
    given = SMALL | {"sliding_window": 16, "tie_word_embeddings": True, "attention_bias": True}
    sizes = read(twin, given)["sizes"]
    assert (sizes["window"], sizes["tied"], sizes["bias"], sizes["out_bias"]) == (
        16,
        True,
        True,
        True,
    )
    del given["num_key_value_heads"]
    assert read(twin, given)["sizes"]["n_kv_heads"] == 4


def test_a_file_is_typed_key_by_key(bench):
    widget = ConfigCalculator()
    with recorded(bench, widget) as page:
        page.get_by_text("Paste a config.json").click()
        field, note = page.get_by_label("The text of a config.json"), page.locator(".p-paste p")
        text = json.dumps(SMALL | {"model_type": "qwen2"})
        field.press_sequentially(text[:40])
        assert note.inner_text() == "", "the reader is still typing"
        page.wait_for_function("document.querySelector('.p-paste p').textContent !== ''")
        assert "not JSON yet" in note.inner_text()
        assert state(page, widget)["preset"] == "llama-7b"
        field.press_sequentially(text[40:])
        page.evaluate(PAINTED)
        assert note.inner_text() == "Read: the sizes below are those of the file."
        assert field.input_value() == text
        now = state(page, widget)
        assert (now["d_model"], now["n_kv_heads"], now["bias"], now["out_bias"]) == (
            48,
            2,
            True,
            False,
        )
        assert now["length"] == 64
        check(page, widget)
        page.wait_for_timeout(600)
        assert "Read" in note.inner_text()
        put(page, widget, n_layers=4)
        assert note.inner_text() == "Read. The sizes below have been changed since."
        put(page, widget, n_layers=now["n_layers"])
        assert note.inner_text() == "Read: the sizes below are those of the file."
        field.fill("")
        assert note.inner_text() == ""
        put(page, widget, n_layers=4)
        assert note.inner_text() == ""
        assert page.record.errors == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_cards_hold_in_an_output_of_jupyter(bench, width):
    with bench.show(ConfigCalculator(), width=width) as page:
        page.locator("main").evaluate("(main) => main.classList.add('jp-OutputArea-output')")
        page.add_style_tag(content=JUPYTER)
        count, overlaps = page.evaluate(OVERLAPS)
        assert count == 12
        assert overlaps == []
        floats = "(all) => all.map((node) => getComputedStyle(node).float)"
        assert set(page.locator(".p-facts :is(dt, dd)").evaluate_all(floats)) == {"none"}


def test_no_other_widget_has_a_list_that_jupyter_floats():
    """The kit takes Jupyter's rule back for all; who builds such a list looks at it in an output."""
    made = [f.stem for f in STATIC.rglob("*.js") if '"dt"' in f.read_text(encoding="utf-8")]
    assert sorted(made) == ["config_calculator", "workbench"]
