"""What Activations has to show for its traits, by torch and `pieces`, never by the page."""

import re

import torch
from charted import fixed
from oracle import ask, maps, number, right, same_bars, same_map, says
from told import same_listed

from pieces import feedforward

FUNCTIONS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU by tanh", "swish": "Swish",
             "cdf": "Φ alone"}  # fmt: skip
ROLES = {"relu": "query", "gelu": "key", "gelu_tanh": "value", "swish": "score", "cdf": "weight"}
GATES = {"reglu": feedforward.relu, "geglu": feedforward.gelu, "swiglu": feedforward.swish,
         "glu": feedforward.sigmoid, "bilinear": feedforward.identity}  # fmt: skip
CURVES = """(root) => {
  const svg = root.querySelector(".p-chart");
  const numbers = (text) => (text ?? "").match(/-?[\\d.]+/g)?.map(Number) ?? [];
  const ticks = (axis) => [...svg.querySelectorAll(`[data-tick=${axis}]`)].map((node) =>
    [Number(node.dataset.value), Number(node.getAttribute(axis)), node.textContent]);
  return { x: ticks("x"), y: ticks("y"), at: [...svg.querySelectorAll(".p-dot")].map((dot) =>
      [dot.dataset.name, Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))]),
    curves: [...svg.querySelectorAll(".p-curve")].map((g) => ({ name: g.dataset.name, role: g.dataset.role,
      dashed: g.firstChild.hasAttribute("stroke-dasharray"), path: numbers(g.firstChild.getAttribute("d")) })),
    key: [...root.querySelectorAll(".p-chart-key li")].map((li) => [li.dataset.role, li.textContent]) };
}"""


def bend(name, beta):
    """A function of pieces.feedforward, or Φ."""
    if name == "cdf":
        return torch.distributions.Normal(0.0, 1.0).cdf
    function = getattr(feedforward, name)
    return (lambda x: function(x, float(beta))) if name == "swish" else function


def value_and_slope(name, beta, x):
    """What comes out at x, and the slope that torch finds there."""
    at = torch.as_tensor(x, dtype=torch.float64).clone().requires_grad_(True)
    y = bend(name, beta)(at)
    return y.detach(), torch.autograd.grad(y.sum(), at)[0]


def activations(root, s):
    """The view that is open, and nothing of the others."""
    pressed = root.locator(".p-tabs [aria-pressed=true]").get_attribute("data-view")
    right(pressed == s["view"], f"the tab {pressed}, the view {s['view']}")
    panes = {"curves": ".p-pane-chart", "gate": ".p-pane:has(.p-board)", "size": ".p-pane-bars"}
    for view, pane in panes.items():
        right(root.locator(pane).is_visible() == (view == s["view"]), f"{view} at {s['view']}")
    {"curves": curves, "gate": gate_map, "size": sizes}[s["view"]](root, s)


def curves(root, s):
    """Every curve at every point of its path, the dots at the cursor, the key, the sentence."""
    seen = ask(root, CURVES)
    wanted = [(FUNCTIONS[n], ROLES[n], n, False) for n in s["functions"]]
    over = "GELU by tanh"  # lies on GELU, so both are seen only if it is dashed
    if s["slopes"]:
        wanted = [w for n in s["functions"] for w in (
            (FUNCTIONS[n], ROLES[n], n, False), (f"slope of {FUNCTIONS[n]}", ROLES[n], n, True))]  # fmt: skip
    drawn = [c for c in seen["curves"] if c["name"]]
    right([(c["name"], c["role"], c["dashed"]) for c in drawn] ==
          [(name, role, slope or name == over) for name, role, _, slope in wanted], "other curves")  # fmt: skip
    (x0, px0, _), *_, (x1, px1, _) = seen["x"]
    (y0, py0, _), *_, (y1, py1, _) = seen["y"]
    for v, _, text in seen["x"] + seen["y"]:
        right(abs(number(text) - v) < 1e-9, f"a tick says {text}, not {v}")
    place_x = lambda x: px0 + (x - x0) / (x1 - x0) * (px1 - px0)  # noqa: E731
    place_y = lambda y: py0 - 4 + (y - y0) / (y1 - y0) * (py1 - py0)  # noqa: E731
    value_at = lambda px: x0 + (px - px0) / (px1 - px0) * (x1 - x0)  # noqa: E731
    for curve, (name, _, kind, slope) in zip(drawn, wanted, strict=True):
        xs, ys = (torch.tensor(curve["path"][n::2], dtype=torch.float64) for n in (0, 1))
        right(len(xs) > 150, f"{name} has {len(xs)} points")
        exact = value_and_slope(kind, s["beta"], value_at(xs).round(decimals=2))[int(slope)]
        off = (ys - place_y(exact)).abs().max()
        right(off < 0.2, f"{name} is drawn {off} px off")
    at = {name: (x, y) for name, x, y in seen["at"]}
    right(list(at) == [name for name, *_ in wanted] or not wanted, f"dots: {list(at)}")
    near = round(s["x"] / 0.05) * 0.05
    for name, _, kind, slope in wanted:
        v = float(value_and_slope(kind, s["beta"], near)[int(slope)])
        x, y = at[name]
        right(abs(x - place_x(near)) < 0.2 and abs(y - place_y(v)) < 0.2, f"the dot of {name}")
    for (role, text), (name, of, kind, slope) in zip(seen["key"], wanted, strict=False):
        v = float(value_and_slope(kind, s["beta"], near)[int(slope)])
        right(role == of and text.startswith(f"{name} "), text)
        right(says(text.removeprefix(f"{name} "), v, 4), f"the key: {text}, not {v}")
    # The table view has every second point, from −5 to 5.
    xs = torch.linspace(-5, 5, 201, dtype=torch.float64)
    ys = [value_and_slope(kind, s["beta"], xs)[int(slope)].tolist() for _, _, kind, slope in wanted]
    picks = [int(i * 200 / 199 + 0.5) for i in range(200)]
    same_listed(root, [fixed(float(xs[n]), 3) for n in picks], [[y[n] for n in picks] for y in ys],
                head=["x", *(name for name, *_ in wanted)])  # fmt: skip
    said = root.locator(".p-say").inner_text()
    told = re.findall(r"(ReLU|GELU by tanh|GELU|Swish|Φ alone) (\S+), slope ([^;\s]+)", said)
    right([name for name, *_ in told] == [FUNCTIONS[n] for n in s["functions"]], said)
    for (_, value, slope), kind in zip(told, s["functions"], strict=True):
        v, d = (float(n) for n in value_and_slope(kind, s["beta"], s["x"]))
        right(says(value, v, 4) and says(slope.rstrip("."), d, 4), said)


def gate_map(root, s):
    """σ(g) u over the plane: g to the right, u upwards."""
    axis = [float(n) for n in range(-3, 4)]
    g, u = torch.tensor(axis, dtype=torch.float64), torch.tensor(axis[::-1], dtype=torch.float64)
    (drawn,) = maps(root)
    names = [f"{n:g}".replace("-", "−") for n in axis]
    opened = GATES[s["gate"]](g)

    def tip(i, j):
        out = fixed(opened[j] * u[i], 3)
        return (f"g {names[j]} opens the gate to {fixed(opened[j], 3)}, and u {names[6 - i]} "
                f"comes out as {out}")  # fmt: skip

    same_map(drawn, (opened[None] * u[:, None]).tolist(), rows=names[::-1], columns=names, digits=1,
             tip=tip)  # fmt: skip
    said = root.locator(".p-say").inner_text()
    told = re.search(r"open to (\S+), so (\S+) · u passes\.", said).groups()
    right(all(says(text, float(opened[-1]), 2) for text in told), said)


def sizes(root, s):
    """The weights of each network, counted on layers that are really made."""
    D, multiple = s["d_model"], int(s["multiple_of"])
    narrow = feedforward.two_thirds(4 * D, multiple)
    with torch.device("meta"):
        layers = [feedforward.FeedForward(D, 4 * D, bias=False),
                  feedforward.GatedFeedForward(D, 4 * D), feedforward.GatedFeedForward(D, narrow)]  # fmt: skip
        counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    names = [
        f"2 matrices, width {4 * D:,}",
        f"3 matrices, width {4 * D:,}",
        f"3 matrices, width {narrow:,}",
    ]
    shares = [n / counts[0] for n in counts]
    same_bars(root.locator(".p-pane-bars"), names, [(shares, max(shares), False, 3)])
    said = root.locator(".p-say").inner_text()
    told = re.findall(r"\d(?:[\d,]*\d)?", said.split(": ")[0])
    told = [int(n.replace(",", "")) for n in told]
    right(told == [D, 4 * D, counts[0], narrow, counts[2]], f"{said}: {told}")
    off = 100 * (counts[2] - counts[0]) / counts[0]
    word = "exactly as many" if not off else "more" if off > 0 else "fewer"
    right(word in said.split(": ")[1], said)
    if off:
        right(says(said.split(": ")[1].split()[0], abs(off), 2), said)
