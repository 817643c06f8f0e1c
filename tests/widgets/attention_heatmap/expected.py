"""What AttentionHeatmap has to show for its traits, by torch and `pieces`, never by the page."""

import torch
from by_torch import read
from oracle import maps, right, same_bars, same_map
from twins import build
from twins import vocabulary as words_of


def attention_heatmap(root, s):
    """The map of the head shown, the bars of the next words, and what Python reads of both."""
    _, model = build("attention-only")  # the one that `example` hands over
    words, vocabulary = s["text"].split(), words_of(model.config.vocab_size)
    ids = [vocabulary.index(word) for word in words]
    T, off = len(ids), s["off"]
    weights, after = read(model, ids, off)
    before = read(model, ids)[1]
    layer = weights[s["layer"] - 1]
    shown = layer[s["head"] - 1] if s["head"] else layer.mean(0)
    token = min(s["token"] or T, T) - 1
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
