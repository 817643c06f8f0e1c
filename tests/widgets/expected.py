"""What each widget has to show for its traits, by torch and `pieces`, never by the page."""

import copy
import functools
import re

import torch
from drawn_numbers import gaussian
from expected_beyond import beyond_length
from expected_clock import rotary_clock
from expected_config import config_calculator
from expected_heads import attention_heatmap, pronoun_arcs
from expected_norms import norm_axes
from expected_placement import norm_placement
from expected_positions import bias_maps, position_waves
from expected_router import expert_load, router_explorer
from expected_sampling import sampling_explorer
from expected_scores import score_functions
from expected_splitter import head_splitter
from expected_steps import attention_steps, shuffle_tokens
from expected_units import activations, hidden_units
from oracle import maps, number, right, same_map, says

from pieces import masks, trained
from pieces.attention import masked_softmax
from pieces.tasks.grammar import ADJECTIVES, ARTICLES, NOUNS, TIMES, VERBS
from pieces.trace import record
from pieces.widgets import FillMask, MaskExplorer
from pieces.widgets.mask_explorer import KINDS

HIDDEN = 16
ARCS = """(stage) => {
  const box = stage.getBoundingClientRect();
  const words = [...stage.querySelectorAll(".p-chip")];
  return { words: words.map((word) => word.textContent), wrapped: stage.classList.contains("p-wrapped"),
    middles: words.map((word) => { const b = word.getBoundingClientRect(); return (b.left + b.right) / 2 - box.left; }),
    arcs: [...stage.querySelectorAll(".p-arc")].map((path) => ({
      from: Number(path.dataset.query), to: Number(path.dataset.key), role: path.dataset.role,
      width: Number(path.getAttribute("stroke-width")), on: path.classList.contains("p-arc-on"),
      ends: [path.getPointAtLength(0).x, path.getPointAtLength(path.getTotalLength()).x] })) };
}"""


def mask_explorer(root, s):
    """Mask, arcs, weights, layers and reach, what is outlined, the code, the sentences, Python's."""
    given = {name: s[name] for name in MaskExplorer.inputs() if name != "tokens"}
    widget, T, at = MaskExplorer(**given), s["T"], s["layers"]
    mask, plain = widget.mask(), widget.unflipped()
    names = names_of(s, "padding" in (s["kind"], s["also"]))
    reach = masks.reach(mask, at)
    later = ~masks.causal(T)
    leaks = mask & later & ~plain
    weights = masked_softmax(gaussian(168, 24 * 24).reshape(24, 24)[:T, :T], mask)
    titles = names if s["tokens"] else []
    named = {"rows": titles, "columns": titles, "signed": False}
    followed = {"frame": s["token"] - 1 if s["token"] else None, "mask": mask, **named}
    spread = reach & later & ~masks.reach(plain, at)
    phone = root.locator('.p-tab[data-view="mask"]').is_visible()
    view = s["view"] if phone or s["view"] != "mask" else "weights"
    shown = {one.caption: one for one in maps(root)}
    right(len(shown) == (1 if phone else 2), f"{list(shown)} are shown")
    for caption, one in shown.items():
        if caption.startswith(("Mask", "query")):
            right(not phone or view == "mask", "the mask is shown under another tab")
            same_map(one, mask.int().tolist(), marks=leaks.nonzero().tolist(), digits=0, **followed)
        elif view == "weights":
            right(caption == "Weights under it", caption)
            same_map(one, weights.tolist(), **followed)
        elif view == "reach":
            right(caption == "Reach after the layers", caption)
            same_map(one, reach.int().tolist(), digits=0, marks=spread.nonzero().tolist(),
                     **followed | {"mask": reach})  # fmt: skip
        else:
            right(caption == "Who knows the word, layer by layer", caption)
            same_stack(root, one, s, mask, plain, names, bool(titles))
    same_arcs(root, s, names, weights, leaks)
    pressed = root.locator(".p-tabs [aria-pressed=true]").get_attribute("data-view")
    right(pressed == s["view"], f"the tab {pressed}, the view {s['view']}")
    film = root.locator(".p-layers")
    told = [film.locator("input").input_value(), film.locator("output").text_content()]
    right(told == [str(at)] * 2, f"the player says {told}, layers is {at}")
    scope = {"masks": masks}
    exec(root.locator(".p-code code").inner_text(), scope)
    right(torch.equal(scope["mask"].expand(T, T), mask), "the code makes another mask")
    said = root.locator(".p-say").inner_text()
    right(f"{int(mask.sum())} of {T * T} cells are open" in said, said)
    padded = "padding" in (s["kind"], s["also"]) and s["side"] == "right" and 0 < s["length"] < T
    last = "the last output" + " before the padding" * padded
    right(f"After {at} layer{'s' * (at != 1)} {last} depends" in said, said)
    row = reach[s["length"] - 1 if padded else -1]
    right(f"depends on {int(row.sum())} of {T} inputs" in said, said)
    reached = [names[i] for i in spread.any(-1).nonzero().flatten().tolist()]
    told = re.search(r"leak into output ([^.]*)\.", said)
    right(bool(told) == bool(leaks.any()), said)
    if told:
        short = reached if len(reached) <= 8 else [*reached[:7], f"{len(reached) - 7} more"]
        right(told[1] == ", ".join(short), said)
    meant = int((mask & later & plain).sum())
    right((f"{meant} cell" in said and "means to" in said) == bool(meant), said)
    right(("No query sees a later key" in said) == (not (mask & later).any()), said)
    right(s["allowed"] == int(mask.sum()), "Python reads another number")
    right(s["leaks"] == leaks.nonzero().tolist(), "Python reads other leaks")
    right(s["kind"] in KINDS, s["kind"])


def names_of(s, padded):
    """The words of MaskExplorer: those given, moved by padding on the left; else numbers."""
    if not s["tokens"]:
        return [str(n + 1) for n in range(s["T"])]
    first = s["T"] - s["length"] if padded and s["side"] == "left" else 0
    real = range(first, first + s["length"]) if padded else range(s["T"])
    given = dict(enumerate(s["tokens"], start=first))
    return [given.get(i, str(i + 1)) if i in real else "pad" for i in range(s["T"])]


def same_stack(root, drawn, s, mask, plain, names, titled):
    """Who knows the followed word after 0 to T layers; later layers are blank."""
    T, at = s["T"], s["layers"]
    leaked = (mask & ~plain & ~masks.causal(T)).nonzero()
    source = s["source"] - 1 if s["source"] else int(leaked[0, 1]) if len(leaked) else 0
    known = torch.stack([masks.reach(mask, n)[:, source] for n in range(T + 1)])
    meant = torch.stack([masks.reach(plain, n)[:, source] for n in range(T + 1)])
    done = (torch.arange(T + 1) <= at)[:, None]
    early = torch.arange(T) < source
    same_map(drawn, (known & done).int().tolist(), mask=known | ~done, digits=0, signed=False,
             rows=["words", *map(str, range(1, T + 1))], columns=names if titled else [],
             column=source if s["source"] else None,
             marks=(known & done & early & ~meant).nonzero().tolist())  # fmt: skip
    flow = root.locator(".p-flow").inner_text()
    right(f"“{names[source]}” is known at {int(known[at].sum())} of {T} places" in flow, flow)


def same_arcs(root, s, names, weights, leaks):
    """The words, and an arc for each look: as thick as its weight, bright for the chosen word."""
    drawn = root.locator(".p-arc-stage").evaluate(ARCS)
    right(drawn["words"] == names, f"the words are {drawn['words']}")
    chosen = s["token"] - 1
    wanted = {(i, j) for i, j in weights.nonzero().tolist() if i == chosen}
    if s["T"] <= 12:
        few = weights >= (0.3 if drawn["wrapped"] else 0)
        rest = {(i, j) for i, j in (few & (weights > 0)).nonzero().tolist()}
        wanted |= rest if chosen < 0 or not drawn["wrapped"] else set()
    found = {(a["from"], a["to"]): a for a in drawn["arcs"]}
    right(found.keys() == wanted, f"arcs {sorted(found.keys() ^ wanted)} are missing or too many")
    for (i, j), arc in found.items():
        width = 0.8 + 4.2 * float(weights[i, j])
        right(abs(arc["width"] - width) < 0.006, f"arc {i} to {j} is {arc['width']} wide")
        right(
            arc["on"] == (i == chosen), f"arc {i} to {j} is lit" if arc["on"] else f"{i} {j} dark"
        )
        right((arc["role"] == "leak") == bool(leaks[i, j]), f"arc {i} to {j} is {arc['role']}")
        if i != j:
            ends = [drawn["middles"][i], drawn["middles"][j]]
            off = max(abs(a - b) for a, b in zip(arc["ends"], ends, strict=True))
            right(off < 6, f"arc {i} to {j} stands elsewhere, {off} px")


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
    "Activations": activations,
    "AttentionHeatmap": attention_heatmap,
    "Alignment": alignment,
    "AttentionSteps": attention_steps,
    "BeyondLength": beyond_length,
    "BiasMaps": bias_maps,
    "ExpertLoad": expert_load,
    "FillMask": fill_mask,
    "HeadSplitter": head_splitter,
    "HiddenUnits": hidden_units,
    "MaskExplorer": mask_explorer,
    "NormAxes": norm_axes,
    "ConfigCalculator": config_calculator,
    "PositionWaves": position_waves,
    "NormPlacement": norm_placement,
    "PredictNumber": predict_number,
    "PronounArcs": pronoun_arcs,
    "RotaryClock": rotary_clock,
    "RouterExplorer": router_explorer,
    "SamplingExplorer": sampling_explorer,
    "ScoreFunctions": score_functions,
    "ShuffleTokens": shuffle_tokens,
}
