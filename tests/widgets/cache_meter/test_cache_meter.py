"""CacheMeter: what a reader does with heads, texts and the card, and its counts against real caches."""

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import put, said, state
from pieces.attention import CachedAttention, LatentAttention
from pieces.cache import GrowingCache, RollingCache
from pieces.models import llama, mistral, qwen2
from pieces.positions import Rotary
from pieces.widgets import CacheMeter
from widgets.cache_meter.expected import MODELS

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("n_layers", 0), ("n_heads", 129), ("n_kv_heads", 0), ("context", 100), ("batch", 0),
     ("precision", "float64"), ("memory", 0), ("bandwidth", 1), ("scheme", "sparse"),
     ("weights", -1), ("latent", 0), ("carried", -1), ("window", 0)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        CacheMeter(**{trait: value})


def test_the_published_models_are_those_of_the_package():
    """All but DeepSeek-V2, which the package does not build: layers, heads, and two bytes a weight."""
    known = llama.PRESETS | mistral.PRESETS | qwen2.PRESETS
    build = {"mistral": mistral.mistral, "qwen2": qwen2.qwen2}
    for name, (n_layers, n_heads, n_kv_heads, head_dim, weights, active) in MODELS.items():
        if name == "deepseek-v2":
            continue
        config = known.get(name) or known[f"{name}-v0.1"]
        own = (config.n_layers, config.n_heads, config.n_kv_heads or config.n_heads)
        assert own == (n_layers, n_heads, n_kv_heads), name
        assert config.d_model // config.n_heads == head_dim
        with torch.device("meta"):
            model = build.get(name.split("-")[0], llama.llama)(config)
        counted = 2 * sum(weight.numel() for weight in model.parameters()) / 1e9
        assert weights == active == pytest.approx(counted, rel=0.005), f"{name}: {counted}"


def test_more_context_bursts_the_bar_and_fewer_heads_mend_it(bench):
    widget = CacheMeter(n_kv_heads=64)
    with recorded(bench, widget) as page:
        burst = page.locator("[data-scheme=grouped].p-bursts")
        context = page.locator("[data-trait=context] input")
        assert not burst.count()
        for _ in range(2):
            context.press("ArrowRight")
        check(page, widget)
        assert state(page, widget)["context"] == 16384
        assert burst.count() == 1
        assert "more than the card has" in said(page)
        group = page.locator("[data-trait=n_kv_heads] input")
        for _ in range(3):
            group.press("ArrowLeft")
        assert state(page, widget)["n_kv_heads"] == 8
        assert not burst.count()
        check(page, widget)
        now = state(page, widget)
        assert (
            now["operations"]["full"] == now["operations"]["grouped"] == now["operations"]["single"]
        )


def test_bytes_of_llama_2_70b(bench):
    """2.62 MB, 328 kB and 41 kB a token, at 64, 8 and 1 key-value heads."""
    widget = CacheMeter()
    with recorded(bench, widget) as page:
        tokens = state(page, widget)["token_bytes"]
        assert [tokens[s] for s in ("full", "grouped", "single")] == [2621440, 327680, 40960]
        for scheme, text in (("full", "2.62 MB"), ("grouped", "328 kB"), ("single", "41 kB")):
            page.locator(f"[data-scheme={scheme}]").click()
            assert state(page, widget)["scheme"] == scheme
            assert f"keeps {text} for each token" in said(page)
            check(page, widget)


def test_a_wish_that_cannot_be_shared_is_kept(bench):
    widget = CacheMeter(n_kv_heads=48)
    with recorded(bench, widget) as page:
        assert "cannot share 48" in page.locator("[data-trait=n_kv_heads] .p-mark").inner_text()
        check(page, widget)
        put(page, widget, n_heads=96)
        assert page.locator("[data-trait=n_kv_heads] .p-mark").inner_text() == ""
        assert state(page, widget)["n_kv_heads"] == 48
        check(page, widget)


def test_a_step_that_would_read_more_than_there_is_keeps_its_wish(bench):
    widget = CacheMeter(active=138)
    with recorded(bench, widget) as page:
        put(page, widget, weights=26)
        mark = page.locator("[data-trait=active] .p-mark")
        assert mark.inner_text() == "A step cannot read 138 GB of 26 GB: it reads them all."
        check(page, widget)
        put(page, widget, weights=250)
        assert mark.inner_text() == ""
        assert state(page, widget)["active"] == 138
        check(page, widget)


def test_every_known_model(bench):
    widget = CacheMeter()
    with recorded(bench, widget) as page:
        choose = page.get_by_label("a known model")
        for name in ("llama-2-7b", "llama-3-8b", "mistral-7b", "qwen2-7b", "deepseek-v2"):
            choose.select_option(name)
            check(page, widget)
        page.locator("[data-trait=n_layers] input").press("ArrowLeft")
        assert choose.input_value() == ""
        check(page, widget)


def test_by_finger_on_a_phone(bench):
    widget = CacheMeter()
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator("[data-scheme=single]").tap()
        assert state(page, widget)["scheme"] == "single"
        check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widget = CacheMeter(context=1048576, batch=256, n_kv_heads=64, precision="float32")
    with bench.show(widget, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((c) => c.scrollWidth <= c.clientWidth + 1)"
        assert page.locator(".p-scheme-facts, .p-scheme-name, .p-work li").evaluate_all(inside)


@pytest.mark.parametrize("scheme", ["full", "grouped", "single", "window", "latent"])
def test_its_bytes_are_those_of_the_packages_caches(bench, scheme):
    """Each cache is filled, and what it keeps is weighed: the page says the same for one layer."""
    H, K, C, R, T, window = 8, 16, 20, 4, 130, 32
    sizes = {"n_layers": 1, "n_heads": H, "n_kv_heads": 2, "head_dim": K, "window": window}
    widget = CacheMeter(**sizes, latent=C, carried=R, context=T, precision="float32", batch=2)
    groups = {"full": H, "single": 1}.get(scheme, 2)
    layer = CachedAttention(32, H, n_kv_heads=groups, head_dim=K)
    if scheme == "latent":
        layer = LatentAttention(32, H, C, head_dim=K, rotary=Rotary(R))
    cache = RollingCache(window) if scheme == "window" else GrowingCache()
    with torch.no_grad():
        for x in torch.randn(2, T, 32).split(1, dim=1):
            layer(x, cache=cache[0], mask=torch.ones(1, cache.reach(1)).bool())
    kept = sum(x.numel() * x.element_size() for x in cache.read(0))  # what the next query will see
    with recorded(bench, widget) as page:
        now = state(page, widget)
        assert now["cache_bytes"][scheme] == kept
        assert now["token_bytes"][scheme] == kept / 2 / cache.read(0)[0].shape[2]
