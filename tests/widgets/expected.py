"""What each widget has to show for its traits, by torch and `pieces`, never by the page."""

import copy
import functools
import math
import re

import torch
from drawn_numbers import gaussian
from expected_heads import attention_heatmap
from expected_scores import score_functions
from oracle import maps, number, right, same_map, says

from pieces import masks, scores, trained
from pieces.attention import masked_softmax
from pieces.tasks.grammar import ADJECTIVES, ARTICLES, NOUNS, TIMES, VERBS
from pieces.trace import record
from pieces.widgets import FillMask, MaskExplorer
from pieces.widgets.mask_explorer import KINDS

LOW = "₁₂₃₄₅₆"
TWO_WAY = ("full", "prefix", "padding")


def mask_explorer(root, s):
    """Mask, weights and reach, what is outlined, the code line, the sentence, what Python reads."""
    given = {name: s[name] for name in MaskExplorer.controls() if name not in ("allowed", "leaks")}
    widget, T = MaskExplorer(**given), s["T"]
    mask, plain = widget.mask(), MaskExplorer(**given | {"flips": []}).mask()
    reach = masks.reach(mask, s["layers"])
    later = ~masks.causal(T)
    meant = torch.zeros_like(mask)
    flipped = bool((mask != plain).any())
    if s["kind"] in TWO_WAY:
        meant = masks.reach(plain, s["layers"]) if flipped else ~meant
    draws = gaussian(168, 24 * 24).reshape(24, 24)[:T, :T]
    named = {"rows": s["tokens"], "columns": s["tokens"], "signed": False}
    marked = lambda open_: (open_ & later & ~meant).nonzero().tolist()  # noqa: E731
    grid, weights, reached = maps(root)
    same_map(grid, mask.int().tolist(), mask=mask, marks=marked(mask), digits=0, **named)
    same_map(weights, masked_softmax(draws, mask).tolist(), mask=mask, **named)
    same_map(reached, reach.int().tolist(), mask=reach, marks=marked(reach), digits=0, **named)
    line = root.locator(".p-code code").inner_text().split(" with ")[0]
    made = eval(line, {"masks": masks, "torch": torch}).expand(1, 1, T, T)[0, 0]
    right(torch.equal(made, plain), f"{line} makes another mask")
    said = root.locator(".p-say").inner_text()
    right(f"{int(mask.sum())} of {T * T} cells are open" in said, said)
    right(f"After {s['layers']} layer{'s' * (s['layers'] > 1)} the last output" in said, said)
    right(f"depends on {int(reach[-1].sum())} of {T} inputs" in said, said)
    leaks = (mask & later).nonzero().tolist()
    right(s["allowed"] == int(mask.sum()) and s["leaks"] == leaks, "Python reads another mask")
    right(s["kind"] in KINDS, s["kind"])


def attention_steps(root, s):
    """The matrices of the step, the row that is followed, its arithmetic, what Python reads."""
    m = matrices(s)
    row, step = s["row"] - 1, s["step"]
    hidden = ~masks.causal(6) if s["mask"] == "causal" else torch.zeros(6, 6, dtype=torch.bool)
    shown = ("X Q K V", "Q K scores", "scores scaled", "scaled weights", "weights V output")[step]
    followed = ("X Q K V", "Q scores", "scores scaled", "scaled weights", "weights output")[step]
    drawn = maps(root)
    right([words(one) for one in drawn] == shown.split(), [one.caption for one in drawn])
    for one, name in zip(drawn, shown.split(), strict=True):
        masked = name == "weights" or (name == "scaled" and step == 3)
        same_map(one, m[name].tolist(), mask=(~hidden).tolist() if masked else None,
                 frame=row if name in followed.split() else None)  # fmt: skip
    written(root, step, row, m, hidden)
    said = root.locator(".p-say").inner_text()
    if step in (0, 1, 3, 4):
        right(int(re.search(r"(?:Token|Query|Row|Output) (\d)", said)[1]) == row + 1, said)
    best = {1: m["scores"], 3: m["weights"], 4: m["weights"]}.get(step)
    if best is not None:
        told = int(re.search(r"Key (\d)|Row (\d) of V", said)[0].replace(" of V", "")[-1])
        right(best[row][told - 1] >= best[row].max() - 1e-9, said)
    for trait, value in (
        ("query", m["Q"][row]),
        ("weights", m["weights"]),
        ("output", m["output"]),
    ):
        given = torch.tensor(s[trait], dtype=torch.float64)
        right(torch.allclose(given, value, rtol=1e-9, atol=1e-9), f"Python reads another {trait}")


def words(drawn):
    """Return which matrix a map of AttentionSteps says it is."""
    known = {"scores Q Kᵀ": "scores", "scaled Q Kᵀ / √3": "scaled", "weights A": "weights",
             "output Z = A V": "output"}  # fmt: skip
    return known.get(drawn.caption, drawn.caption[-1])


def matrices(s):
    """Return every matrix of one head of self-attention by its name, float64."""
    X, Wq, Wk, Wv = (torch.tensor(s[n], dtype=torch.float64) for n in ("X", "Wq", "Wk", "Wv"))
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    raw, scaled = scores.dot(Q, K), scores.scaled_dot(Q, K)
    weights = masked_softmax(scaled, masks.causal(6) if s["mask"] == "causal" else None)
    return {"X": X, "Wq": Wq, "Wk": Wk, "Wv": Wv, "Q": Q, "K": K, "V": V, "scores": raw,
            "scaled": scaled, "weights": weights, "output": weights @ V}  # fmt: skip


def written(root, step, row, m, hidden):
    """Every line of the arithmetic: its result is torch's, and its terms make the result."""
    lines = root.locator(".p-work li:visible").evaluate_all(
        "(all) => all.map((li) => [...li.children].map((part) => part.textContent.trim()))"
    )
    if step == 0:
        for n, name in enumerate("QKV"):
            block = lines[4 * n : 4 * n + 4]
            head = [f"{name.lower()}{LOW[row]}", f"= x{LOW[row]} W", name]
            right(block[0] == head, block[0])
            weights = m[f"W{name.lower()}"]
            for j, line in enumerate(block[1:]):
                adds_up(line, m[name][row, j], list(zip(m["X"][row], weights[:, j], strict=True)))
        return
    if step == 3:
        total = lines.pop()
        right(total[1] == "is the sum of exp over the row", total)
    name = ("Q", "scores", "scaled", "weights", "output")[step]
    right(len(lines) == m[name].shape[1], f"{len(lines)} lines of arithmetic")
    for j, line in enumerate(lines):
        if step == 3 and hidden[row, j]:
            right(line[:2] == ["0.0000", f": key {j + 1} is hidden"], line)
            continue
        sides = {1: (m["Q"][row], m["K"][j]), 4: (m["weights"][row], m["V"][:, j % 3])}.get(step)
        adds_up(line, m[name][row, j], list(zip(*sides, strict=True)) if sides else None)
        if step == 1:
            right(f"q{LOW[row]}·k{LOW[j]}" in line[1], line)


def adds_up(line, value, terms=None):
    """A line "result = how = how": the result is the value, and each way leads to it."""
    result, how = line[0], line[1]
    right(says(result, float(value), 4), f"{result}, not {float(value)}")
    size = 1.0
    for way in how.split("=")[1:]:
        if re.search(r"[qk][₁-₆]", way):
            continue
        text = way.replace("−", "-").replace("·", "*").replace("√3", "sqrt(3)").replace("∞", "inf")
        right(re.fullmatch(r"[\d.e+*/() \-]*(?:(?:exp|sqrt)[\d.e+*/() \-]*)*", text), way)
        got = eval(text, {"__builtins__": {}, "exp": math.exp, "sqrt": math.sqrt})
        numbers = [abs(float(x)) for x in re.findall(r"\d+\.?\d*", text)]
        size = max([1.0, *numbers])
        right(abs(got - float(value)) <= 2e-3 * size, f"{way} makes {got}, not {float(value)}")
        if terms:
            pairs = re.findall(r"\(?(-?[\d.]+)\)?\*\(?(-?[\d.]+)\)?", text)
            right(len(pairs) == len(terms), f"{way}: {len(pairs)} terms")
            for pair, want in zip(pairs, terms, strict=True):
                near = all(
                    abs(number(a) - float(b)) < 1e-3 for a, b in zip(pair, want, strict=True)
                )
                right(near, f"{way}: {pair} instead of {tuple(map(float, want))}")


def fill_mask(root, s):
    """The reader's cells, outlined where they are wrong, and a verdict that is true."""
    (grid,) = maps(root)
    answer = torch.tensor(s["answer"]).bool()
    right(root.locator(".p-question").inner_text() == s["question"], "another question")
    T, S = answer.shape
    filled = torch.ones(T, S, dtype=torch.bool)
    for at in grid.hatched:
        filled[at] = False
    errors = (filled != answer).nonzero().tolist()
    framed = [[rows[0], columns[0]] for rows, columns in grid.frames]
    right(all(cell in errors for cell in framed), f"{framed} are outlined, {errors} are wrong")
    same_map(grid, filled.int().tolist(), mask=filled, rows=s["rows"], columns=s["columns"],
             marks=framed, digits=0, signed=False)  # fmt: skip
    verdict, said = root.get_attribute("data-verdict"), root.locator(".p-say").inner_text()
    if verdict == "right":
        right(not errors and said.startswith("✓") and s["correct"] is True, said)
    if verdict == "wrong":
        right(int(re.match(r"✗ (\d+)", said)[1]) == len(errors) > 0, said)
    if verdict:
        right(s["filled"] == filled.tolist(), "Python reads another mask")
        right(FillMask(question="?", answer=answer).answer == s["answer"], "another answer")


def predict_number(root, s):
    """The question, and a verdict on what stands in the field."""
    right(root.locator(".p-question").inner_text() == s["question"], "another question")
    verdict, said = root.get_attribute("data-verdict"), root.locator(".p-say").inner_text()
    typed = root.locator("input").input_value()
    if not verdict or s["correct"] is None:
        return
    value = float(typed.replace("−", "-"))
    right(s["typed"] == typed, "Python reads another text")
    is_right = abs(value - s["answer"]) <= s["tolerance"] + 1e-12
    right((verdict == "right") == is_right == s["correct"], f"{typed} is {verdict}")
    shown = number(re.search(r"(?:Right: |Not )(\S+)\. ", f"{said} ")[1])
    right(abs(shown - value) <= 1e-5 * abs(value), said)


def alignment(root, s):
    """The words, the ink between them, its numbers, the map, the sentence, what Python reads."""
    characters, words, sure, weights = translated(s["text"])
    T, S = weights.shape
    right(s["translation"] == words, f"Python reads the translation {s['translation']}")
    if not words:
        right(not root.locator(".p-pane:visible").count(), "a picture of nothing")
        return
    on = s["word"] - 1 if s["word"] else None
    drawn = root.locator(".p-bridge").evaluate(BRIDGE)
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
    shipped = trained.load("aligner")
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
    told = re.findall(r"([^\x00-\x7f“”]+)(?: \([\w, ]+\))? with (\d[\d.]*\d)", said)
    right(told, said)
    right(("no one place" in said) == (seen[0][0] < 0.5), said)
    for (name, text), (weight, _) in zip(told, seen, strict=False):
        right(says(text, weight, 2), f"{name}: {text}, not {weight}")
        right(
            any(n == name and abs(w - weight) < 1e-4 for w, n in seen), f"{name} got another weight"
        )
    right(("not sure" in said) == (sure < 0.5), said)


CHECKS = {
    "AttentionHeatmap": attention_heatmap,
    "Alignment": alignment,
    "AttentionSteps": attention_steps,
    "FillMask": fill_mask,
    "MaskExplorer": mask_explorer,
    "PredictNumber": predict_number,
    "ScoreFunctions": score_functions,
}
