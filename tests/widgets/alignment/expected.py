"""What Alignment has to show for its traits, by torch and `pieces`, never by the page."""

import copy
import functools
import re

import torch
from oracle import ask, maps, right, same_map, says

from pieces import trained
from pieces.tasks.grammar import ADJECTIVES, ARTICLES, NOUNS, TIMES, VERBS
from pieces.trace import record


def alignment(root, s):
    """The words, the ink between them, its numbers, the map, the sentence, what Python reads."""
    characters, words, sure, weights = translated(s["text"])
    T, S = weights.shape
    right(s["translation"] == words, f"Python reads the translation {s['translation']}")
    if not words:
        right(not root.locator(".p-pane:visible").count(), "a picture of nothing")
        return
    on = min(s["word"], T) - 1 if s["word"] else None
    drawn = ask(root.locator(".p-bridge"), BRIDGE)
    right(drawn["left"] == characters and drawn["right"] == words, "other words are shown")
    chosen = [[on]] if on is not None else [[]]
    right([drawn["chosen"]] == chosen, f"word {drawn['chosen']} is marked, not {on}")
    shown = {
        (t, c) for t in range(T) for c in range(S) if weights[t, c] >= (0.005 if t == on else 0.05)
    }
    right({(t, c) for t, c, *_ in drawn["inks"]} == shown, "ink between other words")
    for t, c, width, lit, start, end in drawn["inks"]:
        want = 0.8 + 7.2 * float(weights[t, c])
        right(abs(width - want) < 0.011, f"ink {t} to {c} is {width} wide, not {want:.2f}")
        right(start == t and end == c and lit == (t == on), f"the ink of {t} runs {start} to {end}")
    for c, text in enumerate(drawn["weights"]):
        value = float(weights[on, c]) if on is not None else 0
        right(
            says(text, value, 2) if text else value < 0.00501,
            f"{characters[c]}: {text}, not {value}",
        )
    (grid,) = maps(root)
    same_map(grid, weights.tolist(), rows=words, columns=characters, frame=on, signed=False)
    given = torch.tensor(s["weights"], dtype=torch.float64)
    right(torch.allclose(given, weights, atol=1e-5), "Python reads other weights")
    right(torch.allclose(torch.tensor(s["probabilities"]).double(), sure, atol=1e-5), "other odds")
    said = root.locator(".p-say").inner_text()
    if on is not None:
        looked(said, words[on], float(sure[on]), characters, weights[on], drawn["glosses"])


BRIDGE = """(stage) => {
  const box = (node) => node.getBoundingClientRect();
  const left = [...stage.querySelectorAll(".p-sources .p-chip")];
  const right = [...stage.querySelectorAll(".p-chips .p-chip")];
  const at = (nodes, y) => nodes.findIndex((n) => box(n).top <= y && y <= box(n).bottom);
  const text = (nodes) => nodes.map((node) => node.textContent);
  return {
    left: text(left), right: text(right), weights: text([...stage.querySelectorAll(".p-drawn")]),
    chosen: right.flatMap((n, t) => (n.ariaChecked === "true" ? [t] : [])),
    glosses: [...stage.querySelectorAll(".p-gloss")].map((n) =>
      [n.textContent, Number((n.style.gridRow || "1 / span 1").split("span")[1])]),
    inks: [...stage.querySelectorAll(".p-ink")].map((path) => {
      const [from, to] = [0, path.getTotalLength()].map((l) =>
        path.getPointAtLength(l).matrixTransform(path.getScreenCTM()));
      return [Number(path.dataset.row), Number(path.dataset.column), Number(path.getAttribute("stroke-width")),
        path.classList.contains("p-ink-on"), at(right, from.y), at(left, to.y)];
    }),
  };
}"""


@functools.lru_cache(maxsize=64)
def translated(text):
    """The shipped aligner in float64: characters, words, their probabilities, weights [T, S]."""
    shipped = trained.shared("aligner")
    task, model = shipped.task, copy.deepcopy(shipped.model).double()
    read = [one for one in task.cut(text) if one in task.ids and not one.isascii()][:24]
    ids, sure, rows = [task.bos_id], [], []
    if read:
        source = torch.tensor([[task.ids[one] for one in read]])
        while len(ids) <= 24:
            with torch.no_grad(), record(model) as trace:
                odds = model(source, torch.tensor([ids]))[0, -1].softmax(-1)
            if int(odds.argmax()) == task.eos_id:
                break
            ids.append(int(odds.argmax()))
            sure.append(odds.max())
            rows.append(trace["core"]["weights"][0, 0, 0])
    weights = torch.stack(rows) if rows else torch.zeros(0, 0)
    return read, [task.vocabulary[n] for n in ids[1:]], torch.tensor(sure).double(), weights


def looked(said, word, sure, characters, weights, glosses):
    """The sentence: the Chinese words that got most, with the weights of their characters."""
    meant = {}
    for row in TIMES + ARTICLES + ADJECTIVES + NOUNS + VERBS:
        meant.setdefault(row[0], set()).update(row[1:])
    at, seen = 0, []
    for gloss, size in glosses:
        name = "".join(characters[at : at + size])
        right(name not in meant or gloss in meant[name], f"{name} is said to mean {gloss}")
        two = characters[at : at + 2]
        right(
            size == len(two) == 2 or len(two) < 2 or "".join(two) not in meant, f"{two} are apart"
        )
        seen.append((float(weights[at : at + size].sum()), name))
        at += size
    right(at == len(characters), "glosses of other characters")
    seen.sort(reverse=True)
    right(said.startswith(f"“{word}” looked at "), said)
    right((" looked at several places, most at " in said) == (seen[0][0] < 0.5), said)
    told = re.findall(r"([^\x00-\x7f“”]+)(?: \([\w, ]+\))? with (\d[\d.]*\d)", said)
    right(told, said)
    for (name, text), (weight, _) in zip(told, seen, strict=False):
        right(says(text, weight, 2), f"{name}: {text}, not {weight}")
        right(
            any(n == name and abs(w - weight) < 1e-4 for w, n in seen), f"{name} got another weight"
        )
    beside = sum(weight >= 0.1 for weight, _ in seen[1:3])
    right(len(told) == (1 + beside if seen[0][0] >= 0.5 else min(3, len(seen))), f"{said}: {seen}")
    doubt = re.search(r"The model was not sure of “(.+?)”: it gave it (\S+)\.$", said)
    right(bool(doubt) == (sure < 0.5), said)
    if doubt:
        right(doubt[1] == word and says(doubt[2], sure, 2), f"{said}: {sure}")
