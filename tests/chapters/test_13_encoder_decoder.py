"""What chapter 13 says is computed here: its answers, and the numbers in its sentences."""

import functools
import json

import pytest
import torch
from cells import cell, run
from prose import says, words
from torch import nn

from browser import ROOT
from pieces import masks
from pieces.attention import CausalCore
from pieces.beam_search import beam_search
from pieces.book.ask import question
from pieces.book.figures import encoder_decoder as figures
from pieces.book.figures import encoder_decoder_source as source_texts
from pieces.book.measured import record_of
from pieces.generate import generate
from pieces.residual import PostNorm
from pieces.tasks.translation import padded
from pieces.trace import record
from pieces.trained import load
from pieces.widgets import TranslationStepper

NAME = "13_encoder_decoder"
STUDENT = "我是一个学生。"
BATCH = (
    STUDENT, "昨天那个老师拿走了两本书。", "明天两个好孩子会在花园里看见两个好老师。",
    "明天两个好孩子会在学校里听见两个大老师。", "她是一只猫。",
)  # fmt: skip


@functools.cache
def translator():
    """The shipped model and its task."""
    shipped = load("translator")
    return shipped.model.requires_grad_(False), shipped.task


def odds(text, *before):
    """The probabilities of the next word behind these."""
    model, task = translator()
    ids = torch.tensor([[task.bos_id, *(task.ids[word] for word in before)]])
    p = model(task.encode(text)[None], ids)[0, -1].softmax(-1)
    return dict(zip(task.vocabulary, p.tolist(), strict=True))


def taken_in(source=8, words=9, encoder_each_step=True, ends=1):
    """13.2: how many vectors enter the two stacks of a program that keeps nothing."""
    model, _ = translator()
    seen = []
    hooks = [
        stack.register_forward_pre_hook(lambda _, args: seen.append(args[0].shape[1]))
        for stack in (model.encoder, model.decoder)
    ]
    ids = torch.full((1, source), 4)
    memory = model.encode(ids)
    for step in range(words + ends):
        if encoder_each_step and step:
            memory = model.encode(ids)
        model.decode(torch.full((1, step + 1), 4), memory)
    for hook in hooks:
        hook.remove()
    return sum(seen)


def batch(texts=BATCH):
    """Some sentences filled up to one length, and where they are real."""
    source = padded([translator()[1].encode(one).tolist() for one in texts], 0)
    return source, (source != 0)[:, None, None]


def other_logits(hidden=False):
    """13.3: how many sentences of the batch get other logits than alone."""
    model, task = translator()
    source, real = batch()
    start = torch.full((len(source), 1), task.bos_id)
    memory = model.encode(source, mask=real)
    together = model.decode(start, memory, source_mask=real if hidden else None)[:, 0]
    alone = [model(task.encode(one)[None], start[:1])[0, 0] for one in BATCH]
    return int(((together - torch.stack(alone)).abs().amax(-1) > 1e-3).sum())


def open_pairs(source=8, target=10):
    """13.5: pairs open in the encoder-decoder, and in one causal stack over both."""
    whole = torch.zeros(source + target, source + target, dtype=torch.bool)
    whole[:source, :source] = masks.full(source)
    whole[source:, :source] = True
    whole[source:, source:] = masks.causal(target)
    return whole, masks.causal(source + target)


def alone_without_mask():
    """13.a: the mean share of right sentences over nine runs, in per cent."""
    shares = [100 * run["exact"] for run in figures.assembled()["no mask"]]
    return round(sum(shares) / len(shares))


ANSWERS = {
    "13.a": alone_without_mask,
    "13.2": taken_in,
    "13.1": lambda: round(odds(STUDENT, "two")["students"], 3),
    "13.3": other_logits,
    "13.5": lambda: (open_pairs()[0] & ~open_pairs()[1]).sum(),
}


def slips(name):
    return [slip for slip, _ in question(name)["slips"]]


def test_the_slips_are_what_they_are_said_to_be():
    assert slips("13.2") == [
        taken_in(encoder_each_step=False), 8 + 10, taken_in(ends=0), 10 * (8 + 10),
    ]  # fmt: skip
    singular = odds(STUDENT, "two")["student"]
    assert slips("13.1")[0] == pytest.approx(singular, abs=5e-4)
    assert slips("13.1")[2] == pytest.approx(odds(STUDENT, "I", "am", "a")["student"], abs=5e-5)
    lengths = [len(translator()[1].cut(text)) for text in BATCH]
    assert lengths == [7, 13, 20, 20, 6]
    assert slips("13.3") == [len(BATCH), other_logits(hidden=True), lengths.count(20)]
    whole, single = open_pairs()
    assert slips("13.5") == [
        int(whole[8:, :8].sum()), int(whole.sum()), int(single[:8, :8].sum()),
        int(whole[:8, :8].sum()),
    ]  # fmt: skip
    assert not (single & ~whole).any()
    prefix = masks.prefix(18, 8)
    assert torch.equal(prefix, whole)  # "Under a prefix mask the single stack sees them too"


def test_the_first_picture_says_what_the_words_below_it_say():
    state = TranslationStepper()
    assert (state.text, state.layer, state.head, state.attention) == (STUDENT, 2, 0, "cross")
    model, task = translator()
    ids = [task.encode(STUDENT)[None], task.encode("<bos> I am a")[None]]
    with record(model) as trace:
        model(*ids)
    weights = trace["decoder.blocks.1.cross_attention.core"]["weights"][0].mean(0)[-1]
    student = weights[4] + weights[5]
    assert task.cut(STUDENT)[4:6] == ["学", "生"]
    says(NAME, f"the second layer gives the two characters 学生 a weight of {student:.2f}")
    assert max(odds(STUDENT, "she"), key=odds(STUDENT, "she").get) == "is"
    after = odds(STUDENT, "she", "is", "a")
    assert max(after, key=after.get) == "student"


def test_a_line_need_not_lead_to_the_character_that_means_the_word():
    model, task = translator()
    source, written = task.encode(STUDENT)[None], ["I", "am", "a", "student", "."]
    ids = torch.tensor([[task.bos_id, *(task.ids[word] for word in written)]])
    with record(model) as trace:
        model(source, ids)
    rows = trace["decoder.blocks.1.cross_attention.core"]["weights"][0].mean(0)
    most = [[STUDENT[n] for n in row.topk(2).indices] for row in rows[:2]]
    assert most == [["是", "一"], ["。", "我"]]
    assert rows[0].topk(2).values.sum() > 0.98
    says(NAME, "*I* looks at 是 and 一, and *am* mostly at the full stop")

    def without(hidden):
        seen = torch.tensor([one not in hidden for one in STUDENT])[None, None, None]
        memory, ids = model.encode(source), torch.tensor([[task.bos_id]])
        while ids[0, -1] != task.eos_id and ids.shape[1] < 9:
            logits = model.decode(ids, memory, source_mask=seen)
            ids = torch.cat((ids, logits[:, -1:].argmax(-1)), 1)
        return task.decode(ids[0, 1:-1])

    assert [without(hidden) for hidden in ("我", "学生")] == ["I am a student .", "I am a ball ."]
    says(NAME, "Without the vector of 我 the decoder still writes *I am a student*")
    says(NAME, "without those of 学生 it writes *I am a ball*")


def test_what_was_held_out():
    _, task = translator()
    seen = set()
    for seed in range(4):
        items = task.items(2000, "train", torch.Generator().manual_seed(seed))
        seen |= {chinese for chinese, _ in task.sentences(items)}
    assert STUDENT in seen
    items = task.items(4000, "held_out", torch.Generator().manual_seed(0))
    assert "她是一个学生。" in {chinese for chinese, _ in task.sentences(items)}
    assert "她是一个学生。" not in seen


def test_it_translates_what_was_held_out():
    runs = json.loads((ROOT / "experiments/records/translator.json").read_text("utf-8"))["runs"]
    assert [run["exact"] for run in runs] == [1.0] * 3
    says(
        NAME,
        f"In {runs[0]['held_out_rows']:,} draws of held-out sentences it made no mistake either",
    )
    model, task = translator()
    says(NAME, f"{task.vocab_size} tokens")
    found = generate(model, task.encode("她是一个学生。")[None], 24, **figures.ends(task))
    assert task.decode(found[0]) == "<bos> she is a student . <eos>"


def test_by_hand_is_the_model():
    names = run(NAME, until="### Whom a token can reach")
    model, task = names["model"], names["task"]
    for chinese, english in (("她是一只猫。", "<bos> she is"), (BATCH[1], "<bos> the teacher")):
        ids = task.encode(chinese)[None], task.encode(english)[None]
        assert torch.allclose(names["by_hand"](*ids), model(*ids), atol=1e-4)
    assert names["by_hand"](*ids).shape[-1] == task.vocab_size


def test_its_sizes():
    model, _ = translator()
    c = model.config
    assert (c.n_layers, c.d_model, c.n_heads) == (2, 64, 4)

    def size(part):
        return sum(one.numel() for one in part.parameters())

    says(
        NAME,
        f"{size(model):,} parameters in all",
        f"An encoder layer has {size(model.encoder.blocks[0]):,} of them, and a decoder layer, "
        f"with its second attention, {size(model.decoder.blocks[0]):,}",
    )
    counts = [int(row[1].replace(",", "")) for row in source_texts.parts(model).cells]
    assert sum(counts) == size(model)
    assert model.head is None  # the embedding's own, transposed


def test_whom_a_token_can_reach():
    model, task = translator()
    maps = figures.moved(model, task.encode(STUDENT), task.encode("<bos> I am a student ."))
    assert maps["encoder"].all()
    assert maps["cross"].all()
    assert torch.equal(maps["decoder"], masks.causal(6))
    tokens = task.encode("<bos> I")
    assert (figures.other(tokens, 0) != tokens).tolist() == [True, False]


def test_one_pass_and_six_steps_agree_and_are_counted():
    names = run(NAME, until="## Greedy, or several at once")
    assert torch.allclose(names["at_once"], torch.stack(names["steps"]), atol=1e-4)
    assert (names["learn"], names["write"]) == ([1, 1], [1, 6])
    assert len(names["pairs"].source_ids) == 64
    says(NAME, "once for all words of 64 sentences", "six times for the six tokens")
    assert figures.exact(names["found"][:, 1:], names["pairs"].targets) == 1
    wrong = names["found"][:, 1:].clone()
    wrong[0, 2] += 1
    assert figures.exact(wrong, names["pairs"].targets) == pytest.approx(63 / 64)


def test_a_search_changes_nothing_on_its_own_sentences_and_much_on_a_full_stop():
    model, task = translator()
    pairs = task.pairs(64, "held_out", generator=torch.Generator().manual_seed(1))
    given = {"mask": pairs.source_mask[:, 0, 0], "n_beams": 4, **figures.ends(task)}
    found, _ = beam_search(model, pairs.source_ids, 24, **given)
    assert figures.exact(found[:, 1:], pairs.targets) == 1
    greedy, two = (figures.search(model, task, "。", n) for n in (1, 2))
    assert greedy["text"].startswith("<bos> two is ")
    assert two["text"] == "<bos> two birds . <eos>"
    ids = generate(model, task.encode("。")[None], 24, **figures.ends(task))
    assert task.decode(ids[0]) == greedy["text"]
    odds = [torch.tensor(one["total"]).exp().item() for one in (greedy, two)]
    assert greedy["text"] == "<bos> two is two is two is . <eos>"
    says(NAME, f"*two is two is two is* and a full stop, a text of probability {odds[0]:.3f}")
    says(NAME, f"has a probability of {odds[1]:.3f}")
    log_p = model(task.encode("。")[None], ids[:, :-1]).log_softmax(-1)
    own = log_p.gather(-1, ids[:, 1:, None]).mean().item()
    assert own == pytest.approx(greedy["score"], abs=1e-4)  # the equation


def test_what_a_missing_part_does():
    runs = figures.assembled()
    assert {name: len(of) for name, of in runs.items()} == dict.fromkeys(figures.NAMES, 9)
    for name in ("whole", "no norms", "no mask"):
        assert {one["exact_given"] for one in runs[name]} == {1.0}, name
    for name in ("whole", "no norms"):
        assert {one["exact"] for one in runs[name]} == {1.0}, name
    assert {one["exact"] for one in runs["no cross-attention"]} == {0.0}
    most = max(100 * one["exact"] for one in runs["no mask"])
    says(
        NAME,
        f"at most {most:.1f} % of the sentences right, and {alone_without_mask()} % on average",
    )
    assert f"between 0 and {most:.1f} %, at {alone_without_mask()} % on" in question("13.a")["why"]
    shares = [100 * one["exact"] for one in runs["no positions"]]
    says(NAME, f"Each has between {min(shares):.1f} and {max(shares):.1f} % of the sentences right")
    says(NAME, "400 steps at three learning rates from three seeds", "500 held-out sentences")
    kept = record_of("assembled_wrongly")
    assert kept["held_out_rows"] == 500
    assert {one["steps"] for one in kept["runs"]} == {400}
    for rate in kept["rates"]:  # "as low as the whole model's"
        loss = {
            name: [one["loss"] for one in runs[name] if one["lr"] == rate]
            for name in ("whole", "no mask")
        }
        means = {name: sum(of) / len(of) for name, of in loss.items()}
        assert means["no mask"] < 1.1 * means["whole"]
    by = {(one["lr"], one["seed"]): one["loss"] for one in runs["whole"]}
    lower = [one["loss"] < by[one["lr"], one["seed"]] for one in runs["no norms"]]
    assert lower == [True] * 9
    says(NAME, "each has a lower loss than the whole model at its seed and rate")


def test_what_the_models_with_a_missing_part_write():
    runs = figures.assembled()
    dog, bird = "昨天那只狗看见了一只鸟。", "昨天那只鸟看见了一只狗。"
    for one in runs["no cross-attention"]:
        assert len(set(one["wrote"].values())) == 1
    for one in runs["no positions"]:
        assert one["wrote"][dog] == one["wrote"][bird]
    for one in runs["whole"]:
        assert one["wrote"][dog] == "the dog saw a bird yesterday . <eos>"
        assert one["wrote"][bird] == "the bird saw a dog yesterday . <eos>"
    rows = {row[0]: row[1:] for row in figures.wrote(dog, bird).cells}
    assert rows["whole"] == ["the dog saw a bird …", "the bird saw a dog …"]
    alike = {name for name, (one, other) in rows.items() if one == other}
    assert alike == {"no positions", "no mask", "no cross-attention"}


def test_no_final_norm_can_be_left_out():
    model, _ = translator()
    assert all(
        isinstance(stack.final_norm, nn.Identity) for stack in (model.encoder, model.decoder)
    )
    assert all(
        isinstance(block.feed_forward_residual, PostNorm)
        for stack in (model.encoder, model.decoder)
        for block in stack.blocks
    )
    says(NAME, "There is no final norm to leave out, since a Post layer ends in a norm")


def test_one_stack_reads_both_languages_in_a_row():
    task = translator()[1]
    draw = torch.Generator().manual_seed(0)
    rows = task.batch(2000, generator=draw).input_ids
    told = {task.decode(row[row != task.pad_id]) for row in rows}
    assert "我是一个学生。 <to> I am a student ." in told
    says(NAME, "`我是一个学生。 <to> I am a student .`")


def test_three_models_of_the_library_agree_with_ours():
    rows = run(NAME)["rows"]
    assert [row[0] for row in rows] == ["bert", "gpt2", "t5"]
    assert {row[2] for row in rows} == {"below 0.00005"}
    assert figures.told(torch.zeros(2), torch.full((2,), 0.25)) == "0.25000"
    for theirs in figures.libraries():
        assert min(one.std() for one in theirs.parameters() if one.numel() > 30) > 0.1


def test_the_bug_and_its_mending():
    model, task = translator()
    shown = {}
    names = {"torch": torch, "model": model, "task": task, "figures": figures}
    for mark in ("decode(ids, memory)\n", "decode(ids, memory, source_mask=real)"):
        source = cell(NAME, mark)
        exec(source.rpartition("figures.")[0], names)
        rows = figures.beside(names["translate_batch"], task, BATCH[1]).cells
        shown[mark] = [row[1] for row in rows]
    bug, mended = shown.values()
    assert mended == ["the teacher took two books yesterday ."] * 2
    assert bug == [mended[0], mended[0].replace("took", "drew")]


def test_the_source_texts_are_answered():
    model, task = translator()
    rows = source_texts.steps(model, task, STUDENT, "I am a student . <eos>").cells
    assert [row[2] for row in rows] == ["I", "am", "a", "student", ".", "<eos>"]
    counted = [row[1:] for row in source_texts.attentions(model).cells]
    assert counted == [["1", "0", "0"], ["2", "1", "1"]]
    assert isinstance(model.decoder.blocks[0].attention.core, CausalCore)
    for name, mean, least, most in source_texts.closing_norm(model, task, STUDENT).cells:
        normal = (mean.lstrip("−"), least, most) == ("0.00", "1.00", "1.00")
        assert normal == name.endswith("normalised"), name
    assert "E-15" in words(NAME)
