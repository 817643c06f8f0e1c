"""Workbench: its code is run and its numbers are counted by torch, its signals by autograd; and its hands."""

import random
import re

import pytest
import torch
from by_torch import shapes_only
from charted import CHARTS, place
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import check, recorded
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from trials import trials
from twins import opened_twin

import workbench as experiment
from browser import put, state
from pieces.cache import GrowingCache, RollingCache
from pieces.models import gpt2, llama, mistral, mixtral
from pieces.widgets import Workbench
from pieces.widgets.workbench import ACTIVATIONS, MASKS, NORMS, PLACES, POSITIONS, SCORES
from swapped import BASE, built
from widgets.workbench.expected import (
    KINDS,
    cache_of,
    counts_of,
    model_of,
    operations_of,
    powers,
    run,
    told_of,
    used,
    variants,
)

TestOracle = trials(__file__)
MODULES = tuple(f"workbench/{name}" for name in ("bench", "line", "probe", "steps"))
CHOICES = dict(zip(KINDS, (SCORES, MASKS, POSITIONS, NORMS, PLACES, ACTIVATIONS), strict=True))
DEFAULTS = {name: getattr(Workbench(), name) for name in Workbench().inputs()}
BENCH = st.fixed_dictionaries(
    {name: st.sampled_from(options) for name, options in CHOICES.items()}
    | {"bias": st.booleans(), "tied": st.booleans()}
    | {name: st.integers(1, most) for name, most in (
        ("n_layers", 3), ("d_model", 40), ("n_heads", 8), ("n_kv_heads", 8), ("head_dim", 17),
        ("d_ff", 60), ("n_experts", 5), ("n_chosen", 5), ("vocab_size", 50), ("length", 12),
        ("window", 14), ("prefix_len", 14))}
)  # fmt: skip


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=MODULES) as opened:
        yield opened


def pairs(seed=0):
    """Return benches in which each two choices of different parts meet, the sizes at random."""
    draw, left = random.Random(seed), set()
    names = list(CHOICES)
    for n, a in enumerate(names):
        left |= {(a, x, b, y) for b in names[n + 1 :] for x in CHOICES[a] for y in CHOICES[b]}
    while left:
        a, x, b, y = min(left)
        s = {name: draw.choice(options) for name, options in CHOICES.items()} | {a: x, b: y}
        left -= {(a, s[a], b, s[b]) for n, a in enumerate(names) for b in names[n + 1 :]}
        sizes = {"n_layers": 3, "d_model": 24, "n_heads": 6, "n_kv_heads": 6, "head_dim": 9, "d_ff": 40,
                 "n_experts": 4, "n_chosen": 5, "vocab_size": 30, "length": 10, "window": 12,
                 "prefix_len": 12}  # fmt: skip
        yield s | {name: draw.randint(1, most) for name, most in sizes.items()} | {
            "bias": draw.random() < 0.5, "tied": draw.random() < 0.5}  # fmt: skip


def same_bench(twin, wish):
    """The code builds these parts, and the page counts what torch counts."""
    s = used(wish)
    found = twin(
        """((s, rows, sum) => ({ fitted: s, code: line.line(s),
      parameters: sum(rows(s), "parameters"), operations: sum(rows(s), "operations") }))
      (bench.fitted(a.s), steps.steps, (rows, key) => rows.reduce((n, row) => n + row[key], 0))""",
        s=wish,
    )
    assert found["fitted"] == s
    model, _ = run(found["code"])
    with shapes_only():
        assert told_of(model) == told_of(model_of(s)), found["code"]
    assert (
        sum(p.numel() for p in model.parameters()) == found["parameters"] == counts_of(s)["total"]
    )
    assert found["operations"] == sum(operations_of(s).values())


def test_every_two_choices_together_build_what_is_counted(twin):
    benches = list(pairs())
    assert len(benches) >= 48
    for wish in benches:
        same_bench(twin, wish)


@given(BENCH)
@settings(max_examples=60, deadline=None)
def test_any_bench_builds_what_is_counted(twin, wish):
    same_bench(twin, wish)


def benches(seed, **more):
    """Return some small benches that can be run."""
    draw = random.Random(seed)
    for n, wish in enumerate(pairs(seed)):
        if n >= 24:
            return
        heads = draw.choice([1, 2, 3, 4])
        sizes = {"n_heads": heads, "n_kv_heads": draw.choice([1, heads]), "length": 7, "window": 3}
        yield used(wish | sizes | more)


def attended(model, s):
    """Return what a model is called with besides its words."""
    T = s["length"]
    if s["mask"] != "prefix":
        return {}
    from pieces import masks

    return {"mask": masks.prefix(T, s["prefix_len"])[None, None]}


def test_operations_are_those_that_torch_counts():
    """Of the last token behind a cache; a full mask has none, and all tokens take as many."""
    tried = 0
    for s in benches(1):
        if s["mask"] in ("prefix", "full"):
            continue
        model, T = model_of(s).eval(), s["length"]
        cache = RollingCache(s["window"]) if s["mask"] == "window" else GrowingCache()
        ids = torch.randint(s["vocab_size"], (1, T))
        with torch.no_grad():
            model(ids[:, :-1], cache=cache)
            with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
                model(ids[:, -1:], cache=cache)
            kept = [x for layer in range(s["n_layers"]) for x in cache.read(layer)]
        assert counter.get_total_flops() == sum(operations_of(s).values()), s
        assert sum(x.numel() for x in kept) == cache_of(s)[1], s
        tried += 1
    assert tried >= 8


def weights_of(model, s):
    """Return the first weights as the page's probe takes them."""
    flat = lambda x: x.detach().flatten().tolist()  # noqa: E731

    def linear(layer):
        return {"W": flat(layer.weight), "b": None if layer.bias is None else flat(layer.bias)}

    def network(ff):
        names = [name for name in ("up", "gate", "down") if hasattr(ff, name)]
        return {name: linear(getattr(ff, name)) for name in names}

    def experts(ff):
        if s["n_experts"] == 1:
            return [network(ff)]
        if hasattr(ff.experts, "experts"):
            return [network(one) for one in ff.experts.experts]
        both = zip(ff.experts.gate_up, ff.experts.down, strict=True)
        return [{name: {"W": flat(x), "b": None} for name, x in zip(
            ("gate", "up", "down"), (*gate_up.chunk(2), down), strict=True)} for gate_up, down in both]  # fmt: skip

    def layer(block):
        a, score = block.attention, block.attention.core.score
        learned = {n: flat(getattr(score, n).weight) for n in ("W", "U", "v") if hasattr(score, n)}
        found = {name: linear(getattr(a, name)) for name in ("query", "key", "value", "output")}
        several = s["n_experts"] > 1
        router = {"router": linear(block.feed_forward.router.gate)} if several else {}
        return found | router | {"learned": learned, "experts": experts(block.feed_forward)}

    own, T = model.position, s["length"]
    table = flat(own.weight[:T]) if s["position"] == "learned" else []
    buckets = flat(own.weight) if s["position"] == "t5" else []
    return {"layers": [layer(b) for b in model.stack.blocks], "table": table, "buckets": buckets}


def signals_of(model, s, embedded, asked):
    """Return the size of the stream and of the gradient behind each sublayer, by autograd."""
    T, streams = s["length"], []
    places = torch.arange(T)
    x = model.position.add(embedded, places).requires_grad_()
    streams.append(x)
    for block in model.stack.blocks:
        for residual in (block.attention_residual, block.feed_forward_residual):
            residual.register_forward_hook(lambda _, __, y: streams.append(y))
    shared = model.position.for_layers(places, T, x.dtype)
    y = model.stack(x, **shared, **attended(model, s))
    gradients = torch.autograd.grad(y, streams, asked)
    rms = lambda x: x.square().mean().sqrt().item()  # noqa: E731
    return [rms(x) for x in streams], [rms(g) for g in gradients]


def test_the_signal_up_and_the_gradient_down_are_those_of_autograd(twin):
    ask = """probe.sizesAlong(a.s, ((floats) => ({ ...a.w, embedded: floats(a.x), asked: floats(a.r),
      table: floats(a.w.table), buckets: floats(a.w.buckets) }))((list) => Float64Array.from(list)))"""
    for n, s in enumerate(benches(2, d_model=10, d_ff=15)):
        torch.manual_seed(n)
        model = model_of(s).double()
        x, r = torch.randn(2, 1, s["length"], s["d_model"], dtype=torch.float64)
        up, down = signals_of(model, s, x, r)
        given = {"x": x.flatten().tolist(), "r": r.flatten().tolist(), "w": weights_of(model, s)}
        found = twin(ask, s=s, **given)
        assert found["forward"] == pytest.approx(up, rel=1e-5), s
        assert found["backward"] == pytest.approx(down, rel=1e-5), s


@pytest.mark.parametrize("place", ["pre", "post", "deep"])
def test_first_weights_are_drawn_as_torch_draws_them(twin, place):
    """A draw of the page ends near the middle of torch's own draws."""
    s = used(DEFAULTS | {"place": place, "n_layers": 6, "length": 8, "norm": "layer"})
    ends = []
    for seed in range(8):
        torch.manual_seed(seed)
        x, r = torch.randn(2, 1, 8, 64, dtype=torch.float64)
        ends.append(torch.tensor(signals_of(model_of(s).double(), s, x, r)))
    middle = torch.stack(ends).mean(0)
    found = twin("[1, 2, 3].map((n) => probe.sizesAlong(a.s, probe.firstWeights(a.s, n)))", s=s)
    for one in found:
        drawn = torch.tensor([one["forward"], one["backward"]])
        assert (drawn / middle - 1).abs().max() < 0.2, (drawn, middle)


def test_what_was_looked_at_is_not_kept_for_another_model(twin):
    """One model after the other, and back: as if each had come first."""
    seen = twin("""[{}, { activation: "relu" }, { n_layers: 5 }, { place: "sandwich" }, {}].map((swap) =>
      ((s) => [probe.looked(s), probe.sizesAlong(probe.inSmall(s), probe.firstWeights(probe.inSmall(s), 1))])
      (bench.fitted({ ...a.s, ...swap })))""", s=DEFAULTS)  # fmt: skip
    for kept, fresh in seen:
        assert (kept["forward"], kept["backward"]) == (fresh["forward"], fresh["backward"])
    assert seen[0] == seen[-1]
    assert seen[0][1] != seen[1][1]


def test_the_ghosts_are_the_signals_of_before(bench):
    """Each curve's own, where it stood: the stream's for the stream, the gradient's for the gradient."""
    widget = Workbench()
    with recorded(bench, widget) as page:
        before = state(page, widget)
        put(page, widget, place="post")
        check(page, widget)
        (drawn,) = page.locator(".pieces").evaluate(CHARTS)
        py = place(powers(drawn["y"]), True)
        ghosts = page.locator(".p-curve-ghost").evaluate_all(
            "(all) => all.map((one) => (one.matches('path') ? one : one.querySelector('path'))"
            ".getAttribute('d'))"
        )
        for path, sizes in zip(ghosts, (before["forward"], before["backward"]), strict=True):
            points = [float(point.split()[1]) for point in re.findall("[ML]([^ML]+)", path)]
            off = [abs(y - py(value)) for y, value in zip(points, sizes, strict=True)]
            assert max(off) < 0.3


def test_a_large_model_is_looked_at_in_small(twin):
    """The same parts, and sizes that build; a small model is looked at itself."""
    own = twin("probe.looked(bench.fitted(a.s))", s=DEFAULTS)
    assert own["own"]
    assert own["small"] == used(DEFAULTS) | {"length": 8, "prefix_len": 7}
    for name in twin("Object.keys(bench.PRESETS)")[1:]:
        found = twin("probe.looked(bench.fitted({ ...a.s, ...bench.PRESETS[a.name] }))",
                     s=DEFAULTS, name=name)  # fmt: skip
        assert not found["own"]
        assert used(found["small"]) == found["small"]
        assert len(found["forward"]) == 25, "twelve layers"
    for wish in pairs(5):
        small = twin("probe.inSmall(bench.fitted(a.s))", s=wish)
        model_of(small)


@pytest.mark.parametrize(
    ("name", "config", "build"),
    [("gpt2", gpt2.PRESETS["gpt2"], gpt2.gpt2), ("llama-7b", llama.PRESETS["llama-7b"], llama.llama),
     ("mistral-7b-v0.1", mistral.PRESETS["mistral-7b-v0.1"], mistral.mistral),
     ("mixtral-8x7b", mixtral.PRESETS["mixtral-8x7b"], mixtral.mixtral)],
)  # fmt: skip
def test_a_known_model_has_as_many_parameters(twin, name, config, build):
    with shapes_only():
        model = build(config)
    s = twin("bench.fitted({ ...a.s, ...bench.PRESETS[a.name] })", s=DEFAULTS, name=name)
    assert counts_of(s)["total"] == sum(p.numel() for p in model.parameters())


def test_what_was_trained_is_what_the_code_builds():
    for name, swap in experiment.SWAPS.items():
        parts = BASE | swap
        s = used(DEFAULTS | {k: v for k, v in parts.items() if k in DEFAULTS})
        with shapes_only():
            assert told_of(built(parts)) == told_of(model_of(s)), name


def test_the_record_chose_rates_by_seeds_of_its_own_and_ships_what_it_measured():
    record = experiment.RECORD.read_text(encoding="utf-8")
    assert record == experiment.PACKAGED.read_text(encoding="utf-8")
    base, steps, found = variants()
    assert base == BASE
    assert steps == experiment.CONFIG.steps
    assert set(found) == set(experiment.SWAPS)
    assert not list(experiment.next_runs(steps))
    assert not set(experiment.SEEDS) & set(experiment.RATES_SEEDS)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("traits", "match"),
    [({"score": "cosine"}, "score"), ({"n_heads": 0}, "n_heads"), ({"position": "xl"}, "position"),
     ({"head_dim": 513}, "head_dim"), ({"bias": 1}, "bias"), ({"d_model": 1.5}, "d_model"),
     ({"parts": 3}, "no such trait")],
)  # fmt: skip
def test_refuses(traits, match):
    with pytest.raises(ValueError, match=match):
        Workbench(**traits)


def test_each_part_swapped_by_its_list(bench):
    widget = Workbench()
    with recorded(bench, widget) as page:
        for name, options in CHOICES.items():
            for option in options:
                page.locator(f"[data-trait={name}] select").select_option(option)
                check(page, widget)
        for box in ("bias", "tied"):
            page.locator(f"[data-trait={box}] input").click()
            check(page, widget)
        assert page.record.errors == []


def test_from_preset_to_preset_and_to_each_variant(bench):
    widget = Workbench()
    with recorded(bench, widget) as page:
        for name in ("gpt2", "mixtral-8x7b", "llama-7b", "mistral-7b-v0.1", "baseline"):
            page.get_by_label("begin with").select_option(name)
            check(page, widget)
            assert page.get_by_label("begin with").input_value() == name
        for variant in page.locator(".p-bench-variant").all():
            variant.click()
            check(page, widget)
            assert state(page, widget)["above_floor"] is not None
        assert page.record.errors == []


def test_by_its_sliders(bench):
    widget = Workbench(mask="prefix", n_experts=3, n_chosen=2)
    with recorded(bench, widget) as page:
        for trait in ("n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff", "n_experts", "n_chosen",
                      "length", "prefix_len", "vocab_size", "d_model"):  # fmt: skip
            slider = page.locator(f"[data-trait={trait}] input[type=range]")
            for key in ("PageUp", "ArrowLeft", "Home", "ArrowRight"):
                slider.press(key)
            check(page, widget)
        assert page.record.errors == []


def test_a_wish_that_cannot_be_is_kept_and_granted_later(bench):
    widget = Workbench(position="alibi")
    with recorded(bench, widget) as page:
        field = page.get_by_label("head size K, exactly")
        field.press("Control+a")
        for key in "15":
            field.press(key)
            check(page, widget)
        field.blur()
        page.get_by_label("positions", exact=True).select_option("rope")
        check(page, widget)
        assert state(page, widget)["built"] == {"head_dim": 14}
        assert "heads of 14 are built" in page.locator("[data-trait=head_dim] .p-mark").inner_text()
        page.get_by_label("positions", exact=True).select_option("t5")
        check(page, widget)
        assert state(page, widget)["built"] == {}, "the wish for 15 was kept"
        page.locator("[data-trait=place] select").select_option("sandwich")
        page.locator("[data-trait=norm] select").select_option("none")
        check(page, widget)
        page.locator("[data-trait=norm] select").select_option("layer")
        check(page, widget)
        assert "SandwichNorm(LayerNorm" in state(page, widget)["code"]


def test_a_part_lights_up_in_drawing_code_table_and_numbers(bench):
    widget = Workbench(n_experts=4, n_chosen=2, position="learned", tied=False)
    with recorded(bench, widget) as page:
        on = lambda: page.evaluate(  # noqa: E731
            "() => [...document.querySelectorAll('[data-part].p-on')].map((n) => n.tagName)")  # fmt: skip
        for part in (
            "embedding",
            "positions",
            "attention",
            "feed-forward",
            "router",
            "norms",
            "head",
        ):
            box = page.locator(f".p-bench-part[data-part={part}]").first
            box.press("Enter")
            check(page, widget)
            assert {"g", "SPAN", "TR"} <= set(on()), part
            assert box.get_attribute("aria-pressed") == "true"
            bar = page.locator(".p-part-board .p-part.p-on b")
            assert bar.text_content() == part
            box.press("Enter")
            box.blur()
            check(page, widget)
            assert on() == [], "a second press lets go"
        page.locator(".p-bench-code span[data-part=attention]").first.hover()
        check(page, widget)
        assert set(on()) >= {"g", "SPAN", "TR"}
        page.locator(".p-title").hover()
        page.locator(".p-bench-drawing [data-part=mask]").hover()
        assert "The mask has no parameters" in page.locator(".p-bench-told").inner_text()
        assert page.record.errors == []


def test_the_code_is_copied_whole_or_selected(bench):
    widget = Workbench(place="deep", mask="prefix", tied=False)
    with recorded(bench, widget) as page:
        page.evaluate(
            "() => { navigator.clipboard.writeText = async (text) => { window.kept = text; }; }"
        )
        page.get_by_role("button", name="Copy it all").click()
        page.wait_for_function("document.querySelector('.p-bench-note').textContent")
        assert page.evaluate("window.kept") == state(page, widget)["code"]
        page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }"
        )
        page.get_by_label("score").select_option("dot")
        page.get_by_role("button", name="Copy it all").click()
        page.wait_for_function("document.querySelector('.p-bench-note').textContent")
        assert "Selected" in page.locator(".p-bench-note").inner_text()
        chosen = page.evaluate("getSelection().toString()")
        assert "from pieces.attention" in chosen
        assert "model = DecoderOnly" in chosen
