"""ConfigCalculator: its arithmetic against models that are built and counted, and its hands."""

import random
import re
from dataclasses import replace

import pytest
import torch
from oracle import check, recorded
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from trials import trials
from twins import opened_twin

from browser import PAINTED, put, state
from pieces.cache import GrowingCache, RollingCache
from pieces.models.gemma import GEMMA_7B
from pieces.models.llama import LLAMA_2_70B, LLAMA_3_8B, LlamaConfig
from pieces.models.mistral import MISTRAL_7B, MistralConfig, mistral
from pieces.models.mixtral import MIXTRAL_8X7B
from pieces.models.qwen2 import QWEN2_7B, Qwen2Config
from pieces.widgets import ConfigCalculator
from pieces.widgets.config_calculator import SIZES
from widgets.config_calculator.expected import NAMES, config_of, counted, known

TestOracle = trials(__file__)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("config_calculator/llama_sizes",)) as opened:
        yield opened


def some(seed, small=False):
    """Return random sizes; small ones can be run."""
    draw = random.Random(seed)
    kv, group = draw.choice([1, 2, 3, 5]), draw.choice([1, 2, 3, 4])
    widths = (6, 20) if small else (8, 9000)
    sizes = {
        "vocab_size": draw.randint(5, 40 if small else 200_000),
        "d_model": draw.randint(*widths),
        "n_layers": draw.randint(1, 3),
        "n_heads": kv * group,
        "n_kv_heads": kv,
        "head_dim": 2 * draw.randint(1, 3 if small else 128),
        "d_ff": draw.randint(*widths),
        "max_seq_len": 40,
        "window": draw.choice([0, 3]),
        **{name: draw.random() < 0.5 for name in ("tied", "bias", "ff_bias")},
    }
    return sizes | {"out_bias": sizes["bias"]}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("traits", "match"),
    [({"n_heads": 12, "n_kv_heads": 5, "head_dim": 8}, "n_kv_heads = 5"), ({"d_model": 100}, "d_model = 100"),
     ({"head_dim": 7}, "head_dim = 7"), ({"max_seq_len": 100, "length": 101}, "length = 101"),
     ({"weights_dtype": "float16"}, "weights_dtype"), ({"batch": 0}, "batch"), ({"bandwidth": 0}, "bandwidth"),
     ({"vocab_size": 1e4}, "vocab_size"), ({"n_layers": 257}, "n_layers")],
)  # fmt: skip
def test_refuses(traits, match):
    with pytest.raises(ValueError, match=match):
        ConfigCalculator(**traits)


@pytest.mark.usefixtures("unchecked")
def test_a_config_there_and_back():
    widget = ConfigCalculator.of(LLAMA_2_70B, batch=3)
    assert (widget.n_kv_heads, widget.head_dim, widget.length, widget.batch) == (8, 128, 4096, 3)
    assert "80 layers of width 8,192, 64 heads of size 128 (8 for keys and values)" in repr(widget)
    assert ConfigCalculator.of(MISTRAL_7B).config() == replace(
        MISTRAL_7B, head_dim=128, norm_eps=1e-6
    )
    small = ConfigCalculator.of(LlamaConfig(10, 12, 1, 3, 5))
    assert (small.n_kv_heads, small.head_dim) == (3, 4)


@pytest.mark.parametrize("name", NAMES)
def test_each_preset_is_counted_as_the_model_is(twin, name):
    sizes = twin(f'llama_sizes.PRESETS["{name}"]')
    assert config_of(sizes) == known()[name]
    parts, total, _ = counted(known()[name])
    assert twin("llama_sizes.countParameters(a.s)", s=sizes) == parts | {"total": total}


def test_random_sizes_are_counted_as_the_model_is(twin):
    for seed in range(20):
        sizes = some(seed)
        sizes["out_bias"] = sizes["bias"] and seed % 2 == 0
        parts, total, _ = counted(config_of(sizes))
        assert twin("llama_sizes.countParameters(a.s)", s=sizes) == parts | {"total": total}, sizes


def test_operations_are_those_that_torch_counts(twin):
    for seed in range(8):
        sizes = some(seed, small=True)
        model = mistral(config_of(sizes)).eval()
        length, cache = 7, RollingCache(3) if sizes["window"] else GrowingCache()
        ids = torch.randint(sizes["vocab_size"], (1, length))
        with torch.no_grad():
            model(ids[:, :-1], cache=cache)
            with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
                model(ids[:, -1:], cache=cache)
        got = twin("llama_sizes.operations(a.s, a.length)", s=sizes, length=length)
        assert got == counter.get_total_flops(), sizes


def test_the_cache_is_as_large_as_it_is(twin):
    for seed in range(8):
        sizes, batch, length = some(seed, small=True), 2, 9
        model = mistral(config_of(sizes)).eval()
        cache = RollingCache(3) if sizes["window"] else GrowingCache()
        with torch.no_grad():
            for step in torch.randint(sizes["vocab_size"], (length, batch, 1)):
                model(step, cache=cache)
        kept = [x for layer in range(sizes["n_layers"]) for x in cache.read(layer)]
        bytes_ = sum(x.numel() * x.element_size() for x in kept)
        args = {"s": sizes, "length": length, "batch": batch}
        assert twin("llama_sizes.cacheBytes(a.s, a.length, a.batch, 4)", **args) == bytes_, sizes


def test_training_keeps_what_adam_keeps(twin):
    """In float32 there is no second copy, and the four numbers of a weight are 16 bytes as well."""
    sizes = some(3, small=True) | {"window": 0}
    model = mistral(config_of(sizes))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randint(sizes["vocab_size"], (2, 5))).sum().backward()
    optimizer.step()
    moments = [x for of in optimizer.state.values() for x in of.values() if x.ndim]
    kept = [*model.parameters(), *(p.grad for p in model.parameters()), *moments]
    run = {"length": 5, "batch": 2, "weights": 2, "cache": 2}
    memory = twin("llama_sizes.memory(a.s, a.run)", s=sizes, run=run)
    inputs = memory["training"].pop("inputs")
    assert sum(memory["training"].values()) == sum(x.numel() * x.element_size() for x in kept)
    streams = []
    for block in model.stack.blocks:
        block.register_forward_pre_hook(lambda _, given: streams.append(given[0]))
    model(torch.randint(sizes["vocab_size"], (2, 5)))
    assert inputs == sum(2 * x.numel() for x in streams)


def test_from_preset_to_preset(bench):
    widget = ConfigCalculator()
    with recorded(bench, widget) as page:
        for name in NAMES:
            page.get_by_label("a known model").select_option(name)
            check(page, widget)
            now = state(page, widget)
            assert now["preset"] == name
            assert now["length"] == now["max_seq_len"]
        assert now["before"]["n_layers"] == 28, "Gemma's, before ours"
        page.get_by_label("a known model").select_option("")
        check(page, widget)
        assert page.record.errors == []


def test_by_its_controls_and_fields(bench):
    widget = ConfigCalculator.of(LLAMA_2_70B, weights_dtype="int4", batch=8)
    with recorded(bench, widget) as page:
        check(page, widget)
        for trait in (*SIZES[:9], "length", "batch", "bandwidth"):
            slider = page.locator(f"[data-trait={trait}] input[type=range]")
            for key in ("End", "ArrowLeft", "Home", "ArrowRight"):
                slider.press(key)
            check(page, widget)
        for box in ("tied", "bias", "out_bias", "ff_bias"):
            page.locator(f"[data-trait={box}] input").click()
            check(page, widget)
        page.get_by_label("cache as").select_option("float32")
        check(page, widget)
        put(page, widget, **some(7))
        check(page, widget)
        assert page.record.errors == []


def test_a_number_to_the_digit(bench):
    widget = ConfigCalculator()
    with recorded(bench, widget) as page:
        field = page.get_by_label("feed-forward F, exactly")
        field.fill("11007")
        assert state(page, widget)["d_ff"] == 11_007
        field.press("ArrowUp")
        assert state(page, widget)["preset"] == "llama-7b"
        page.get_by_label("heads H, exactly").fill("24")
        field.focus()
        now = state(page, widget)
        assert (now["n_heads"], now["n_kv_heads"]) == (24, 32), "the wish stays"
        assert now["parameters"]["attention"] == 32 * 2 * 4096 * 128 * (24 + 24), "32 are too many"
        check(page, widget)
        field.fill("many")
        assert field.get_attribute("aria-invalid") == "true"
        assert "11008 stays in use" in page.locator(".p-note").first.inner_text().replace(",", "")
        assert state(page, widget)["d_ff"] == 11_008
        page.locator("[data-trait=d_ff] input[type=range]").press("ArrowRight")
        assert field.get_attribute("aria-invalid") == "false", "a new value takes its place"
        assert field.input_value() == str(state(page, widget)["d_ff"]) == "11264"
        assert not page.locator(".p-note").first.inner_text()
        for label, typed, told in (
            ("head size K", "127", "is not an even number from 2 to 512: 128 stays"),
            ("width D", "4096.5", "is not a whole number from 2 to 32768: 4096 stays"),
        ):
            page.get_by_label(f"{label}, exactly").fill(typed)
            assert told in page.locator(".p-note").first.inner_text().replace(",", "")


def test_a_slider_leaves_what_stood_before_it_was_touched(bench):
    widget = ConfigCalculator()
    with recorded(bench, widget) as page:
        slider = page.locator("[data-trait=n_layers] input[type=range]")
        for _ in range(3):
            slider.press("ArrowRight")
            assert state(page, widget)["before"]["n_layers"] == 32
        stood = state(page, widget)["n_layers"]
        page.locator("[data-trait=d_ff] input[type=range]").press("ArrowRight")
        check(page, widget)
        assert state(page, widget)["before"]["n_layers"] == stood > 32


def test_a_formula_and_its_part_light_each_other_up(bench):
    with recorded(bench, ConfigCalculator(), touch=True, width=390) as page:
        line = page.locator(".p-work li").nth(1)
        line.tap()
        assert page.locator(".p-part.p-on").get_attribute("data-part") == "1"
        board = page.locator(".p-part-board").first
        board.focus()
        for key in ("Home", "ArrowRight", "ArrowRight"):
            board.press(key)
        assert "feed-forward" in page.locator(".p-work li.p-on").inner_text()
        assert page.record.errors == []


def typed(page, label, text):
    """Type into a field as a reader does, key by key, each judged in a frame of its own."""
    field = page.get_by_label(f"{label}, exactly")
    field.focus()
    field.press("Control+a")
    for key in text:
        field.press_sequentially(key)
        page.evaluate(PAINTED)
    return field


def test_what_is_typed_on_the_way_to_a_number_takes_nothing_else_along(bench):
    widget = ConfigCalculator.of(LLAMA_3_8B)
    with recorded(bench, widget) as page:
        mark = page.locator("[data-trait=n_kv_heads] .p-mark")
        typed(page, "heads H", "3")
        assert mark.inner_text() == "3 heads cannot share 8 key-value heads evenly: 3 are used."
        check(page, widget)
        typed(page, "heads H", "32")
        assert not mark.is_visible()
        typed(page, "longest text", "4096")
        now = state(page, widget)
        assert (now["n_heads"], now["n_kv_heads"]) == (32, 8)
        assert now["parameters"]["total"] == 8_030_261_248
        assert (now["max_seq_len"], now["length"]) == (4096, 8192)
        assert "With 4,096 tokens in the cache" in page.locator(".p-say").inner_text()
        assert page.locator("[data-trait=length] .p-mark").is_visible()
        check(page, widget)
        typed(page, "longest text", "8192")
        assert state(page, widget)["preset"] == "llama-3-8b"
        field = typed(page, "head size K", "96")
        assert field.get_attribute("aria-invalid") == "false"
        assert state(page, widget)["head_dim"] == 96
        for label, trait, text in (("width D", "d_model", "5120"), ("vocabulary V", "vocab_size", "50257"),
                                   ("layers L", "n_layers", "48"), ("tokens in the cache", "length", "9000"),
                                   ("texts at once", "batch", "16")):  # fmt: skip
            typed(page, label, text)
            assert state(page, widget)[trait] == int(text)
            check(page, widget)
        assert page.record.errors == []


@pytest.mark.usefixtures("unchecked")
def test_wishes_come_back_as_they_were_saved():
    widget = ConfigCalculator.revived(
        {"n_heads": 3, "n_kv_heads": 8, "max_seq_len": 4, "bias": True}
    )
    assert (widget.n_kv_heads, widget.config().n_kv_heads, widget.length) == (8, 3, 2048)
    assert re.search(r"3 heads of size \d+ \(3 for keys and values\)", repr(widget))


@pytest.mark.usefixtures("unchecked")
def test_the_cousins_are_taken_and_others_are_not():
    assert isinstance(ConfigCalculator.of(QWEN2_7B).config(), Qwen2Config)
    assert isinstance(ConfigCalculator.of(GEMMA_7B).config(), MistralConfig)
    with pytest.raises(ValueError, match="config = Mixtral"):
        ConfigCalculator.of(MIXTRAL_8X7B)
    with pytest.raises(ValueError, match="first_window_layer = 3"):
        ConfigCalculator.of(replace(QWEN2_7B, window=8, first_window_layer=3))


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    large = ConfigCalculator(vocab_size=1_000_000, d_ff=131_072, d_model=32_768, head_dim=128, bias=True,
                             ff_bias=True, n_layers=256, batch=1024)  # fmt: skip
    with bench.show(large, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces").evaluate_all(inside)
