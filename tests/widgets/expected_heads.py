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
