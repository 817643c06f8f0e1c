"""The JavaScript twin against its torch original, in a real browser, on random inputs.

One entry of `CASES` for each exported function: what JavaScript evaluates, and what torch says.
A function that is exported and has no entry fails the suite.
"""

import base64
import math
import re

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Error

from pieces import masks, measures, scores
from pieces.attention import attention, masked_softmax
from pieces.widgets.base import inlined, source_of

TOLERANCE = 1e-5
GEN = torch.Generator()
SHAPES = [(1, 1, 1), (2, 3, 4), (5, 5, 3), (7, 11, 6), (13, 4, 1), (16, 24, 8)]
CASES: dict[str, list[tuple[str, dict, object]]] = {}


def case(name, script, expected, **given):
    """Add a case: `script` is JavaScript over `t` (the twin) and `a` (the arguments)."""
    given = {k: v.tolist() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
    expected = expected.tolist() if isinstance(expected, torch.Tensor) else expected
    CASES.setdefault(name, []).append((script, given, expected))


def normal(*shape, scale=1.0):
    return scale * torch.randn(*shape, generator=GEN, dtype=torch.float64)


def some_mask(T, S):
    """A random mask whose first row sees nothing."""
    mask = torch.rand(T, S, generator=GEN) < 0.6
    mask[0] = False
    return mask


def linear_algebra(n, m, p):
    a, b, x, y = normal(n, m), normal(m, p), normal(m), normal(m)
    rows, columns = torch.arange(n), torch.arange(p)
    case("matrix", "t.matrix(a.n, a.p, (i, j) => 3 * i - j)", 3 * rows[:, None] - columns, n=n, p=p)
    case("transpose", "t.transpose(a.a)", a.T, a=a)
    case("inner", "t.inner(a.x, a.y)", x @ y, x=x, y=y)
    case("matmul", "t.matmul(a.a, a.b)", a @ b, a=a, b=b)
    case("norm", "t.norm(a.x)", x.norm(), x=x)
    case("cosine", "t.cosine(a.x, a.y)", measures.cosine(x, y), x=x, y=y)


def weights_of_rows(T, S, K):
    for scale in (1.0, 30.0, 1e4):
        raw = normal(T, S, scale=scale)
        case("softmax", "t.softmax(a.row)", raw[0].softmax(-1), row=raw[0])
        mask = some_mask(T, S)
        case("maskedSoftmax", "t.maskedSoftmax(a.s)", masked_softmax(raw), s=raw)
        case("maskedSoftmax", "t.maskedSoftmax(a.s, a.m)", masked_softmax(raw, mask), s=raw, m=mask)
        with_inf = raw.masked_fill(~mask, -math.inf)
        case("maskedSoftmax", "t.maskedSoftmax(a.s)", masked_softmax(with_inf), s=with_inf)
        case("softmax", "t.softmax(a.row)", torch.zeros(S), row=with_inf[0])
        p = masked_softmax(raw, mask)
        case("entropy", "a.p.map(t.entropy)", measures.entropy(p), p=p)
        case("jacobianNorm", "a.p.map(t.jacobianNorm)", measures.jacobian_norm(p), p=p)
    uniform = torch.full((S,), 1 / S, dtype=torch.float64)
    case("entropy", "t.entropy(a.p)", math.log(S), p=uniform)


def score_functions(hidden, S, K):
    Kq, Kk = K, K + 2
    q, same, other = normal(1, Kq), normal(S, Kq), normal(S, Kk)
    case("scores.dot", "t.scores.dot(a.q, a.k)", scores.dot(q, same)[0], q=q[0], k=same)
    case(
        "scores.scaledDot", "t.scores.scaledDot(a.q, a.k)", scores.scaled_dot(q, same)[0],
        q=q[0], k=same,
    )  # fmt: skip
    additive = scores.AdditiveScore(Kq, Kk, hidden).double()
    case(
        "scores.additive", "t.scores.additive(a.q, a.k, a)", additive(q, other)[0].detach(),
        q=q[0], k=other, W=additive.W.weight.detach(), U=additive.U.weight.detach(),
        v=additive.v.weight[0].detach(),
    )  # fmt: skip
    bilinear = scores.BilinearScore(Kq, Kk).double()
    case(
        "scores.bilinear", "t.scores.bilinear(a.q, a.k, a)", bilinear(q, other)[0].detach(),
        q=q[0], k=other, W=bilinear.W.weight.detach(),
    )  # fmt: skip


def attention_steps(T, S, K):
    for scale in (1.0, 40.0):
        q, k, v = normal(T, K, scale=scale), normal(S, K, scale=scale), normal(S, K + 1)
        mask, bias = some_mask(T, S), normal(T, S)
        for options in ({}, {"mask": mask}, {"bias": bias}, {"mask": mask, "bias": bias}):
            output, weights = attention(q[None, None], k[None, None], v[None, None], **options)
            scaled = scores.scaled_dot(q, k) + options.get("bias", 0)
            expected = {
                "scores": scores.dot(q, k).tolist(),
                "scaled": scaled.tolist(),
                "weights": weights[0, 0].tolist(),
                "output": output[0, 0].tolist(),
            }
            options = {name: given.tolist() for name, given in options.items()}
            case("attention", "t.attention(a.q, a.k, a.v, a.o)", expected, q=q, k=k, v=v, o=options)
    x, Wq, Wk, Wv = normal(T, S), normal(S, K), normal(S, K), normal(S, K)
    mask = some_mask(T, T)
    for given in (None, mask):
        Q, Ks, V = x @ Wq, x @ Wk, x @ Wv
        output, weights = attention(Q[None, None], Ks[None, None], V[None, None], mask=given)
        expected = {
            "Q": Q.tolist(),
            "K": Ks.tolist(),
            "V": V.tolist(),
            "scores": (Q @ Ks.T).tolist(),
            "scaled": (Q @ Ks.T / math.sqrt(K)).tolist(),
            "weights": weights[0, 0].tolist(),
            "output": output[0, 0].tolist(),
        }
        mask_or_not = {} if given is None else {"mask": given}
        case(
            "selfAttention",
            "t.selfAttention(a.x, a)",
            expected,
            x=x,
            Wq=Wq,
            Wk=Wk,
            Wv=Wv,
            **mask_or_not,
        )


def every_mask(T, S, n):
    S = max(T, S)
    case("masks.full", "t.masks.full(a.T, a.S)", masks.full(T, S), T=T, S=S)
    case("masks.full", "t.masks.full(a.T)", masks.full(T), T=T)
    case("masks.causal", "t.masks.causal(a.T, a.S)", masks.causal(T, S), T=T, S=S)
    case("masks.causal", "t.masks.causal(a.T)", masks.causal(T), T=T)
    for window in (1, n, T + 3):
        case(
            "masks.slidingWindow", "t.masks.slidingWindow(a.T, a.w, a.S)",
            masks.sliding_window(T, window, S), T=T, S=S, w=window,
        )  # fmt: skip
        for extra in (1, 2, 5):
            case(
                "masks.dilated", "t.masks.dilated(a.T, a.w, a.d, a.S)",
                masks.dilated(T, window, extra, S), T=T, S=S, w=window, d=extra,
            )  # fmt: skip
            case(
                "masks.globalWindow", "t.masks.globalWindow(a.T, a.w, a.g, a.S)",
                masks.global_window(T, window, extra - 1, S), T=T, S=S, w=window, g=extra - 1,
            )  # fmt: skip
        case(
            "masks.prefix", "t.masks.prefix(a.T, a.n, a.S)", masks.prefix(T, window - 1, S),
            T=T, S=S, n=window - 1,
        )  # fmt: skip
    lengths = torch.randint(-1, S + 3, (4,), generator=GEN)
    for side in ("left", "right"):
        case(
            "masks.padding", "t.masks.padding(a.n, a.S, a.side)",
            masks.padding(lengths, S, side)[:, 0, 0], n=lengths, S=S, side=side,
        )  # fmt: skip
    case(
        "masks.padding",
        "t.masks.padding(a.n, a.S)",
        masks.padding(lengths, S)[:, 0, 0],
        n=lengths,
        S=S,
    )
    a, b = some_mask(T, S), some_mask(T, S)
    case("masks.and", "t.masks.and(a.a, a.b)", a & b, a=a, b=b)
    square = some_mask(T, T) & some_mask(T, T)
    for layers in (0, 1, 2, 7):
        reach = masks.reach(square, layers)
        case("masks.reach", "t.masks.reach(a.m, a.n)", reach, m=square, n=layers)
        each = torch.stack([masks.reach(square, n) for n in range(layers + 1)])
        case("masks.reaches", "t.masks.reaches(a.m, a.n)", each, m=square, n=layers)


def build_cases():
    GEN.manual_seed(5)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        for shape in SHAPES:
            for family in (
                linear_algebra,
                weights_of_rows,
                score_functions,
                attention_steps,
                every_mask,
            ):
                family(*shape)
    zero = [0.0, 0.0, 0.0]
    case(
        "cosine",
        "t.cosine(a.x, a.y)",
        F.cosine_similarity(torch.zeros(3), torch.ones(3), dim=0),
        x=zero,
        y=[1.0] * 3,
    )
    for size in (1e-320, 1e-200, 1e-160, 1e-8, 1e8, 1e160, 1e300):
        x, y = size * torch.tensor([[3.0, 4.0, 0.0], [4.0, 3.0, 0.0]], dtype=torch.float64)
        case("cosine", "t.cosine(a.x, a.y)", 0.96, x=x, y=y)
        case("cosine", "t.cosine(a.x, a.y)", -0.96, x=x, y=[-4.0, -3.0, 0.0])
        case("norm", f"t.norm(a.x) / {size!r}", 5.0, x=x)
    case("softmax", "t.softmax(a.row)", [], row=[])
    case("softmax", "t.softmax(a.row)", [0.0, 1.0, 0.0], row=[-math.inf, 1e300, -1e300])


build_cases()
DRAWS = {"uniform", "gaussian"}  # their originals are distributions: see below
FIRST = [0.1994614282, -0.4984989767, -0.4432154063, -1.3949682328]  # of seed 168


def flat(value):
    """Return a result as (path, number) pairs, so that shapes are compared too."""
    if isinstance(value, dict):
        return [((k, *p), x) for k in sorted(value) for p, x in flat(value[k])]
    if isinstance(value, (list, tuple)):
        return [((i, *p), x) for i, item in enumerate(value) for p, x in flat(item)]
    return [((), value)]


def differences(got, expected):
    """Return what differs by more than the tolerance, in words."""
    a, b = flat(got), flat(expected)
    if [p for p, _ in a] != [p for p, _ in b]:
        return [f"other shape: {len(a)} numbers, {len(b)} expected"]
    return [
        f"at {p}: {x}, torch says {y}"
        for (p, x), (_, y) in zip(a, b, strict=True)
        if isinstance(x, bool) != isinstance(y, bool) or not close(x, y)
    ]


def close(x, y):
    return x is not None and (x == y or abs(x - y) <= TOLERANCE)


@pytest.fixture(scope="module")
def twin(chromium):
    """The twin, loaded the way a notebook loads it; call it with a script and its arguments."""
    page = chromium.new_page()
    text = base64.b64encode(inlined("twin/twin").encode()).decode()
    page.evaluate(
        "(url) => import(url).then((t) => { window.t = t; })",
        f"data:text/javascript;base64,{text}",
    )
    yield lambda script, a=None: page.evaluate(f"(a) => {script}", a or {})
    page.close()


def exports():
    """Return every function that twin.js exports, members of exported objects included."""
    source = source_of("twin/twin")
    names = re.findall(r"^export (?:const|function|let|class) (\w+)", source, flags=re.M)
    assert len(re.findall(r"^\s*export\b", source, flags=re.M)) == len(names), "an unknown export"
    return names


def test_every_export_has_a_test(twin):
    members = twin(
        "Object.entries(t).flatMap(([name, x]) => typeof x === 'function' ? [name]"
        " : Object.keys(x).map((key) => `${name}.${key}`))"
    )
    assert set(exports()) == {name.split(".")[0] for name in members}
    assert set(members) - DRAWS == set(CASES), "add a case above for each new function"


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_torch(twin, name):
    for script, given, expected in CASES[name]:
        wrong = differences(twin(script, given), expected)
        assert not wrong, f"{script}: {wrong[:3]} ({len(wrong)} in all)"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("t.attention([[1, 2]], [], [])", "0 keys and 0 values"),
        ("t.attention([[1, 2]], [[1, 2]], [])", "1 keys and 0 values"),
        ("t.matmul([[]], [])", "no rows"),
    ],
)
def test_what_has_no_width_is_refused(twin, script, said):
    with pytest.raises(Error, match=said):
        twin(script)


@pytest.mark.parametrize("name", CASES)
def test_a_twin_off_by_a_thousandth_is_caught(twin, name):
    spoil = """((x) => {
      if (typeof x === "boolean") return !x;
      if (typeof x === "number") return x + 1e-3;
      const keys = Object.keys(x);
      const at = keys[keys.length - 1];
      const inside = Array.isArray(x) ? [...x] : { ...x };
      if (at !== undefined) inside[at] = spoil(inside[at]);
      return inside;
    })"""
    script, given, expected = max(CASES[name], key=lambda one: len(flat(one[2])))
    broken = twin(f"{{ const spoil = {spoil}; return spoil({script}); }}", given)
    assert differences(broken, expected)


def test_uniform_is_uniform(twin):
    draws = torch.tensor(
        twin("{ const f = t.uniform(7); return Array.from({ length: 40000 }, f); }")
    )
    assert draws.min() >= 0
    assert draws.max() < 1
    moments = [draws.mean() - 1 / 2, draws.var() - 1 / 12, (draws**4).mean() - 1 / 5]
    assert max(map(abs, moments)) < 0.01
    assert abs(torch.corrcoef(torch.stack([draws[:-1], draws[1:]]))[0, 1]) < 0.02
    counts = torch.histc(draws, 20, 0, 1)
    assert ((counts - 2000) ** 2 / 2000).sum() < 50  # χ² of 19 degrees, p ≈ 1e-4


def test_gaussian_is_normal(twin):
    draws = torch.tensor(twin("t.gaussian(7, 40001)"))
    assert draws.shape == (40001,)
    assert draws.isfinite().all()
    moments = [draws.mean(), draws.var() - 1, (draws**3).mean() / 3, (draws**4).mean() / 3 - 1]
    assert max(map(abs, moments)) < 0.04
    assert abs(torch.corrcoef(torch.stack([draws[0:-1:2], draws[1::2]]))[0, 1]) < 0.02


@pytest.mark.parametrize("script", ["t.gaussian(a, 9)", "Array.from({ length: 9 }, t.uniform(a))"])
def test_draws_are_the_same_everywhere(twin, script):
    assert twin(script, 3) == twin(script, 3)
    assert twin(script, 3) != twin(script, 4)


def test_draws_do_not_change_with_the_version(twin):
    """Pictures in the text speak of these numbers."""
    first = twin("[t.uniform(168)(), ...t.gaussian(168, 3)]")
    assert not differences(first, FIRST)
