"""What ConfigCalculator has to show for its traits: `pieces` builds the model without memory."""

import functools
import re
from decimal import ROUND_HALF_UP, Decimal

import torch
from oracle import ask, right

from pieces.models.mistral import MistralConfig, mistral
from pieces.models.qwen2 import Qwen2Config, qwen2
from pieces.widgets.config_calculator import SIZES
from pieces.zoo import count_parameters

BYTES = {"float32": 4, "bfloat16": 2, "int8": 1, "int4": 0.5}
ADAM = {"weights": 2, "gradients": 2, "copy in float32": 4, "Adam’s moments": 8}
NAMES = {"llama-7b": "LLaMA 7B", "llama-13b": "LLaMA 13B", "llama-33b": "LLaMA 33B",
         "llama-65b": "LLaMA 65B", "llama-2-7b": "LLaMA-2 7B", "llama-2-13b": "LLaMA-2 13B",
         "llama-2-70b": "LLaMA-2 70B", "llama-3-8b": "LLaMA-3 8B",
         "mistral-7b-v0.1": "Mistral 7B", "qwen2-7b": "Qwen2 7B", "gemma-7b": "Gemma 7B",
         "stories_llama": "our stories LLaMA"}  # fmt: skip
ROLES = {"embedding": "query", "attention": "weight", "feed-forward": "value", "norms": "residual",
         "head": "output", "weights": "weight", "cache": "key", "gradients": "score",
         "copy in float32": "output", "Adam’s moments": "value",
         "inputs of the blocks": "residual"}  # fmt: skip
SHOWN = """(root) => ({
  panes: [...root.querySelectorAll(".p-pane-parts")].map((pane) => ({
    caption: pane.querySelector("figcaption").textContent,
    wholes: [...pane.querySelectorAll(".p-whole")].map((whole) => { const bar = whole.querySelector(".p-whole-bar").getBoundingClientRect();
      return { name: whole.querySelector(".p-whole-name").textContent, total: whole.querySelector(".p-whole-total").textContent,
        parts: [...whole.querySelectorAll(".p-part")].map((part) => { const box = part.getBoundingClientRect();
          return { name: part.querySelector("b").textContent, role: part.dataset.role, title: part.title,
            from: (box.left - bar.left) / bar.width, long: box.width / bar.width }; }) }; }),
    key: [...pane.querySelectorAll(".p-legend li")].map((li) => [li.textContent, li.querySelector("i").dataset.role]) })),
  work: [...root.querySelectorAll(".p-work li")].map((li) => li.textContent),
  facts: [...root.querySelectorAll(".p-facts > div")].map((div) => [div.querySelector("dt").textContent, div.querySelector("dd").textContent]),
  hows: [...root.querySelectorAll(".p-facts .p-how")].map((dd) => dd.textContent),
  marks: Object.fromEntries([...root.querySelectorAll(".p-mark")].filter((p) => p.textContent)
    .map((p) => [p.closest("[data-trait]").dataset.trait, p.textContent])),
  fields: Object.fromEntries([...root.querySelectorAll(".p-fields [data-trait]:has(output)")].map((box) => [box.dataset.trait,
    [box.querySelector(".p-number")?.value, box.querySelector("output").textContent]])),
  preset: root.querySelector("[data-trait=preset] select").value,
  said: root.querySelector(".p-say").textContent })"""


def config_of(sizes):
    """Return what is counted of these wishes, as a config of the package."""
    heads, wish = sizes["n_heads"], sizes["n_kv_heads"]
    fitting = {name: sizes[name] for name in SIZES} | {"window": sizes["window"] or None}
    fitting["n_kv_heads"] = max(n for n in range(1, min(heads, wish) + 1) if heads % n == 0)
    kind = Qwen2Config if sizes["bias"] and not sizes["out_bias"] else MistralConfig
    return kind(**fitting)


def marks_of(sizes):
    """Return what is said of wishes that do not fit each other."""
    found, heads, used = {}, sizes["n_heads"], config_of(sizes).n_kv_heads
    if used != sizes["n_kv_heads"]:
        verb = "is" if used == 1 else "are"
        found["n_kv_heads"] = (f"{heads} head{'s' * (heads > 1)} cannot share {sizes['n_kv_heads']} key-value heads "
                               f"evenly: {used} {verb} used.")  # fmt: skip
    if sizes["length"] > sizes["max_seq_len"]:
        most = f"{sizes['max_seq_len']:,}"
        verb = "is" if most == "1" else "are"
        found["length"] = f"Longer than the longest text: {most} {verb} counted."
    return found


@functools.cache
def counted(config):
    """Return the parameters by part of the model itself, built on the meta device, and of its
    matrices that take part in a product.
    """
    with torch.device("meta"):
        model = (qwen2 if isinstance(config, Qwen2Config) else mistral)(config)
    parts = count_parameters(model)
    products = sum(p.numel() for name, p in model.named_parameters()
                   if p.ndim == 2 and (config.tied or not name.startswith("embedding")))  # fmt: skip
    shown = ("embedding", "attention", "feed-forward", "norms", "head")
    right(sum(parts[name] for name in shown) == parts["total"], f"other parts: {parts}")
    return {name: parts[name] for name in shown}, parts["total"], products


def short(value, giga="B"):
    """Return a number as three digits and a letter."""
    for size, letter in ((1e12, "T"), (1e9, giga), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.9995:
            return f"{three(value / size)} {letter}"
    return three(value)


def three(value):
    """Return three digits, the half rounded up as JavaScript does."""
    exact = Decimal(value)
    digits = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_HALF_UP)
    return f"{float(digits):g}"


def round_share(share):
    """Return a share in per cent, which is 0 or 100 only where it is so."""
    edge = ">\u00a099" if 0.995 < share < 1 else "<\u00a01" if 0 < share < 0.005 else None
    return f"{edge or int(100 * share + 0.5)}\u00a0%"


def config_biased(config):
    """Whether any of the parts has biases, as it is built."""
    with torch.device("meta"):
        model = (qwen2 if isinstance(config, Qwen2Config) else mistral)(config)
    return any(name.endswith("bias") for name, _ in model.named_parameters())


def in_bytes(value):
    return short(value, "G") + (" B" if value < 999.5 else "B")


def spoken(letters):
    """Return a formula in letters as Python: V D is a product."""
    tokens = re.findall(r"[A-Z]|\d+|[()+]", letters)
    text = " ".join(tokens)
    return re.sub(r"(?<=[A-Z\d)]) (?=[A-Z\d(])", " * ", text)


def same_parts(pane, wholes, show, unit):
    """Compare bars: their names, lengths on one scale, roles, totals, and the key."""
    right([w["name"] for w in pane["wholes"]] == [name for name, _ in wholes], pane["wholes"])
    top = max(sum(parts.values()) for _, parts in wholes)
    for drawn, (name, parts) in zip(pane["wholes"], wholes, strict=True):
        total = sum(parts.values())
        right(drawn["total"] == show(total), f"{name}: {drawn['total']}, not {show(total)}")
        right([p["name"] for p in drawn["parts"]] == list(parts), f"{name}: {drawn['parts']}")
        start = 0
        for part, (what, value) in zip(drawn["parts"], parts.items(), strict=True):
            right(abs(part["long"] - value / top) < 0.004, f"{name}, {what}: {part['long']}")
            right(abs(part["from"] - start / top) < 0.006, f"{name}, {what} at {part['from']}")
            right(part["role"] == ROLES[what], f"{what} has the colour of {part['role']}")
            share = f"{int(1000 * value / total + 0.5) / 10:g}"
            told = f"{name}, {what}: {show(value)}{unit}, {share} %"
            right(part["title"] == told, f"{part['title']!r}, not {told!r}")
            start += value
    key = dict.fromkeys(what for _, parts in wholes for what in parts)
    right(pane["key"] == [[what, ROLES[what]] for what in key], f"the key: {pane['key']}")


def same_work(lines, parts, total, config):
    """Run each line's letters and its numbers, and compare both with the count."""
    values = {"V": config.vocab_size, "D": config.d_model, "L": config.n_layers,
              "H": config.n_heads, "G": config.n_kv_heads, "K": config.head_dim,
              "F": config.d_ff}  # fmt: skip
    right(len(lines) == len(parts) + 1, lines)
    for line, (name, count) in zip(lines, [*parts.items(), ("all", total)], strict=True):
        right(line.startswith(f"{name} "), f"{line!r} is not about {name}")
        letters, *numbers = line.removeprefix(f"{name} ").split(" = ")
        told = [float(eval(text.replace(",", "").replace("·", "*"))) for text in numbers]
        if name == "all":
            told = [float(letters.replace(",", ""))]
        elif "once more" in letters:
            right(config.tied, line)
        else:
            right(len(told) == 2, f"{line!r}: no numbers")
            told.append(float(eval(spoken(letters), {}, values)))
        right(told and all(value == count for value in told), f"{line!r}: not {count}")


def config_calculator(root, s):
    """Bars, formulas, tiles, sentence, fields, and what Python reads."""
    config, shown = config_of(s), ask(root, SHOWN)
    parts, total, products = counted(config)
    name = next((n for n, of in known().items() if of == config), "")
    counts, kept = shown["panes"]
    rows = [(NAMES.get(name, "These sizes"), parts)]
    if s["before"]:
        before = config_of(s["before"])
        right(before != config, "nothing has changed since before")
        other = next((n for n, of in known().items() if of == before), "")
        rows.append((f"before: {NAMES.get(other, 'sizes of your own')}", counted(before)[0]))
    same_parts(counts, rows, short, " parameters")
    same_work(shown["work"], parts, total, config)
    weights, cache = BYTES[s["weights_dtype"]], BYTES[s["cache_dtype"]]
    length = min(s["length"], config.max_seq_len)
    seen = min(config.window or length, length)
    token = 2 * config.n_layers * config.n_kv_heads * config.head_dim * s["batch"] * cache
    writing = {"weights": total * weights, "cache": token * seen}
    inputs = 2 * config.n_layers * s["batch"] * length * config.d_model
    training = {what: bytes_ * total for what, bytes_ in ADAM.items()}
    training["inputs of the blocks"] = inputs
    both = [("to write", writing), ("to train, at least", training)]
    same_parts(kept, both, in_bytes, "")
    operations = 2 * products + 4 * config.n_layers * config.n_heads * config.head_dim * seen
    read = (total - (0 if config.tied else parts["embedding"])) * weights + token * seen
    speed = s["batch"] * s["bandwidth"] * 1e9 / read
    facts = [["operations a token", short(operations, "G")],
             ["cache of one token", in_bytes(token)],
             ["read in each step", in_bytes(read)],
             ["tokens a second, at most", short(speed)]]  # fmt: skip
    right(shown["facts"] == facts, f"{shown['facts']}, not {facts}")
    right(("V D" in shown["hows"][0]) == config.tied, f"the head once: {shown['hows'][0]}")
    right(("but the embedding" in shown["hows"][2]) != config.tied, f"read: {shown['hows'][2]}")
    biased = config_biased(config)
    right((", biases aside" in shown["hows"][0]) == biased, f"biases: {shown['hows'][0]}")
    share = round_share(parts["feed-forward"] / total)
    one = {name: f"{n} token{'s' * (n != '1')}" for name, n in (("seen", f"{seen:,}"),
                                                                ("speed", short(speed)))}  # fmt: skip
    right(shown["said"] == (
        f"{rows[0][0]}: {short(total)} parameters, {share} of them in the feed-forward networks. "
        f"As {s['weights_dtype']} the weights take {in_bytes(total * weights)}. With {one['seen']} "
        f"in the cache it writes at most {one['speed']} a second, if reading weights and "
        "cache is all that takes time."), shown["said"])  # fmt: skip
    for trait, (typed, told) in shown["fields"].items():
        number = round(s[trait]) if trait == "bandwidth" else s[trait]
        used = {"n_kv_heads": config.n_kv_heads, "length": length}.get(trait, number)
        field, value = None if trait == "n_kv_heads" else str(number), f"{used:,}"
        right([typed, told] == [field, value], f"{trait}: {typed}, {told}")
    right(shown["marks"] == marks_of(s), f"{shown['marks']}, not {marks_of(s)}")
    right(shown["preset"] == (name or ""), f"{shown['preset']}, not {name}")
    for box in ("tied", "bias", "out_bias", "ff_bias"):
        ticked = root.locator(f"[data-trait={box}] input").is_checked()
        right(ticked == s[box], f"{box} is {s[box]}")
    right(s["preset"] == name, f"Python reads the preset {s['preset']!r}")
    right(s["parameters"] == parts | {"total": total}, f"Python reads {s['parameters']}")
    right(s["memory"]["inference"] == writing, f"Python reads {s['memory']}")
    right(list(s["memory"]["training"].values()) == list(training.values()), s["memory"])
    for trait, value in (("operations", operations), ("cache_bytes", token * seen),
                         ("bytes_read", read), ("tokens_per_second", speed)):  # fmt: skip
        right(abs(s[trait] / value - 1) < 1e-12, f"Python reads {trait} = {s[trait]}, not {value}")


@functools.cache
def known():
    """Return the presets of the package by the names that the widget gives them, and our own."""
    from pieces import trained
    from pieces.models import gemma, llama, mistral, qwen2
    from pieces.widgets import ConfigCalculator

    every = llama.PRESETS | mistral.PRESETS | qwen2.PRESETS | gemma.PRESETS
    ours = trained.shared("stories_llama").model.config
    found = {name: every.get(name, ours) for name in NAMES}
    return {name: ConfigCalculator.of(config).config() for name, config in found.items()}
