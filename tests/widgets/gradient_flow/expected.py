"""What GradientFlow has to show: the same weights in torch, its autograd, and the package's norm."""

import functools
import json
import math
import re

import torch
from drawn_numbers import gaussian
from oracle import ask, number, right

from pieces.norms import rms, rms_norm
from pieces.residual import PostNorm, PreNorm, Residual

D = 64
NORMS = {"none": "none", "pre": "Pre, before f", "post": "Post, after +"}
SUBLAYERS = {"linear": "g · W x", "relu": "g · √2 · W max(0, x)", "opposed": "−g · x"}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SHOWN = """(root) => {
  const number = (node, name) => Number(node.getAttribute(name));
  const box = (node) => ["x", "y", "width", "height"].map((name) => number(node, name));
  const all = (selector) => [...root.querySelectorAll(selector)];
  const text = (node) => [...node.childNodes].map((one) => one.nodeType === 3 ? one.textContent
    : one.tagName === "SUP" ? `**${one.textContent}` : text(one)).join("");
  const pane = root.querySelector(".p-pane-chart");
  const ticks = (axis) => [...pane.querySelectorAll(`[data-tick=${axis}]`)].map((t) =>
    [Number(t.dataset.value), number(t, axis) - (axis === "y" ? 4 : 0)]);
  const points = (g) => [...(g.querySelector("path").getAttribute("d").match(/[ML][^ML]+/g) ?? []).map((p) =>
    p.slice(1).split(" ").map(Number)),
    ...[...g.querySelectorAll("circle")].map((c) => [number(c, "cx"), number(c, "cy")])];
  const lights = (role) => all(`.p-flow g[data-role=${role}] .p-lamp`).map((c) =>
    ({ box: box(c), light: Number(getComputedStyle(c).fillOpacity), colour: getComputedStyle(c).fill }));
  const line = (g) => getComputedStyle(g.querySelector("path")).stroke;
  return { signal: lights("residual"), gradient: lights("score"), boxes: all(".p-flow-box").map(box),
    norms: all(".p-flow-norm").map((c) => [number(c, "cx"), number(c, "cy")]),
    stream: root.querySelector(".p-flow-stream").getAttribute("d").match(/-?[\\d.]+/g).map(Number),
    thin: root.querySelector(".p-flow-stream").hasAttribute("data-thin"),
    branches: (root.querySelector(".p-flow-branch").getAttribute("d").match(/M/g) ?? []).length / 2,
    ring: box(root.querySelector(".p-flow-at")), told: root.querySelector(".p-flow").ariaLabel,
    names: all(".p-flow-name").map((t) => [t.textContent, number(t, "x"), number(t, "y"), t.getAttribute("text-anchor")]),
    wide: root.querySelector(".p-flow").viewBox.baseVal.width,
    caption: pane.querySelector("figcaption").textContent, x: ticks("x"), y: ticks("y"),
    at: pane.querySelector(".p-at").hasAttribute("hidden") ? null : number(pane.querySelector(".p-at"), "x1"),
    marks: [...pane.querySelectorAll(".p-mark")].map((m) => number(m, "y1")),
    key: [...pane.querySelectorAll(".p-chart-key li")].map((li) => li.textContent),
    curves: [...pane.querySelectorAll(".p-curve")].map((g) => ({ name: g.dataset.name, kind: g.classList[1].split("-").at(-1),
      colour: line(g), points: points(g) })),
    tables: all(".p-tables table").map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent))),
    controls: Object.fromEntries(all(".p-control").map((c) => [c.dataset.trait, c.querySelector("select")?.selectedOptions[0].textContent
      ?? c.querySelector("input[type=checkbox]")?.checked ?? Number(c.querySelector("input").value)])),
    work: text(root.querySelector(".p-flow-work")), say: root.querySelector(".p-say").textContent };
}"""


def begun(seed, which):
    """A vector of size 1."""
    x = gaussian(seed * 1000 + which, D)
    return x / rms(x)


def sublayer(s, layer):
    """One sublayer of the stack."""
    g = s["gain"]
    if s["sublayer"] == "opposed":
        return lambda x: -g * x
    W = gaussian(s["seed"] * 1000 + layer, D * D).view(D, D) / math.sqrt(D)
    if s["sublayer"] == "linear":
        return lambda x: g * W @ x
    return lambda x: g * math.sqrt(2) * W @ x.relu()


class Norm(torch.nn.Module):
    """RMSNorm without a gain."""

    def forward(self, x):
        return rms_norm(x)


@functools.cache
def flows(depth, gain, skip, norm, kind, seed):
    """Signal and gradient at the input and behind each layer, by the package and by autograd."""
    s = {"gain": gain, "sublayer": kind, "seed": seed}
    if skip:
        made = {"none": Residual, "pre": lambda: PreNorm(Norm()), "post": lambda: PostNorm(Norm())}
        connect = made[norm]()
    elif norm == "post":
        connect = lambda x, f: rms_norm(f(x))  # noqa: E731
    else:
        connect = lambda x, f: f(rms_norm(x) if norm == "pre" else x)  # noqa: E731
    stream = [begun(seed, 998).requires_grad_()]
    for layer in range(1, depth + 1):
        stream.append(connect(stream[-1], sublayer(s, layer)))
    slopes = torch.autograd.grad(stream[-1], stream, begun(seed, 999))
    return [[rms(x.detach()).item() for x in part] for part in (stream, slopes)]


def flow_of(s):
    """The two lists of sizes for these traits."""
    return flows(*(s[name] for name in ("depth", "gain", "skip", "norm", "sublayer", "seed")))


def near(a, b):
    """Whether two sizes agree to rounding."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-300)


def told(text):
    """A size as the widget writes it: 0.00123, 1,260 or 5.42·10⁻²⁰."""
    found = re.fullmatch(r"(?:([\d.,]+)·)?10([⁻⁰-⁹¹²³]+)", text)
    if found:
        return float(found[1] or 1) * 10.0 ** int(found[2].translate(RAISED))
    return float(text.replace(",", ""))


def says(text, value):
    """Whether a printed size is this value, to three digits."""
    return math.isclose(told(text), value, rel_tol=6e-3, abs_tol=1e-300)


def gradient_flow(root, s):
    """The stack, the lamps, the curves, the arithmetic, the sentence, and what Python reads."""
    seen = ask(root, SHOWN)
    forward, backward = flow_of(s)
    for name, wanted in (("forward", forward), ("backward", backward)):
        got = s[name]
        right(len(got) == len(wanted), f"Python reads {len(got)} sizes of {name}")
        right(all(map(near, got, wanted)), f"Python reads {name} {got}, not {wanted}")
    controls(seen, s)
    stack(seen, s)
    rows(seen, s, forward, backward)
    curves(seen, s, forward, backward)
    arithmetic(seen["work"], s, forward, backward)
    head = f"{s['depth']} layer{'s' * (s['depth'] > 1)} {'with' if s['skip'] else 'without'}"
    head += " skip connections. "
    sentence(seen["say"], head, forward[-1], backward[0])
    right(seen["told"].startswith(head), seen["told"])
    sizes = re.search(r"has size (\S+) after .* gradient (\S+) at the input\.$", seen["told"])
    right(says(sizes[1], forward[-1]) and says(sizes[2], backward[0]), seen["told"])


def controls(seen, s):
    """Each control shows what is used."""
    wanted = {"depth": s["depth"], "gain": s["gain"], "skip": s["skip"],
              "norm": NORMS[s["norm"]], "sublayer": SUBLAYERS[s["sublayer"]]}  # fmt: skip
    right(seen["controls"] == wanted, f"{seen['controls']}, not {wanted}")


def stack(seen, s):
    """The boxes hang on the stream, or stand in the way; the norms before or behind them."""
    L = s["depth"]
    centres = [x + w / 2 for (x, _, w, _) in (c["box"] for c in seen["signal"])]
    start, at, end = seen["stream"]
    right(
        abs(start - centres[0]) < 1 and abs(end - centres[-1]) < 1, f"the stream {seen['stream']}"
    )
    right(seen["thin"] == (not s["skip"]), "the stream's width")
    right(seen["branches"] == (L if s["skip"] else 0), f"{seen['branches']} branches")
    right(len(seen["boxes"]) == L, f"{len(seen['boxes'])} boxes")
    for n, (x, y, w, height) in enumerate(seen["boxes"]):
        between = (centres[n] + centres[n + 1]) / 2
        right(abs(x + w / 2 - between) < 0.6, f"box {n} at {x + w / 2}, not {between}")
        on = abs(y + height / 2 - at) < 1
        right(on == (not s["skip"]), f"box {n} at height {y}")
    right(len(seen["norms"]) == (0 if s["norm"] == "none" else L), f"{len(seen['norms'])} norms")
    for n, (x, y) in enumerate(seen["norms"]):
        if s["norm"] == "post":
            right(abs(x - centres[n + 1]) < 0.6 and y == at, f"norm {n} at {x}, {y}")
        else:
            right(centres[n] < x < seen["boxes"][n][0] + 0.6, f"norm {n} at {x}, {y}")
            right((y < at) == s["skip"], f"norm {n} at height {y}")


def rows(seen, s, forward, backward):
    """As many lamps as places, side by side, each as bright as its size; the ring round one."""
    lines = [(seen["signal"], forward), (seen["gradient"], backward)]
    for lamps, sizes in lines:
        right(len(lamps) == len(sizes), f"{len(lamps)} lamps")
        for n, (lamp, value) in enumerate(zip(lamps, sizes, strict=True)):
            bright = min(1.0, value)
            right(abs(lamp["light"] - bright) < 2e-3, f"lamp {n} has the light {lamp['light']}")
        lefts = [lamp["box"][0] for lamp in lamps]
        right(lefts == sorted(lefts), "lamps out of order")
    (one, *_), (other, *_) = (lamps for lamps, _ in lines)
    right(one["colour"] != other["colour"], "both rows have one colour")
    right(one["box"][1] < other["box"][1], "the gradient stands above the signal")
    x, _, w, _ = seen["ring"]
    left, _, wide, _ = seen["signal"][s["layer"]]["box"]
    right(abs(x + w / 2 - left - wide / 2) < 0.6, f"the ring stands at {x}")
    (signal, sx, sy, anchor), (gradient, gx, gy, _) = seen["names"]
    right("signal" in signal and signal.endswith("→") and anchor == "start", signal)
    right(gradient.startswith("←") and "gradient" in gradient, gradient)
    right(sx < 10 and abs(gx - seen["wide"]) < 10, "names at other ends")
    right(sy < one["box"][1] < gy < other["box"][1], "names of other rows")


def curves(seen, s, forward, backward):
    """Every point of both curves on its logarithmic scale, the ghosts, the cursor, the key."""
    (a, pa), (b, pb) = seen["y"][0], seen["y"][-1]
    per = (pb - pa) / math.log(b / a)
    py = lambda v: pa + per * math.log(v / a)  # noqa: E731
    (x0, px0), (x1, px1) = seen["x"][0], seen["x"][-1]
    px = lambda v: px0 + (v - x0) * (px1 - px0) / (x1 - x0)  # noqa: E731
    lines = {one["name"]: one for one in seen["curves"] if one["kind"] == "line"}
    right(list(lines) == ["signal", "gradient"], f"the curves {list(lines)}")
    for (name, line), sizes, lamp in zip(
        lines.items(), (forward, backward), (seen["signal"], seen["gradient"]), strict=True
    ):
        right(line["colour"] == lamp[0]["colour"], f"{name} in another colour than its lamps")
        wanted = [(px(n), py(v)) for n, v in enumerate(sizes) if v > 0]
        got = sorted(line["points"])
        right(len(got) == len(wanted), f"{name}: {len(got)} points, not {len(wanted)}")
        for (gx, gy), (wx, wy) in zip(got, wanted, strict=True):
            right(abs(gx - wx) < 0.3 and abs(gy - wy) < 0.3, f"{name} at {gx, gy}, not {wx, wy}")
    right(seen["at"] is not None and abs(seen["at"] - px(s["layer"])) < 0.3, "the cursor")
    for key, (name, sizes) in zip(
        seen["key"], (("signal", forward), ("gradient", backward)), strict=True
    ):
        value = key.removeprefix(name).strip().replace("−", "-").replace("–", "0")
        close = math.isclose(number(value), sizes[s["layer"]], rel_tol=0.06, abs_tol=6e-4)
        right(key.startswith(name) and close, key)
    sizes = [v for v in (*forward, *backward) if v > 0]
    shade = [py(1 / 256)] if min(sizes) < 1 / 512 and max(sizes) > 1 / 256 else []
    right(len(seen["marks"]) == len(shade), f"{len(seen['marks'])} marks")
    right(all(abs(m - w) < 0.3 for m, w in zip(seen["marks"], shade, strict=True)), "the shade")
    ghosts(seen, py, s)
    if seen["tables"]:
        (head, *body), *_ = seen["tables"]
        right(head == ["layer", "signal", "gradient"], head)
        right([row[0] for row in body] == [str(n) for n in range(s["depth"] + 1)], "table rows")


def ghosts(seen, py, s):
    """What was before: both curves of the stack that the caption names."""
    before = [one for one in seen["curves"] if one["kind"] == "ghost"]
    told_of = re.search(r"dotted: before \((.*)\)$", seen["caption"])
    right(bool(before) == bool(told_of), seen["caption"])
    if not before:
        return
    draw = re.search(r", weights of draw (\d+)$", told_of[1])
    said = told_of[1].removesuffix(draw[0]) if draw else told_of[1]
    found = re.match(r"(\d+) layers?, (skips|no skips), (.*), g = ([\d.]+), (.*)$", said)
    norm = found[5].removeprefix("norm ")
    was = {"depth": int(found[1]), "skip": found[2] == "skips", "gain": float(found[4]),
           "seed": int(draw[1]) if draw else s["seed"],
           "sublayer": {v: k for k, v in SUBLAYERS.items()}[found[3]],
           "norm": "none" if norm == "no norm" else {v: k for k, v in NORMS.items()}[norm]}  # fmt: skip
    for one, sizes in zip(before, flow_of(was), strict=True):
        for (_, y), value in zip(sorted(one["points"]), sizes, strict=False):
            right(abs(y - py(value)) < 0.3, f"the ghost of {one['name']} at {y}, not {py(value)}")


def law(s, at):
    """What the sizes are on average over random weights, computed from what each layer does."""
    g, L = s["gain"], s["depth"]
    if s["sublayer"] == "opposed":
        each = abs(1 - g) if s["skip"] else g
        return (each**at, each ** (L - at)) if s["norm"] == "none" else None
    before = [1.0]  # mean squares of the signal
    factors = []  # of the gradient, through each layer
    for _ in range(L):
        x = before[-1]
        into = 1.0 if s["norm"] == "pre" else x
        y = g * g * into + (x if s["skip"] else 0)
        slope = (g * g * into / x if x else 0) + (1 if s["skip"] else 0)
        if s["norm"] == "post":
            slope, y = (slope * x / y, 1.0) if y else (0.0, 0.0)
        before.append(y)
        factors.append(slope)
    return math.sqrt(before[at]), math.sqrt(math.prod(factors[at:]))


def arithmetic(work, s, forward, backward):
    """The place, both sizes, and the law, which is run as it is written."""
    at = s["layer"]
    right(work.startswith(f"After layer {at}: " if at else "At the input: "), work)
    found = re.search(r"signal (\S+)( \(on average (.*?)\))?, gradient (\S+?)"
                      r"( \(on average (.*)\))?(\.|; this stack has no simple law\.)$", work)  # fmt: skip
    right(found, work)
    laws = law(s, at)
    right(("no simple law" in found[7]) == (laws is None), work)
    for name, shown, given, value, n in (("signal", found[1], found[3], forward[at], 0),
                                         ("gradient", found[4], found[6], backward[at], 1)):  # fmt: skip
        right(says(shown, value), f"{work}: {name} is {value}")
        right(bool(given) == (laws is not None), work)
        if laws:
            how, _, result = given.partition(" = ")
            plain = how.replace("²", "**2").replace("·", "*").replace("−", "-")
            plain = re.sub(r"\|(.*?)\|", r"abs(\1)", plain).replace("√", "math.sqrt")
            computed = float(eval(plain, {"math": math}))
            right(math.isclose(computed, laws[n], rel_tol=1e-6), f"{work}: {how} is {computed}")
            right(says(result or how, laws[n]), f"{work}: {result}, not {laws[n]}")


def sentence(said, head, signal, gradient):
    """What is said of the gradient and of the signal is so."""
    right(said.startswith(head), said)
    words = {
        "gradient": [(0, "exactly 0. "), (1 / 256, "paler than a screen"), (0.5, "fades to"),
                     (2, "not far from its first size"), (math.inf, "gradient grows to")],
        "signal": [(0, "signal is exactly 0"), (0.5, "signal fades to"),
                   (2, "signal leaves with"), (math.inf, "signal grows to")],
    }  # fmt: skip
    for name, value in (("gradient", gradient), ("signal", signal)):
        wanted = next(word for most, word in words[name] if value <= most)
        right(wanted in said, f"{said}: {name} is {value}")
    numbers = re.findall(r"(?:to|size) ([\d.,]*\d(?:·10[⁻⁰-⁹¹²³]+)?|10[⁻⁰-⁹¹²³]+)", said)
    values = [value for value in (gradient, signal) if value]
    right(len(numbers) == len(values), f"{said}: {json.dumps(numbers)}")
    right(all(says(text, v) for text, v in zip(numbers, values, strict=True)), said)
