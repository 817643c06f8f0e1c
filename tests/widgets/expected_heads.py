"""What AttentionHeatmap has to show for its traits, by the model in PyTorch."""

import torch
from oracle import maps, right, same_bars, same_map
from twins import build
from twins import vocabulary as words_of

from pieces.trace import record


def heads_off(model, off):
    """Hooks that set what these heads [layer, head], from 1, pass on to zero."""
    modules = dict(model.named_modules())

    def silence(head):
        def change(module, args, out):
            z = out[0].clone()
            z[:, head - 1] = 0
            return z, out[1]

        return change

    return [
        modules[f"stack.blocks.{layer - 1}.attention.core"].register_forward_hook(silence(head))
        for layer, head in off
    ]


def read(model, ids, off=()):
    """Weights [L, H, T, T] and probabilities [T, V] with these heads off."""
    hooks = heads_off(model, off)
    try:
        with torch.no_grad(), record(model) as trace:
            probabilities = model(torch.tensor([ids])).softmax(-1)[0]
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack([call["weights"][0] for call in trace.values()]), probabilities


def attention_heatmap(root, s):
    """The map of the head shown, the bars of the next words, and what Python reads of both."""
    _, model = build("attention-only")  # the one that samples.py hands over
    words, vocabulary = s["text"].split(), words_of(model.config.vocab_size)
    ids = [vocabulary.index(word) for word in words]
    T, off = len(ids), s["off"]
    weights, after = read(model, ids, off)
    before = read(model, ids)[1]
    layer = weights[s["layer"] - 1]
    shown = layer[s["head"] - 1] if s["head"] else layer.mean(0)
    token = (s["token"] or T) - 1
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    (drawn,) = maps(root)
    named = {"rows": words, "columns": words, "signed": False, "frame": token}
    same_map(drawn, shown.tolist(), mask=visible.tolist(), **named)
    right(torch.tensor(s["looks"]).allclose(shown[token], atol=1e-5), "other weights are read")
    said = [[word, float(p[token, vocabulary.index(word)])] for word, *_ in s["next_words"]
            for p in (after, before)]  # fmt: skip
    got = [[word, p] for word, *both in s["next_words"] for p in both]
    right(all(abs(a[1] - b[1]) < 1e-5 for a, b in zip(said, got, strict=True)), "other chances")
    same_bars(
        root, [row[0] for row in s["next_words"]], [([r[1] for r in s["next_words"]], 1, False, 2)]
    )


ARCS = """(root) => [...root.querySelectorAll(".p-arc-on")].map((arc) =>
  [Number(arc.dataset.query), Number(arc.dataset.key), Number(arc.getAttribute("stroke-width"))])"""


def pronoun_arcs(root, s):
    """The words, the arcs of the one that is followed, the word behind it, and the sentence."""
    _, model = build("llama")  # the one that samples.py hands over
    words, vocabulary = s["text"].split(), words_of(model.config.vocab_size)
    T = len(words)
    token = (s["token"] or T) - 1
    weights, after = read(model, [vocabulary.index(word) for word in words])
    row = weights[s["layer"] - 1][s["head"] - 1][token]
    chips = root.locator(".p-chip").all_inner_texts()
    right(chips == words, chips)
    drawn = {key: (query, width) for query, key, width in root.evaluate(ARCS)}
    seen = {j for j in range(T) if float(row[j]) >= 0.02}
    right(set(drawn) == seen, f"arcs to {sorted(drawn)}, not {sorted(seen)}")
    for key, (query, width) in drawn.items():
        right(query == token, f"an arc from {query}, not {token}")
        right(abs(width - (0.8 + 4.2 * float(row[key]))) < 0.011, f"an arc is {width} wide")
    right(torch.tensor(s["looks"]).allclose(row[: len(s["looks"])], atol=1e-5), "other weights")
    right(len(s["looks"]) == T, "weights of other words are read")
    best, likely = int(row.argmax()), after[token].argsort(descending=True)
    said = root.locator(".p-say").inner_text()
    right(f"“{words[token]}” looks at “{words[best]}”" in said, said)
    right(f"expects “{vocabulary[int(likely[0])]}”" in said, said)
    wanted = [i for n, i in enumerate(likely[:3].tolist()) if not n or after[token, i] >= 0.005]
    right([word for word, _ in s["next_words"]] == [vocabulary[i] for i in wanted], s["next_words"])
    chances = after[token, wanted].tolist()
    same_bars(root, [vocabulary[i] for i in wanted], [(chances, 1, False, 2)])
    pressed = root.locator(".p-swap [aria-pressed=true]").all_inner_texts()
    right(pressed == [words[-1]] * (words[-1] in s["others"]), pressed)
