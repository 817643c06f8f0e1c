"""Small models of every kind, packed as files, and their JavaScript twins in a real browser."""

import base64
import json
from collections.abc import Mapping
from contextlib import contextmanager

import torch
from safetensors.torch import save
from torch import nn

from pieces.trained.kinds import KINDS, plain
from pieces.widgets.base import inlined, source_of

# Sizes that nothing divides, and every way in which the kinds differ among themselves.
MODELS = {
    "llama": ("llama", {"n_heads": 4}),
    "one-key-head": ("llama", {"n_heads": 4, "n_kv_heads": 1}),
    "two-key-heads": ("llama", {"n_heads": 4, "n_kv_heads": 2, "tied": True}),
    "biased": ("llama", {"n_heads": 3, "bias": True, "ff_bias": True, "norm_eps": 1e-2}),
    "wide-heads": ("llama", {"n_heads": 5, "head_dim": 6, "rope_base": 77.0, "n_layers": 1}),
    "gpt2": ("gpt2", {"n_heads": 2}),
    "gpt2-untied": ("gpt2", {"n_heads": 1, "bias": False, "tied": False, "n_layers": 3}),
    "mixtral": ("mixtral", {"n_heads": 4, "n_kv_heads": 2, "n_experts": 3, "k": 2}),
    "one-expert": ("mixtral", {"n_heads": 2, "n_experts": 5, "k": 1, "window": 3}),
    "attention-only": ("attention_only", {"n_heads": 4}),
    "attention-tied": ("attention_only", {"n_heads": 3, "tied": True, "n_layers": 1}),
    "translator": ("encoder_decoder", {"n_heads": 3}),
    "translator-bare": ("encoder_decoder", {"n_heads": 2, "bias": False, "n_layers": 1}),
}
# Between two GRUs: no layers and no heads, so that what is asked of the others is not asked of them.
ALIGNERS = {
    "aligner": ("aligner", {"score_dim": 7}),
    "aligner-narrow": ("aligner", {"score_dim": 1, "d_model": 2}),
    "aligner-odd": ("aligner", {"score_dim": 13, "d_model": 22, "vocab_size": 41}),
}
SIZES = {"vocab_size": 37, "d_model": 24, "n_layers": 2, "d_ff": 35, "max_seq_len": 19}
WORDS = ["<story>", ".", ",", "the", "Tom", "blue", "book", "ice-cream", "can't", "'s", "“", "”"]


def build(name: str, **more) -> tuple[str, nn.Module]:
    """Return the kind and a random model; its weights are far from those a builder starts with."""
    kind, own = (MODELS | ALIGNERS)[name]
    config, builder = KINDS[kind]
    fields = {k: v for k, v in SIZES.items() if k in config.__dataclass_fields__} | own | more
    model = builder(config(**fields)).eval()
    generator = torch.Generator().manual_seed(len(name))
    with torch.no_grad():
        for key, weight in model.named_parameters():
            draw = torch.randn(weight.shape, generator=generator)
            gain = key.endswith("norm.weight")
            weight.copy_(1 + 0.4 * draw if gain else draw * 1.3 * weight.shape[-1] ** -0.5)
    return kind, model


def vocabulary(size: int) -> list[str]:
    """Return words, one for each id."""
    return (WORDS + [f"word{i}" for i in range(size)])[:size]


def packed(model: nn.Module, kind: str, tensors: Mapping | None = None, **words) -> bytes:
    """Return the file of a model; `tensors` are others than its own weights in float32."""
    known = {"config": plain(model.config), "vocabulary": vocabulary(model.config.vocab_size)}
    metadata = {k: json.dumps(v) for k, v in (known | {"record": {"seed": 0}} | words).items()}
    weights = {k: v.contiguous() for k, v in (tensors or model.state_dict()).items()}
    return save(weights, {"kind": kind} | metadata)


def bundle(name: str, faults: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Return a module as `base.inlined` makes it, with faults: {module: (text, other text)}."""

    def read(module: str) -> str:
        source = source_of(module)
        if module in (faults or {}):
            old, new = faults[module]
            assert source.count(old) == 1, f"{module}.js has {source.count(old)} × {old!r}"
            source = source.replace(old, new)
        return source

    return inlined(name, read)


# Typed arrays as lists, Infinity and NaN as words, so that nothing is lost on the way to Python.
PLAIN = """(value) => {
  const plain = (x) => typeof x === "number" && !Number.isFinite(x) ? String(x)
    : ArrayBuffer.isView(x) ? Array.from(x, plain)
    : Array.isArray(x) ? x.map(plain)
    : x && typeof x === "object" ? Object.fromEntries(Object.entries(x)
        .filter(([, part]) => typeof part !== "function").map(([key, part]) => [key, plain(part)]))
    : x;
  return plain(value);
}"""

# A text read in parts, each time from the state before.
CACHED = """(() => {
  const m = models[a.name];
  const parts = [];
  let state = m.start(a.source);
  for (const part of a.parts) {
    const step = part.length === 1 ? m.step(state, part[0]) : m.run(part, { state });
    parts.push(step.logits);
    state = step.state;
  }
  return parts;
})()"""


class Twin:
    """A page that holds the modules, and models by name."""

    def __init__(
        self,
        page,
        modules=("twin/model", "twin/safetensors", "twin/sampling", "twin/flat"),
        faults=None,
    ):
        self.page = page
        for name in modules:
            text = base64.b64encode(bundle(name, faults).encode()).decode()
            page.evaluate(
                "([url, name]) => import(url).then((module) => { window[name] = module; })",
                [f"data:text/javascript;base64,{text}", name.rpartition("/")[2]],
            )
        page.evaluate(f"() => {{ window.plain = {PLAIN}; window.models = {{}}; }}")
        page.evaluate(
            "() => { window.bytes = (t) => Uint8Array.from(atob(t), (c) => c.charCodeAt(0)); }"
        )

    def load(self, name: str, data: bytes) -> None:
        """Unpack a file under a name."""
        script = "([name, data]) => { models[name] = new model.TrainedModel(bytes(data)); }"
        self.page.evaluate(script, [name, base64.b64encode(data).decode()])

    def __call__(self, script: str, **given):
        """Evaluate JavaScript over `a` (the arguments), `models` and the modules."""
        return self.page.evaluate(f"(a) => plain({script})", given)

    def run(self, name: str, ids, **options) -> dict:
        """Run a model; tensors come back as torch has them."""
        options = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in options.items()}
        script = f"""(({{ logits, probabilities, inner }}) => ({{ logits, probabilities, inner }}))
          (models[{name!r}].run(a.ids, a.options))"""
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        return tensors(self(script, ids=ids, options=options))


def tensors(value):
    """Return a result with every tensor as torch's own."""
    if isinstance(value, dict) and {"data", "shape"} <= value.keys():
        return torch.tensor([float(x) for x in value["data"]]).reshape(value["shape"])
    if isinstance(value, dict):
        return {key: tensors(part) for key, part in value.items()}
    return value


@contextmanager
def opened_twin(chromium, **options):
    """Open a page with the twin."""
    page = chromium.new_page()
    try:
        yield Twin(page, **options)
    finally:
        page.close()
