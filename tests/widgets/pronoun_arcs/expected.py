"""What PronounArcs has to show for its traits, by torch and `pieces`, never by the page."""

import re

import torch
from by_torch import read
from oracle import ask, right, same_bars
from told import same_voice, tables
from twins import build
from twins import vocabulary as words_of

ARCS = """(root) => [...root.querySelectorAll(".p-arc-on")].map((arc) =>
  [Number(arc.dataset.query), Number(arc.dataset.key), Number(arc.getAttribute("stroke-width"))])"""


def pronoun_arcs(root, s):
    """The words, the arcs of the one that is followed, the word behind it, and the sentence."""
    _, model = build("llama")  # the one that `example` hands over
    words, vocabulary = s["text"].split(), words_of(model.config.vocab_size)
    T = len(words)
    token = min(s["token"] or T, T) - 1
    weights, after = read(model, [vocabulary.index(word) for word in words])
    row = weights[s["layer"] - 1][s["head"] - 1][token]
    chips = root.locator(".p-chip").all_inner_texts()
    right(chips == words, chips)
    drawn = {key: (query, width) for query, key, width in ask(root, ARCS)}
    seen = {j for j in range(T) if float(row[j]) >= 0.02}
    right(set(drawn) == seen, f"arcs to {sorted(drawn)}, not {sorted(seen)}")
    for key, (query, width) in drawn.items():
        right(query == token, f"an arc from {query}, not {token}")
        right(abs(width - (0.8 + 4.2 * float(row[key]))) < 0.011, f"an arc is {width} wide")
    right(torch.tensor(s["looks"]).allclose(row[: len(s["looks"])], atol=1e-5), "other weights")
    right(len(s["looks"]) == T, "weights of other words are read")
    best, likely = int(row.argmax()), after[token].argsort(descending=True)
    said = root.locator(".p-say").inner_text()
    told = re.fullmatch(r"“(.*?)” looks at “(.*?)” with (\d+)\s% of its weight\. "
                        r"After it the model expects “(.*?)” \((.*?)\s%\)\.", said)  # fmt: skip
    right(told, said)
    right(told.group(1, 2, 4) == (words[token], words[best], vocabulary[int(likely[0])]), said)
    chance = 100 * float(after[token, likely[0]])
    right(abs(int(told[3]) - 100 * float(row[best])) <= 0.51, f"{said}: {float(row[best])}")
    right(abs(int(told[5].strip("<>\xa0")) - chance) <= 0.51, f"{said}: {chance} %")
    same_voice(root, words, token, row[: token + 1], 0.02)
    for _, (head, *listed) in [one for one in tables(root) if one[0].startswith("Press a word")]:
        right(head == ["word", "looks at", "weight"], head)
        every = weights[s["layer"] - 1][s["head"] - 1]
        pairs = [(i, j) for i in range(T) for j in range(i + 1) if float(every[i, j]) >= 0.02]
        right([one[:2] for one in listed] == [[words[i], words[j]] for i, j in pairs], "its rows")
        for (*_, text), (i, j) in zip(listed, pairs, strict=True):
            right(abs(float(text) - float(every[i, j])) < 1e-4, f"{text}, not {float(every[i, j])}")
    wanted = [i for n, i in enumerate(likely[:3].tolist()) if not n or after[token, i] >= 0.005]
    right([word for word, _ in s["next_words"]] == [vocabulary[i] for i in wanted], s["next_words"])
    chances = after[token, wanted].tolist()
    same_bars(root, [vocabulary[i] for i in wanted], [(chances, 1, False, 2)])
    pressed = root.locator(".p-swap [aria-pressed=true]").all_inner_texts()
    right(pressed == [words[-1]] * (words[-1] in s["others"]), pressed)
