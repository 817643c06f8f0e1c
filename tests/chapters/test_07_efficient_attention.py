"""Chapter 7: what it says of caches, tiles and pages is so; its questions' answers are computed."""

import math

import pytest
import torch
from cells import run
from prose import says
from torch.utils.flop_counter import FlopCounterMode

from pieces import masks
from pieces.attention import CachedAttention, CausalCore, attention, flash_attention
from pieces.book import measured
from pieces.book.ask import question
from pieces.book.figures import efficient_attention as figures
from pieces.cache import GrowingCache, PagedCache
from pieces.models.llama import PRESETS
from pieces.widgets import FlashTiles
from pieces.widgets.paged_memory import REQUESTS
from widgets.paged_memory.expected import Memory, served

NAME = "07_efficient_attention"
RECORD = measured.record_of("attention_cost")


@pytest.fixture(scope="module")
def shown():
    """What the chapter's open cells define."""
    return run(NAME, until="the end")


def ratio(part: str, **wanted) -> dict:
    """Return the row of the record with these sizes."""
    return next(row for row in RECORD[part] if wanted.items() <= row.items())


def token_bytes(layers: int, heads: int, size: int = 128, each: int = 2) -> int:
    """Weigh one token in a real cache."""
    cache = GrowingCache()
    for layer in range(layers):
        new = torch.empty(1, heads, 1, size, dtype=torch.float16)
        cache.update(layer, new, new)
    return sum(x.numel() * each for n in range(layers) for x in cache.read(n))


def careless(keys: list[tuple[float, float]], shrinks: bool = False) -> float:
    """Exercise 7.3: the output that is carried along is not shrunk."""
    m, total, o = -math.inf, 0.0, 0.0
    for s, v in keys:
        new = max(m, s)
        shrink = math.exp(m - new)
        total = total * shrink + math.exp(s - new)
        o = o * (shrink if shrinks else 1) + math.exp(s - new) * v
        m = new
    return o / total


KEYS = [(0.0, 3.0), (math.log(2), 0.0)]


def places(tokens: int, size: int) -> int:
    """Count the places that a text takes in a pool of blocks."""
    pool = PagedCache(1, 200, size, 1, 1)
    text = pool.add()
    new = torch.zeros(1, 1, tokens, 1)
    pool.batch([text]).update(0, new, new)
    return len(pool.table(text)) * size


def steps(size: int) -> int:
    """Count the steps until all are served, in blocks of a size or, with 0, in strips."""
    return served(lambda: Memory(REQUESTS, size), 0)[1]


ANSWERS = {
    "7.a": lambda: round(ratio("without_cache", G=16, S=4096)["median"]),
    "7.b": lambda: products(64) / products(8),
    "7.1": lambda: steps(16) - steps(4),
    "7.3": lambda: careless(KEYS),
    "7.2": lambda: 2048 / places(500, 16),
}


def products(G: int, S: int = 256, H: int = 64, K: int = 16) -> int:
    """Count what one query a head computes with S cached keys and values."""
    q, k = torch.empty(1, H, 1, K, device="meta"), torch.empty(1, G, S, K, device="meta")
    with FlopCounterMode(display=False) as met:
        attention(q, k, k)
    return met.get_total_flops()


def test_the_slips_are_what_their_mistakes_give():
    slips = [number for number, _ in question("7.1")["slips"]]
    assert slips == [steps(16), steps(4), steps(0) - steps(4), steps(0) - steps(16)]
    why = question("7.1")["why"]
    assert f"{steps(4)} steps become {steps(16)}" in why
    memory, empty = Memory(REQUESTS, 16), []
    for time in range(12):
        memory.step(time)
        if time >= 9:  # steps 10 to 12
            assert len(memory.running) == len(memory.waiting) == 2
            empty.append(64 - sum(map(memory.tokens, memory.running)))
    assert f"at least {min(empty)} empty places" in why
    assert question("7.3")["slips"][0][0] == pytest.approx(careless(KEYS, shrinks=True))
    assert question("7.2")["slips"][0][0] == 2048 / 500
    assert question("7.2")["slips"][2][0] == places(500, 16) - 500
    assert question("7.2")["slips"][-1][0] == round(2048 / 500, 1)
    assert question("7.3")["slips"][-1][0] == pytest.approx(math.exp(KEYS[0][0] - KEYS[1][0]))


def test_the_bug_is_not_seen_where_the_largest_comes_first():
    ordered = sorted(KEYS, reverse=True)
    assert careless(ordered) == pytest.approx(careless(ordered, shrinks=True))


def test_operations_of_full_attention():
    T, K = 100, 16
    q = torch.empty(1, 1, T, K, device="meta")
    with FlopCounterMode(display=False) as met:
        attention(q, q, q)
    assert met.get_total_flops() == 4 * T**2 * K


def test_the_times_told_are_those_recorded():
    by_length = {row["T"]: row["median"] for row in RECORD["by_length"]}
    says(NAME, f"it took {by_length[2048] / by_length[1024]:.1f} times as long",
         f"from 512 to 1,024 tokens {by_length[1024] / by_length[512]:.1f} times",
         f"took only {ratio('by_width', K=512)['median']:.1f} times as long")  # fmt: skip
    wide = ratio("by_width", K=512)
    says(NAME, f"(quartiles {wide['low']:.1f} to {wide['high']:.1f})")
    for row in RECORD["by_length"]:
        assert max(row["median"] - row["low"], row["high"] - row["median"]) < 0.175 * row["median"]
    says(NAME, "(from medians; quartiles within 18 %)")
    share = {S: ratio("decoding", G=1, S=S)["median"] / ratio("decoding", G=16, S=S)["median"]
             for S in (64, 16384)}  # fmt: skip
    says(
        NAME, f"and takes {share[16384]:.2f} of its time", f"At 64 tokens it takes {share[64]:.2f}"
    )
    short = ratio("decoding", G=1, S=64)
    says(
        NAME, f"(quartiles {short['low']:.2f} to {short['high']:.2f}). MQA saves little cache there"
    )
    alone = ratio("sharing", G=1, S=16384)
    middle, low, high = (alone["rows"][part] for part in ("median", "low", "high"))
    says(NAME, "Take 16,384 tokens and one key-value head, and call 1 the time of attention",
         f"it takes {middle:.2f} (quartiles {low:.2f} and {high:.2f})",
         f"called in the usual way, takes {alone['kernel']['median']:.2f}.")  # fmt: skip


def test_the_work_of_a_step_without_a_cache():
    """Four projections for each token, and for each pair that is open 4 operations a number."""
    D, S = 1024, 4096
    with_one = 8 * D**2 + 4 * D * S
    without = 8 * D**2 * S + 4 * D * S * (S + 1) // 2
    told = question("7.a")
    times = f"{round(without / with_one, -2):,.0f} times"
    assert times == "2,700 times"
    assert all(times in told[part] for part in ("question", "hint", "why"))
    assert times in told["slips"][0][1]


def test_a_step_without_a_cache_costs_all_three_nearly_the_same():
    rows = [ratio("without_cache", G=G, S=4096) for G in (16, 4, 1)]
    mha, gqa, mqa = (f"{row['median']:.0f} times" for row in rows)
    low, high = zip(*((f"{row['low']:.0f}", f"{row['high']:.0f}") for row in rows), strict=True)
    says(NAME, f"takes {mha} as long as with one (quartiles {low[0]} to {high[0]})",
         f"GQA takes {gqa} as long as with its own cache ({low[1]} to {high[1]})",
         f"MQA {mqa} ({low[2]} to {high[2]})",
         "while reading the text again costs nearly the same for all three")  # fmt: skip
    cached = [ratio("decoding", G=G, S=4096)["median"] for G in (16, 4, 1)]
    assert cached == sorted(cached, reverse=True)
    again = [a * row["median"] for a, row in zip(cached, rows, strict=True)]
    assert max(again) < 1.15 * min(again)


def test_bytes_of_llama_2_70b():
    config = PRESETS["llama-2-70b"]
    assert (config.n_layers, config.n_heads, config.n_kv_heads) == (80, 64, 8)
    assert config.d_model == 64 * 128
    full = token_bytes(80, 64)
    gigabytes = f"{full * 4096 / 1e9:.1f} GB"
    says(NAME, f"these would be {full / 1e6:.2f} MB a token", f"4,096 tokens fill {gigabytes}")
    assert [token_bytes(80, G) for G in (64, 8, 1)] == [2621440, 327680, 40960]


def test_only_the_largest_llama_2_shares():
    for size, shares in (("7b", False), ("13b", False), ("70b", True)):
        config = PRESETS[f"llama-2-{size}"]
        assert ((config.n_kv_heads or config.n_heads) < config.n_heads) == shares


def test_sharing_saves_bytes_and_not_products():
    rows = figures.step_costs(groups=(64, 8, 1), S=4096).cells
    met, made, cache, each = zip(*(row[1:] for row in rows), strict=True)
    assert len(set(met)) == 1
    says(NAME, f"{met[0]} million operations with the cache")
    assert float(cache[0]) / float(cache[2]) == pytest.approx(64, rel=0.02)
    assert 0.5 < float(made[2]) / float(made[0]) < 0.51
    says(NAME, "but by less than half")
    timed = figures.step_costs(groups=(16, 1), d_model=8192, head_dim=512)  # 16 heads, as timed
    share = float(timed.cells[1][2]) / float(timed.cells[0][2])
    says(NAME, f"its projections are smaller, by count {share:.2f} of MHA's")
    assert share > ratio("decoding", G=1, S=64)["median"] / ratio("decoding", G=16, S=64)["median"]
    assert [float(x) for x in each] == [1, 8, 64]
    assert products(64) == products(8) == products(1)


def test_grouped_queries_are_rows():
    q, (k, v) = torch.randn(2, 16, 1, 8), torch.randn(2, 2, 4, 20, 8)
    rows = attention(q.view(2, 4, 4, 8), k, v)[0]
    torch.testing.assert_close(rows.view(2, 16, 1, 8), attention(q, k, v)[0])


def test_a_latent_of_deepseek_v2():
    kept, layers = 512 + 64, 60
    assert kept / (2 * 128) == 2.25
    says(NAME, f"keeps 512 + 64 numbers in each of {layers} layers",
         "as many as 2.25 key-value heads of 128 numbers",
         f"works with {kept} and 512 numbers where a head of MHA has 128 twice",
         f"MHA would hold $2 \\cdot 8 \\cdot 16 = {2 * 8 * 16}$")  # fmt: skip


def test_the_reach_of_a_window():
    for window in (1, 3, 5):
        for layers in (1, 2, 5):
            found = figures.reaches([masks.sliding_window(40, window)] * layers)
            assert found[-1] == min(40, layers * (window - 1) + 1)
            assert found == sorted(found)


def test_tiles_are_exact_and_grow_with_the_length():
    q, k, v = torch.randn(3, 1, 2, 96, 8, dtype=torch.float64)
    torch.testing.assert_close(flash_attention(q, k, v, block_size=16), attention(q, k, v)[0])
    found = {}
    for T in (512, 1024, 2048):
        q, k, v = torch.randn(3, 1, 2, T, 64)
        works = attention, lambda *given: flash_attention(*given, block_size=64)
        found[T] = [figures.peak(lambda w=w, given=(q, k, v): w(*given)) for w in works]
    for T in (1024, 2048):
        plain, tiled = (a / b for a, b in zip(found[T], found[T // 2], strict=True))
        assert plain == pytest.approx(4, abs=0.05)
        assert 1.4 < tiled < 2.0
    says(NAME, "four times the memory in the plain column, and less than twice in the other")


def test_the_meter_of_memory_sees_what_is_held():
    x = torch.randn(1000)
    assert figures.peak(lambda: x * 2) == 4000
    assert figures.peak(lambda: (x * 2).view(10, 100).sum()) == 4004
    assert figures.peak(lambda: [x * 2 for _ in range(3)]) == 12000
    assert figures.peak(lambda: x.view(10, 100)) == 0


def test_tiles_that_a_causal_mask_leaves():
    seen = masks.causal(8).view(4, 2, 4, 2)
    says(NAME, f"and {int(seen.any(3).any(1).sum())} of the 16 are left")


def test_a_long_last_key_is_met_last():
    words = FlashTiles().words
    q, k = (torch.tensor(getattr(FlashTiles(), name)).double() for name in "QK")
    k[-1] *= 3
    late = [words[i] for i in (q @ k.T).argmax(1).eq(7).nonzero().flatten()]
    says(NAME, f"now the rows of *{late[0]}* and *{late[1]}* meet their largest score")
    assert len(late) == 2


def test_e_to_the_90_does_not_fit():
    assert torch.tensor(90.0).exp().isinf()
    assert torch.tensor(88.0).exp().isfinite()


def test_the_cache_changes_nothing(shown):
    assert shown["far"] < 1e-6
    layer = CachedAttention(32, 4, core=CausalCore())
    text, cache = torch.randn(1, 9, 32), GrowingCache()
    with torch.no_grad():
        steps = [layer(x, cache=cache[0]) for x in text.split(1, dim=1)]
        torch.testing.assert_close(torch.cat(steps, dim=1), layer(text))


def test_two_texts_in_four_blocks(shown):
    pool, first, second = (shown[name] for name in ("pool", "first", "second"))
    assert [pool.length(one) for one in (first, second)] == [10, 11]
    tables = [pool.table(one) for one in (first, second)]
    assert len(set(tables[0] + tables[1])) == 16 - pool.n_free == 4
    assert len(set(tables[0]) & set(tables[1])) == 2
    says(NAME, "Two texts of 10 and 11 tokens lie in four blocks, two of which belong to both")


def test_what_is_read_through_a_table_is_what_was_written(shown):
    k, v = shown["pool"].batch([shown["first"]]).read(0)
    assert torch.equal(k, shown["prompt"])
    q = torch.randn(1, 3, 1, 8)
    strip = attention(q, shown["prompt"], shown["prompt"])[0]
    torch.testing.assert_close(attention(q, k, v)[0], strip)
