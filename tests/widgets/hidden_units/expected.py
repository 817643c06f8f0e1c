"""What HiddenUnits has to show for its traits, by torch and `pieces`, never by the page."""

import functools
import re

import torch
from oracle import ask, right, same_bars, says
from told import tables
from twins import build
from twins import vocabulary as words_of

from pieces import feedforward, trained
from pieces.book import measured

CHIPS = """(root) => [...root.querySelectorAll(".p-chip")].map((chip) => ({ word: chip.textContent,
  below: getComputedStyle(chip, "::after").content.replaceAll('"', ""), label: chip.ariaLabel,
  seen: parseFloat(chip.style.getPropertyValue("--seen")), role: chip.dataset.role,
  was: chip.dataset.was ?? null, stripe: parseFloat(chip.style.getPropertyValue("--was")),
  chosen: chip.getAttribute("aria-checked") === "true" }))"""
GHOSTS = """(pane) => [...pane.querySelectorAll(".p-bar s")].map((was) =>
  was.hidden ? null : (parseFloat(was.style.left) || 0) / 100)"""


@functools.cache
def shipped(name="stories_llama"):
    """The model of the book, or the one that `example` hands over; and its words."""
    if name == "own":
        model = build("llama")[1]
        return model, words_of(model.config.vocab_size)
    found = trained.shared("stories_llama")
    return found.model, found.task.vocabulary


@torch.no_grad()
def read(model, ids, held=None):
    """Gate, up and value [layers, T, F], and probabilities [T, V]; held = (layer, unit, value)."""
    seen = {}

    def keep(name):
        def hook(module, args, out):
            seen[name] = out[0].clone()
            if held and name == f"{held[0] - 1}.dropout":
                out = out.clone()
                out[..., held[1] - 1] = held[2]
                return out

        return hook

    blocks = list(enumerate(model.stack.blocks))
    hooks = [
        getattr(block.feed_forward, part).register_forward_hook(keep(f"{n}.{part}"))
        for n, block in blocks
        for part in ("gate", "up", "dropout")
        if hasattr(block.feed_forward, part)
    ]
    try:
        probabilities = model(torch.tensor([ids])).softmax(-1)[0]
    finally:
        for hook in hooks:
            hook.remove()
    return seen, probabilities


def small(value):
    """How many decimals a value has under its word."""
    return 1 if abs(value) < 9.95 else 0


def hidden_units(root, s):
    """Words and their values, both bars and their ghosts, slider, product, buttons, sentence."""
    model, vocabulary = shipped(s["model_name"])
    layer, unit, held = s["layer"], s["unit"], s["held"]
    chips = ask(root, CHIPS)
    ids = [vocabulary.index(chip["word"]) for chip in chips]
    typed = [w.lower() for w in re.findall(r"[\w-]+|[^\s\w]", s["text"])]
    right([vocabulary[i].lower() for i in ids] == typed, "other words are read")
    t = min(s["token"] or len(ids), len(ids)) - 1
    seen, before = read(model, ids)
    after = read(model, ids, (layer, unit, s["value"]))[1] if held else before
    value = seen[f"{layer - 1}.dropout"]
    own = value[:, unit - 1]
    known = measured.record_of("hidden_units")["units"].get(f"{layer}.{unit}")
    if s["model_name"] == "own":
        known = {"size": max(1.0, 2 * float(own.abs().max())), "words": []}
    right(torch.tensor(s["values"]).allclose(own, atol=1e-3), "Python reads other values")
    for n, (chip, v) in enumerate(zip(chips, own.tolist(), strict=True)):
        one_word(chip, v, s["value"] if held else None, known["size"])
        right(chip["chosen"] == (n == t), f"{chip['word']} is chosen: {chip['chosen']}")
    at_each(root, s, chips, own)
    next_words(root, s, after[t], before[t], chips[t]["word"])
    opens = root.locator(".p-opens .p-pane-bars")
    right(opens.is_visible() == bool(known["words"]), "what is known of the unit")
    means = [mean for _, mean in known["words"]]
    if means:
        same_bars(
            opens, [vocabulary[i] for i, _ in known["words"]], [(means, known["size"], True, 1)]
        )
    stands = s["value"] if held else float(own[t])
    told = root.locator("[data-trait=value] output").text_content()
    right(says(told, stands, small(stands)), f"the slider says {told}, not {stands}")
    at = float(root.locator("[data-trait=value] input").input_value())
    right(abs(at - 100 * stands / known["size"]) < 1e-3 or abs(at) == 100, f"the slider: {at}")
    parts = root.locator(".p-unit-sum span").all_text_contents()
    gate, up = (seen[f"{layer - 1}.{part}"][t, unit - 1] for part in ("gate", "up"))
    product = (feedforward.swish(gate), up, own[t])
    for text, name, v in zip(parts, ("gate", "up", "value"), product, strict=True):
        right(text.startswith(f"{name} ") and says(text.split()[1], float(v), 2), f"{text}: {v}")
    widest = value[t].abs().topk(5).indices.tolist()
    buttons = root.locator(".p-widest button").all_text_contents()
    right(len(buttons) == 5, buttons)
    line = root.locator(".p-widest > span").text_content()
    right(f"of layer {layer} that this “{chips[t]['word']}” opens widest by itself" in line, line)
    named = root.locator(".p-widest button").evaluate_all("(all) => all.map((b) => b.ariaLabel)")
    right(named == [f"Show unit {layer}.{n + 1}" for n in widest], named)
    for text, n in zip(buttons, widest, strict=True):
        name, size = text.split(" ")
        right(
            name == f"{layer}.{n + 1}" and says(size, float(value[t, n]), small(value[t, n])), text
        )
    unit_sentence(
        root.locator(".p-say").inner_text(), s, after[t], before[t], chips[t]["word"], own[t]
    )


def one_word(chip, own, held, size):
    """A word has the unit's value below it, or that at which it is held, and its own as a stripe."""
    word, stands = chip["word"], own if held is None else held
    share = lambda v: 48 * min(1, abs(v) / size)  # noqa: E731
    role = lambda v: "key" if v < 0 else "output"  # noqa: E731
    right(says(chip["below"], stands, small(stands)), f"{word}: {chip['below']}, not {stands}")
    right(chip["label"] == f"{word}, {chip['below']}", chip["label"])
    right(abs(chip["seen"] - share(stands)) <= 0.51, f"{word} has {chip['seen']} % of colour")
    right(chip["role"] == role(stands), f"{word} is {chip['role']}")
    right(chip["was"] == (None if held is None else role(own)), f"{word} was {chip['was']}")
    right(abs(chip["stripe"] - share(own)) <= 0.51, f"{word} had {chip['stripe']} % of colour")


def at_each(root, s, chips, own):
    """The caption above the words and the table of them name this unit, and where it is held."""
    name, held = f"{s['layer']}.{s['unit']}", number_of(s["value"])
    told = root.locator(".p-unit-words figcaption").text_content()
    right(told == f"Unit {name}{f', held at {held}' if s['held'] else ''} at each word", told)
    undone = root.locator(".p-unit-sum b").all_text_contents()
    gated = root.locator(".p-unit-sum span").count() > 0
    right(undone == ([f" → held at {held}"] if s["held"] and gated else []), undone)
    mine = [rows for caption, rows in tables(root) if caption == "The unit at each word"]
    if not mine:  # the table view is shut
        return
    head, *rows = mine[0]
    right(head == ["word", f"unit {name}"] + ["held at"] * s["held"], head)
    for row, chip, v in zip(rows, chips, own.tolist(), strict=True):
        right(row[0] == chip["word"] and says(row[1], v, 3), row)
        right(not s["held"] or says(row[2], s["value"], 3), row)


def next_words(root, s, after, before, word):
    """The likeliest next words: names, bars, ghosts of what was, and what Python reads."""
    vocabulary = shipped(s["model_name"])[1]
    pane = root.locator(".p-pane-bars").first
    right(pane.locator("figcaption").text_content() == f"The next word after “{word}”", "a caption")
    names = [row[0] for row in s["next_words"]]
    order = torch.maximum(after, before).argsort(descending=True)[:6].tolist()
    right({vocabulary.index(name) for name in names} == set(order), f"other words: {names}")
    now, was = ([float(p[vocabulary.index(name)]) for name in names] for p in (after, before))
    right(now == sorted(now, reverse=True), "not the likeliest first")
    same_bars(pane, names, [(now, 1, False, 2)])
    for (_, p, q), a, b in zip(s["next_words"], now, was, strict=True):
        right(abs(p - a) < 1e-5 and abs(q - b) < 1e-5, "Python reads other chances")
    ghosts = pane.evaluate(GHOSTS)
    wanted = was if s["held"] else [None] * len(was)
    for ghost, share in zip(ghosts, wanted, strict=True):
        close = ghost is share if share is None or ghost is None else abs(ghost - share) < 1e-3
        right(close, f"a ghost at {ghost}, not {share}")


def unit_sentence(said, s, after, before, word, own):
    """It tells the unit's value, and the likeliest word's chance before and after."""
    vocabulary = shipped(s["model_name"])[1]
    was, leads = int(before.argmax()), int(after.argmax())
    percents = [int(n) for n in re.findall(r"(\d+)\s%", said)]
    if not s["held"]:
        told = re.search(r"At “(.*?)” the unit stands at (\S+)\. ", said)
        right(told and told[1] == word and says(told[2], float(own), small(own)), said)
        return
    held = f"{'Held' if 'leaves' in said else 'With it'} at {number_of(s['value'])}"
    right(f"“{vocabulary[was]}”" in said and held in said, said)
    chances = [float(before[was]), float(after[was])]
    if "leaves" in said:
        right(abs(chances[0] - chances[1]) < 0.02, said)
        chances = chances[1:]
    if was != leads and "leaves" not in said:
        right(f"Now “{vocabulary[leads]}” leads" in said, said)
        chances.append(float(after[leads]))
    right(len(percents) == len(chances), said)
    right(all(abs(n - 100 * p) <= 1 for n, p in zip(percents, chances, strict=True)), said)


def number_of(value):
    """A value as the widget writes it."""
    return f"{value:.{small(value)}f}".replace("-", "−")
