"""Chapter 6 says what its heads do, and what is lost without them."""

import functools
import math

import pytest
import torch
from cells import cell
from prose import says
from torch import nn

from pieces import masks
from pieces.attention import MultiHeadAttention, attention, merge_heads, split_heads
from pieces.book.ask import question
from pieces.book.figures import multi_head_attention as figures
from pieces.book.figures.causal_attention import with_our_weights
from pieces.trace import record
from pieces.trained import load

CHAPTER = "06_multi_head_attention"
PHRASE = "Lily kite spoon red . Tom ball Lily kite spoon"
SPARED = "dog Tom red cat ball dog Tom"
STORY = (
    "This is the story of Lily. She had a red ball. One day, Lily met a boy named Tom. "
    "He had a blue car. “ May I play with your"
)
HEADS = [(layer, head) for layer in (1, 2) for head in range(1, 5)]


@functools.cache
def looks():
    """The cell that asks every head two questions, run."""
    namespace = {"torch": torch, "load": load, "record": record}
    exec(cell(CHAPTER, "follower ="), namespace)
    return namespace


@functools.cache
def loss(*off):
    """On the repeat of the 200 texts, without these heads."""
    return figures.repeat_loss(looks()["model"], looks()["ids"], *off)


@functools.cache
def red(*off):
    """The probability of red behind the first picture's text."""
    return figures.chance(looks()["model"], looks()["task"], PHRASE, "red", *off)


def likeliest(*off):
    """The next word of 6.2's text."""
    task, model = looks()["task"], figures.without(looks()["model"], *off)
    with torch.no_grad():
        return task.vocabulary[int(model(task.encode(SPARED)[None])[0, -1].argmax())]


def moved_columns():
    """6.a: how many numbers change before the output projection where one head is silent."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(512, n_heads=8).double().requires_grad_(False)
    x = torch.randn(1, 3, 512, dtype=torch.float64)
    q, k, v = (split_heads(f(x), 64) for f in (layer.query, layer.key, layer.value))
    silent = v.clone()
    silent[:, 2] = 0
    apart = merge_heads(attention(q, k, silent)[0]) - merge_heads(attention(q, k, v)[0])
    return int((apart[0, 0] != 0).sum())


def merged_wrongly():
    """6.3: whose numbers stand in each row."""
    o = torch.arange(4).view(1, 1, 4, 1).expand(1, 2, 4, 4)
    rows = o.reshape(1, 4, 8)[0]
    return torch.stack([(rows == token).any(-1) for token in range(4)], dim=-1)


def orders():
    """6.5: the orders in which queries of one number put ten keys."""
    keys = torch.randn(10, generator=torch.Generator().manual_seed(5))
    queries = torch.linspace(-3, 3, 100)
    return len({tuple((q * keys).argsort(descending=True).tolist()) for q in queries})


ANSWERS = {
    "6.a": moved_columns,
    "6.b": lambda: round(loss((2, 2)), 2),
    "6.1": lambda: sum(w.numel() for w in MultiHeadAttention(512, n_heads=8).parameters()),
    "6.2": lambda: sum(likeliest(head) == "red" for head in HEADS),
    "6.3": merged_wrongly,
    "6.5": orders,
}


def test_the_slips_are_what_they_are_said_to_be():
    slips = [slip for slip, _ in question("6.1")["slips"]]
    one = 512**2
    assert slips == [3 * one, 8 * 4 * one, 3 * 512 * 64 + one, 4 * 512 * 64]
    assert [slip for slip, _ in question("6.a")["slips"]] == [512, 8, 512 - 64]
    assert [slip for slip, _ in question("6.5")["slips"]] == [10, math.factorial(10), 1]
    assert question("6.b")["slips"][-1][0] == pytest.approx(loss(), abs=0.005)
    assert f"{loss():.2f} nats" in question("6.b")["question"]
    followed = looks()["follower"]
    assert int(followed[1].argmax()) == 1  # head 2.2 "has the largest weight on what followed"


def test_what_each_head_is_worth_for_the_first_picture():
    says(CHAPTER, f"*red*, with a probability of {red():.2f}")
    alone = {head: red(head) for head in HEADS}
    assert alone.pop((1, 2)) < 0.001  # "red is gone"
    missed = alone.pop((2, 3))
    says(CHAPTER, f"without head 2.3 *red* falls to {missed:.2f}, though it still leads")
    says(CHAPTER, f"head 2.3 alone, left out, takes *red* from {red():.2f} to {missed:.2f}")
    says(
        CHAPTER,
        "Without any one of the rest it keeps at least "
        f"{math.floor(100 * min(alone.values())) / 100}",
    )
    model, task = looks()["model"], looks()["task"]
    with torch.no_grad():
        logits = figures.without(model, (2, 3))(task.encode(PHRASE)[None])[0, -1]
    assert task.vocabulary[int(logits.argmax())] == "red"
    assert task.first_impossible(task.encode(PHRASE)) is not None  # no story has it


def test_a_text_with_a_name_twice():
    twice = "Anna book duck green Tom Anna"
    assert figures.chance(looks()["model"], looks()["task"], twice, "book") > 0.99
    says(CHAPTER, f"After *{twice}*, say, the model goes on with *book*")


def test_what_each_head_is_worth_over_many_texts():
    model, ids = looks()["model"], looks()["ids"]

    @torch.no_grad()
    def right(*off):
        p = figures.without(model, *off)(ids[:, :-1]).softmax(-1)
        return p.gather(2, ids[:, 1:, None])[:, 25:].mean().item()

    alone = [right((2, head)) for head in range(1, 5)]
    says(CHAPTER, f"a probability of {right():.2f} on average", f"it keeps {alone.pop(2):.2f}")
    says(CHAPTER, f"one of the other three at least {min(alone):.2f}")
    none = right(*HEADS[4:])
    says(CHAPTER, f"it keeps {none:.3f}, no more than a uniform guess")
    assert none == pytest.approx(1 / 496, abs=0.001)
    assert max(loss((2, head)) for head in range(1, 5)) < 0.5
    assert loss((1, 2)) > math.log(496)
    says(CHAPTER, f"ln 496 = {math.log(496):.2f}")


def test_what_the_heads_look_at():
    before, follower = looks()["before"], looks()["follower"]
    assert divmod(int(before.argmax()), 4) == (0, 1)
    assert before.max() > 0.9
    assert follower[1].min() > 0.65
    assert follower[0].max() < 0.1
    table = figures.what_heads_do(looks()["model"], looks()["ids"], before, follower)
    assert len(table.cells) == 8 + 2
    assert table.cells[1][0] == "1.2"
    assert float(table.cells[1][3]) == pytest.approx(loss((1, 2)), abs=0.005)


def test_without_the_note_layer_2_does_not_find_red():
    text = looks()["task"].encode(PHRASE)[None]

    def at_red(*off):
        left = figures.without(looks()["model"], *off)
        with torch.no_grad(), record(left) as trace:
            left(text)
        return list(trace.values())[1]["weights"][0, :, -1, 3]

    assert at_red().min() > 0.5
    assert at_red((1, 2)).max() < 0.1


def test_all_three_seeds():
    seeds = [run["heads"] for run in load("stories_attention").record["seeds"]]
    before = [max(map(max, heads["previous_token"])) for heads in seeds]
    cost = [max(map(max, heads["cost_of_removal"])) for heads in seeds]
    followed = [x for heads in seeds for x in heads["prefix_matching"][1]]
    assert len(seeds) == 3
    says(CHAPTER, f"has {min(before):.2f} or more of its weight on the word before")
    says(CHAPTER, f"costs {min(cost):.1f} to {max(cost):.1f} nats")
    says(CHAPTER, f"have {min(followed):.2f} to {max(followed):.2f} on what followed")


def test_how_far_the_models_are_from_perfect():
    for name, digits in (("stories_attention", 2), ("stories_llama", 3)):
        shipped = load(name).record
        above = f"{shipped.loss - shipped.floor:.{digits}f}"
        says(CHAPTER, f"{above} nats a word above that of the true probabilities")


@functools.cache
def teller():
    """The LLaMA that tells stories, and 100 stories that it has not read."""
    shipped = load("stories_llama")
    gen = torch.Generator().manual_seed(5)
    return shipped.model, shipped.task, shipped.task.batch(100, "held_out", generator=gen)


def test_two_heads_know_blue():
    model, task, _ = teller()
    text = task.encode(STORY)[None]
    blue = task.vocabulary.index("blue")
    place = text[0].tolist().index(blue)
    assert task.true_next(text)[0, -1, blue] == pytest.approx(1)
    with torch.no_grad(), record(model) as trace:
        model(text)
    seen = torch.stack([call["weights"][0, :, -1, place] for call in trace.values()])
    assert seen[1, 3] > 0.995
    assert seen[0].max() < 0.2
    says(CHAPTER, f"and head 3.4 then {seen[2, 3]:.2f} of it")
    sure = functools.partial(figures.chance, model, task, STORY, "blue")
    assert sure() > 0.99
    assert sure((3, 4)) > 0.99
    assert 0.5 < sure((2, 4)) < 0.65
    assert sure((2, 4), (3, 4)) < 0.05


def test_what_the_heads_of_the_teller_are_worth():
    model, _, batch = teller()

    @torch.no_grad()
    def nats(*off):
        logits = figures.without(model, *off)(batch.input_ids)
        return nn.functional.cross_entropy(logits.mT, batch.targets).item()

    cost = torch.tensor([[nats((a, b)) for b in range(1, 5)] for a in (1, 2, 3)]) - nats()
    says(CHAPTER, f"costs between {cost[0].min():.2f} and {cost[0].max():.2f} nats a word")
    assert 0 < cost[1:].min()
    assert 0.05 < cost[1:].max() < 0.06
    with torch.no_grad(), record(model) as trace:
        model(batch.input_ids)
    # How many nats a head's weights are spread over, once there are some words to look at.
    spread = [torch.special.entr(c["weights"]).sum(-1)[..., 20:] for c in trace.values()]
    spread = torch.stack([one.mean((0, 2)) for one in spread])
    assert spread[0].min() > spread[1:].max()


def test_the_parts_of_the_heads_add_up():
    namespace = {"torch": torch}
    exec(cell(CHAPTER, "def parts"), namespace)
    torch.manual_seed(1)
    layer = MultiHeadAttention(8, n_heads=2).double().requires_grad_(False)
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    q, k, v = (split_heads(f(x), 4) for f in (layer.query, layer.key, layer.value))
    o, W_o = merge_heads(attention(q, k, v)[0]), layer.output.weight.T
    written = namespace["parts"](o[0], W_o, 2)
    assert torch.allclose(written.sum(0), layer(x)[0], atol=1e-12)
    silent = v.clone()
    silent[:, 1] = 0
    o_silent = merge_heads(attention(q, k, silent)[0])
    changed = (o_silent - o)[0].abs() > 1e-12
    assert not changed[:, :4].any()
    assert changed[:, 4:].all()
    after = o_silent[0] @ W_o
    assert torch.allclose(after, layer(x)[0] - written[1], atol=1e-12)
    assert ((after - layer(x)[0]).abs() > 1e-12).all()


def test_a_transposed_result_refuses_view():
    x = torch.arange(64).view(2, 4, 8)
    made = x.view(2, 4, 2, 4).transpose(1, 2).contiguous()  # new numbers, head after head
    with pytest.raises(RuntimeError):
        made.transpose(1, 2).view(2, 4, 8)
    assert torch.equal(made.transpose(1, 2).reshape(2, 4, 8), x)
    assert torch.equal(merge_heads(split_heads(x.double(), 4)), x.double())


def test_the_ranks_are_the_sizes_of_the_heads():
    rows = figures.sizes_of_heads().cells
    assert [row[3] for row in rows] == [row[1] for row in rows]
    assert len({row[2] for row in rows}) == 1


def test_torchs_layer_is_ours():
    torch.manual_seed(3)
    ours = MultiHeadAttention(16, n_heads=4).double().requires_grad_(False)
    theirs = with_our_weights(ours)
    x, c = torch.randn(2, 5, 16).double(), torch.randn(2, 7, 16).double()
    for context in (x, c):
        a, w = ours(x, context=context, return_weights=True)
        b, mean = theirs(x, context, context)
        assert torch.allclose(a, b, atol=1e-12)
        assert torch.allclose(w.mean(1), mean, atol=1e-12)
    hidden = ~masks.causal(5)
    a, b = ours(x, mask=~hidden), theirs(x, x, x, attn_mask=hidden)[0]
    assert torch.allclose(a, b, atol=1e-12)
    plain = nn.MultiheadAttention(16, 4)
    assert plain.in_proj_bias is not None
    assert not plain.batch_first


def test_s0s_class_cannot_be_made():
    assert figures.wrong_super() == ["NameError", "TypeError"]


def test_s1s_layer_is_ours():
    torch.manual_seed(6)
    linears = figures.clones(nn.Linear(16, 16, bias=False), 4).double()
    for linear in linears:
        nn.init.normal_(linear.weight, std=0.3)
    ours = MultiHeadAttention(16, n_heads=4).double()
    with torch.no_grad():
        own = ours.query, ours.key, ours.value, ours.output
        for mine, linear in zip(own, linears, strict=True):
            mine.weight.copy_(linear.weight)
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    assert torch.allclose(ours(x), figures.s1_layer(linears, x, 4), atol=1e-12)


@pytest.mark.parametrize("first", [False, True])
def test_without_batch_first_the_texts_attend_to_each_other(first):
    torch.manual_seed(7)
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    nudged = x.clone()
    nudged[0, 1] += 1
    right = [[True] * 5, [False] * 5] if first else [[False, True] + [False] * 3] * 2
    assert figures.moves(x, nudged, first).tolist() == right
