import re
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.tasks import (
    Agreement,
    AssociativeRecall,
    Batch,
    Copy,
    Corpus,
    Induction,
    Introductions,
    ModularSums,
    Reverse,
    Sorting,
    Stories,
    Task,
    Translation,
    accuracy,
    exact,
)
from pieces.tasks.base import stable_hash, symbols
from pieces.tasks.corpus import prose

TASKS = {
    "copy": Copy(n_symbols=5, length=4),
    "reverse": Reverse(n_symbols=5, length=4),
    "sorting": Sorting(n_numbers=6, length=4),
    "induction": Induction(n_symbols=12, length=16),
    "recall": AssociativeRecall(n_keys=5, n_values=3, n_pairs=5, n_queries=3),
    "agreement": Agreement(distance=1),
    "modular": ModularSums(modulus=23),
    "translation": Translation(),
    "introductions": Introductions(),
    "corpus": Corpus(length=48),
    "stories": Stories(length=32),
}
each = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(task, split="train", count=64, seed=0):
    """What each row reads, and what it should say: None where nothing is counted."""
    batch = task.batch(count, split, seeded(seed))
    for ids, targets in zip(*batch, strict=True):
        read = [task.vocabulary[i] for i in ids]
        said = [None if i == -100 else task.vocabulary[i] for i in targets]
        yield read, said


def counted(said):
    return [token for token in said if token is not None]


@each
@given(batch_size=st.integers(1, 70), seed=st.integers(0, 99))
def test_rows_are_ids_and_most_tokens_are_told_from_those_before(task, batch_size, seed):
    for split in ("train", "held_out"):
        batch = task.batch(batch_size, split, seeded(seed))
        assert batch.input_ids.shape == batch.targets.shape
        assert batch.input_ids.shape[0] == batch_size
        assert 0 <= batch.input_ids.min()
        assert batch.input_ids.max() < task.vocab_size == len(task.vocabulary)
        counts = batch.targets != -100
        assert counts.any(dim=1).all()
        assert (batch.targets[counts] >= 0).all()
        # A counted target that is not the last of its row is the next input.
        inner = counts[:, :-1] & (batch.input_ids[:, 1:] != task.ids.get("<pad>", -1))
        assert torch.equal(batch.targets[:, :-1][inner], batch.input_ids[:, 1:][inner])


@each
def test_a_seed_gives_the_same_rows_and_another_seed_others(task):
    first, again, other = (task.batch(32, generator=seeded(seed)) for seed in (1, 1, 2))
    assert all(map(torch.equal, first, again))
    assert first.input_ids.shape != other.input_ids.shape or not torch.equal(
        first.input_ids, other.input_ids
    )
    torch.manual_seed(5)
    one = task.batch(8)
    torch.manual_seed(5)
    assert torch.equal(one.input_ids, task.batch(8).input_ids)


def whole_rows(task, split):
    batches = [task.batch(500, split, seeded(seed)) for seed in range(6)]
    whole = [[*i, *t] for b in batches for i, t in zip(*map(torch.Tensor.tolist, b), strict=True)]
    if isinstance(task, Translation):  # padded differently in each batch
        whole = [[i for i in row if i not in (-100, task.pad_id)] for row in whole]
    return {tuple(row) for row in whole}


@each
def test_no_row_is_in_both_splits(task):
    train, held_out = whole_rows(task, "train"), whole_rows(task, "held_out")
    assert len(train) > 50
    assert len(held_out) > 10
    assert not train & held_out


@each
def test_the_share_held_out_is_the_one_that_was_asked_for(task):
    share = task.held_out(task.propose(20_000, seeded())).float().mean().item()
    assert share == pytest.approx(task.held_out_share, abs=0.06)


def collection(read):
    return tuple(sorted(read[: read.index("|")]))


def bindings(read):
    shown = read[: read.index("|")]
    return frozenset(zip(shown[::2], shown[1::2], strict=True))


def unordered(read):
    return frozenset((read[0], read[2]))


@pytest.mark.parametrize(
    ("name", "meaning"), [("sorting", collection), ("recall", bindings), ("modular", unordered)]
)
def test_what_is_held_out_is_not_seen_in_another_order_either(name, meaning):
    train = {meaning(read) for read, _ in rows(TASKS[name], "train", 3000)}
    held_out = {meaning(read) for read, _ in rows(TASKS[name], "held_out", 3000)}
    assert len(held_out) > 10
    assert not train & held_out


def test_the_split_is_the_same_in_every_run_and_version():
    """Fixed numbers: the hash may never change, or old models would have seen what is held out."""
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [96, 96]])
    assert stable_hash(pairs).tolist() == [3385628684, 2702502840, 3811535168, 1344214078]


def test_the_hash_spreads_evenly_over_neighbours():
    numbers = torch.arange(300)
    h = stable_hash(torch.cartesian_prod(numbers, numbers))
    assert len(h.unique()) > 0.999 * len(h)
    low = (h < 0.2 * 2**32).view(300, 300).float()
    assert low.mean().item() == pytest.approx(0.2, abs=0.01)
    # Neither rows, columns nor diagonals are on one side: five standard errors.
    for line in (
        low.mean(0),
        low.mean(1),
        torch.stack([low.roll(i, 1).diag() for i in range(300)]),
    ):
        assert ((line.view(300, -1).mean(1) - 0.2).abs() < 0.12).all()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("copy", lambda x: x),
        ("reverse", lambda x: x[::-1]),
        ("sorting", lambda x: sorted(x, key=int)),
    ],
)
def test_answers(name, answer):
    for read, said in rows(TASKS[name]):
        mark = read.index("|")
        assert mark == TASKS[name].length
        assert counted(said) == answer(read[:mark])
        assert said[:mark] == [None] * mark


def test_sorting_keeps_equal_numbers_and_orders_by_value():
    task = Sorting(n_numbers=12, length=5)
    batch = task.write(torch.tensor([[11, 2, 10, 2, 0]]))
    assert task.decode(batch.input_ids[0]) == "11 2 10 2 0 | 0 2 2 10"
    assert task.decode(batch.targets[0]) == "· · · · · 0 2 2 10 11"


def test_induction_says_what_followed_last_time():
    periods = Counter()
    for read, said in rows(TASKS["induction"], count=200):
        seen = {}
        for t, token in enumerate(read):
            assert said[t] == (said[t] if token in seen else None)
            if token in seen:
                assert said[t] == read[seen[token] + 1]
            seen.setdefault(token, t)
        periods[len(seen)] += 1
        assert None not in said[len(seen) :]
    assert sorted(periods) == [4, 5, 6, 7, 8]  # no distance serves all rows


def test_recall_answers_each_query_with_its_value():
    task = AssociativeRecall(n_keys=9, n_values=4, n_pairs=5, n_queries=3)
    for read, said in rows(task):
        mark = read.index("|")
        pairs = dict(zip(read[:mark:2], read[1:mark:2], strict=True))
        assert len(pairs) == 5
        asked = read[mark + 1 :: 2]
        assert len(set(asked)) == 3
        assert said[mark + 1 :: 2] == [pairs[key] for key in asked]
        assert len(counted(said)) == 3


@pytest.mark.parametrize("distance", [1, 2, 4])
def test_the_verb_agrees_with_the_first_noun(distance):
    task = Agreement(distance)
    batch = task.batch(200, generator=seeded())
    misleading = task.misleading(batch.input_ids).tolist()
    assert batch.input_ids.shape == (200, 3 * distance + 2)
    for (read, said), wrong in zip(rows(task, count=200), misleading, strict=True):
        assert re.fullmatch(
            rf"the [a-z]+( (near|behind|with|above|beside) the [a-z]+)"
            rf"{{{distance}}}",
            " ".join(read),
        )
        assert counted(said) == [said[-1]] == ["are" if read[1].endswith("s") else "is"]
        assert wrong == (read[1].endswith("s") != read[-1].endswith("s"))
    assert 60 < sum(misleading) < 140


def test_sums():
    for read, said in rows(TASKS["modular"]):
        a, plus, b, equals = read
        assert (plus, equals) == ("+", "=")
        assert said == [None, None, None, str((int(a) + int(b)) % 23)]


def test_every_sum_is_in_one_of_the_splits():
    task = ModularSums(modulus=23, held_out_share=0.3)
    sums = [task.every(split).input_ids.tolist() for split in ("train", "held_out")]
    assert sorted(map(tuple, sums[0] + sums[1])) == [
        (a, 23, b, 24) for a in range(23) for b in range(23)
    ]
    assert 0.2 < len(sums[1]) / 529 < 0.4


NOUNS = {
    **{"猫": "cat", "狗": "dog", "鸟": "bird", "老师": "teacher", "学生": "student"},
    **{"孩子": "child", "书": "book", "花": "flower", "球": "ball"},
}
VERBS = {
    **{"看见": ("see", "saw"), "听见": ("hear", "heard"), "找到": ("find", "found")},
    **{"拿走": ("take", "took"), "追": ("chase", "chased"), "画": ("draw", "drew")},
}
ADJECTIVES = {"小": "small", "大": "big", "新": "new", "高": "tall", "怪": "strange", "好": "good"}
PLACES = {
    **{"在花园里": "in the garden", "在学校里": "in the school", "在房子里": "in the house"},
    **{"在河边": "by the river", "在街上": "on the street"},
}
TIMES = {"昨天": "yesterday", "每天": "every day", "明天": "tomorrow"}
MEASURES = {"猫": "只", "狗": "只", "鸟": "只", "书": "本", "花": "朵"}


def one_of(words):
    return "(" + "|".join(words) + ")"


PHRASE = f"(那|一|两)(只|个|本|朵){one_of(ADJECTIVES)}?{one_of(NOUNS)}"
SENTENCE = re.compile(
    f"{one_of(TIMES)}{PHRASE}(会)?{one_of(PLACES)}?{one_of(VERBS)}(了)?{PHRASE}。"
)


def translated(chinese):
    """An independent translator: it reads the Chinese text, and knows nothing of choices."""
    when, *who, will, where, verb, done, article, measure, adjective, noun = SENTENCE.fullmatch(
        chinese
    ).groups()

    def phrase(article, measure, adjective, noun):
        assert measure == MEASURES.get(noun, "个")
        word = NOUNS[noun]
        if article == "两":
            word = "children" if word == "child" else word + "s"
        return [{"那": "the", "一": "a", "两": "two"}[article], ADJECTIVES.get(adjective), word]

    assert (will == "会") == (when == "明天")
    assert (done == "了") == (when == "昨天")
    plain, past = VERBS[verb]
    present = plain if who[0] == "两" else plain + "s"
    said = {"昨天": past, "明天": f"will {plain}", "每天": present}[when]
    rest = [PLACES.get(where), TIMES[when], "."]
    parts = [*phrase(*who), said, *phrase(article, measure, adjective, noun), *rest]
    return " ".join(part for part in parts if part)


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_sentences_are_translated(split):
    task = Translation()
    for chinese, english in task.sentences(task.items(2000, split, seeded())):
        assert translated(chinese) == english


def test_pairs_hold_the_sentences_and_hide_the_padding():
    task = Translation()
    items = task.items(50, "train", seeded(3))
    pairs = task.pairs(50, "train", seeded(3))
    assert pairs.source_mask.shape == (50, 1, 1, pairs.source_ids.shape[1])
    for i, (chinese, english) in enumerate(task.sentences(items)):
        real = pairs.source_mask[i, 0, 0]
        assert task.decode(pairs.source_ids[i][real]) == chinese
        assert set(pairs.source_ids[i][~real].tolist()) <= {task.pad_id}
        counts = pairs.targets[i] != -100
        assert task.decode(pairs.targets[i][counts]) == f"{english} <eos>"
        assert task.decode(pairs.target_ids[i][counts]) == f"<bos> {english}"
        assert set(pairs.target_ids[i][~counts].tolist()) <= {task.pad_id}


def test_one_row_holds_both_languages():
    task = Translation()
    items = task.items(50, "train", seeded(3))
    batch = task.batch(50, "train", seeded(3))
    for i, (chinese, english) in enumerate(task.sentences(items)):
        text = task.decode(batch.input_ids[i][batch.input_ids[i] != task.pad_id])
        assert text == f"{chinese} <to> {english}"
        counts = batch.targets[i] != -100
        assert task.decode(batch.targets[i][counts]) == f"{english} <eos>"
        assert counts.nonzero()[0].item() == len(chinese)


def who_does_what(chinese):
    _, *who, _, _, verb, _, _, _, _, noun = SENTENCE.fullmatch(chinese).groups()
    return who[3], verb, noun


def test_held_out_sentences_say_what_was_never_said_with_words_that_were():
    task = Translation()
    train, held_out = (
        task.sentences(task.items(4000, split, seeded())) for split in ("train", "held_out")
    )
    said, unsaid = ({who_does_what(zh) for zh, _ in part} for part in (train, held_out))
    assert not said & unsaid
    assert len(said) + len(unsaid) == 6 * 6 * 9
    seen = {token for pair in train for text in pair for token in task.cut(text)}
    assert seen == set(task.vocabulary) - {"<pad>", "<bos>", "<eos>", "<to>"}


PRONOUNS = {"我": "I am", "你": "you are", "他": "he is", "她": "she is"}
INTRODUCTION = re.compile(f"(我|你|他|她)是一(只|个){one_of(ADJECTIVES)}?{one_of(NOUNS)}。")


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_introductions_say_who_somebody_is(split):
    task, introduced = Introductions(), 0
    for chinese, english in task.sentences(task.items(2000, split, seeded())):
        if not (found := INTRODUCTION.fullmatch(chinese)):
            assert translated(chinese) == english
            continue
        who, measure, adjective, noun = found.groups()
        assert measure == MEASURES.get(noun, "个")
        words = [PRONOUNS[who], "a", ADJECTIVES.get(adjective), NOUNS[noun], "."]
        assert english == " ".join(word for word in words if word)
        introduced += 1
    assert introduced


def test_one_sentence_of_eight_introduces_somebody():
    task = Introductions()
    drawn = task.sentences(task.propose(4000, seeded()))
    share = sum(bool(INTRODUCTION.fullmatch(chinese)) for chinese, _ in drawn) / len(drawn)
    assert share == pytest.approx(1 / 8, abs=0.02)


def who_is_what(task, split):
    said = task.sentences(task.items(8000, split, seeded()))
    found = [INTRODUCTION.fullmatch(chinese) for chinese, _ in said]
    return {(one[1], one[4]) for one in found if one}


def test_held_out_introductions_make_somebody_what_nobody_said_they_were():
    task = Introductions()
    said, unsaid = who_is_what(task, "train"), who_is_what(task, "held_out")
    assert not said & unsaid
    assert len(said) + len(unsaid) == 4 * 6
    assert ("我", "学生") in said


def test_introductions_keep_the_ids_of_the_other_sentences():
    task, before = Introductions(), Translation()
    assert task.vocabulary[: before.vocab_size] == before.vocabulary
    assert task.decode(task.encode("我是一个学生。")) == "我是一个学生。"
    assert task.decode(task.encode("I am a student .")) == "I am a student ."


def test_corpus_reads_windows_of_its_text_on_one_side_of_the_border():
    task, text = Corpus(length=48), prose()
    assert len(text) > 50_000
    train, held_out = text[: task.border], text[task.border :]
    assert len(held_out) / len(text) == pytest.approx(0.1, abs=1e-4)
    for side, split in ((train, "train"), (held_out, "held_out")):
        for read, said in rows(task, split, 300):
            assert "".join(read + said[-1:]) in side
            assert said[:-1] == read[1:]


def test_corpus_reaches_both_ends_of_both_sides():
    task = Corpus(length=3, text="abcdefghijklmnopqrst", held_out_share=0.3)
    found = {"train": set(), "held_out": set()}
    for split, windows in found.items():
        for read, said in rows(task, split, 500):
            windows.add("".join(read + said[-1:]))
    text = "abcdefghijklmn", "opqrst"
    expected = [{side[i : i + 4] for i in range(len(side) - 3)} for side in text]
    assert list(found.values()) == expected


@each
def test_decode_reads_what_encode_wrote(task):
    batch = task.batch(16, generator=seeded())
    for ids in batch.input_ids:
        assert torch.equal(task.encode(task.decode(ids)), ids)
    assert "·" in task.decode(torch.tensor([0, -100]))


def test_decode_writes_each_task_in_its_way():
    assert TASKS["copy"].decode(torch.tensor([0, 1, 5])) == "a b |"
    translation = TASKS["translation"]
    ids = translation.encode("那只猫<to>the  cat saw")
    assert translation.decode(ids) == "那只猫 <to> the cat saw"
    corpus = TASKS["corpus"]
    assert corpus.decode(corpus.encode("Who may\nsee whom?")) == "Who may\nsee whom?"


def test_symbols_are_different_and_in_order():
    names = symbols(800)
    assert len(set(names)) == 800
    assert (names[0], names[25], names[26], names[701], names[702]) == ("a", "z", "aa", "zz", "aaa")


def test_scores_count_targets_and_rows():
    targets = torch.tensor([[-100, 1, 2], [-100, 0, 0], [-100, -100, -100]])
    said = torch.tensor([[0, 1, 2], [0, 0, 1], [0, 0, 0]])
    logits = torch.nn.functional.one_hot(said, 3).float()
    assert accuracy(logits, targets) == 3 / 4
    assert exact(logits, targets) == 1 / 2
    assert Task.accuracy(logits, targets) == 3 / 4
    assert Task.exact(logits, targets) == 1 / 2


@each
def test_a_right_model_scores_one_and_a_wrong_one_zero(task):
    batch = task.batch(16, "held_out", seeded())
    right = torch.nn.functional.one_hot(batch.targets.clamp(min=0), task.vocab_size).float()
    assert accuracy(right, batch.targets) == exact(right, batch.targets) == 1
    assert accuracy(-right, batch.targets) == exact(-right, batch.targets) == 0


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: Copy(n_symbols=0), ValueError, "n_symbols = 0: must be at least 1"),
        (lambda: Copy(length=2.0), TypeError, "length = 2.0: must be an int"),
        (lambda: Copy(n_symbols=3, length=4), ValueError, "length = 4: gives 81 different items"),
        (lambda: Sorting(n_numbers=3, length=5), ValueError, "length = 5: gives 21 different"),
        (lambda: Sorting(n_numbers=True), TypeError, "n_numbers = True: must be an int"),
        (lambda: Induction(length=3), ValueError, "length = 3: must be at least 4"),
        (lambda: Induction(8, 18), ValueError, "n_symbols = 8: must be at least 9"),
        (lambda: Induction(4, 4), ValueError, "n_symbols = 4: gives 12 different items"),
        (lambda: AssociativeRecall(n_values=0), ValueError, "n_values = 0: must be at least 1"),
        (lambda: AssociativeRecall(n_pairs=17), ValueError, "n_pairs = 17: must be at most"),
        (lambda: AssociativeRecall(n_queries=7), ValueError, "n_queries = 7: must be at most"),
        (lambda: AssociativeRecall(n_values=2), ValueError, "n_values = 2: gives 64 different"),
        (lambda: Agreement(distance=0), ValueError, "distance = 0: must be at least 1"),
        (lambda: ModularSums(13), ValueError, "modulus = 13: gives 91 different items"),
        (
            lambda: ModularSums(held_out_share=1.0),
            ValueError,
            "held_out_share = 1.0: must be below",
        ),
        (lambda: ModularSums(held_out_share="all"), TypeError, "held_out_share = 'all': must be a"),
        (lambda: Translation(held_out_share=0), ValueError, "held_out_share = 0: must be above 0"),
        (lambda: Corpus(length=0), ValueError, "length = 0: must be at least 1"),
        (lambda: Corpus(length=2, text="abcdefghijklmnopqrst"), ValueError, "must be below 2"),
        (lambda: Corpus(text=""), ValueError, "length = 64: must be below 0"),
    ],
)
def test_bad_sizes_are_refused(unchecked, build, error, words):
    with pytest.raises(error, match=re.escape(words)):
        build()


@each
def test_bad_requests_are_refused(unchecked, task):
    with pytest.raises(ValueError, match="batch_size = 0: must be at least 1"):
        task.batch(0)
    with pytest.raises(TypeError, match=r"batch_size = 8\.0: must be an int"):
        task.batch(8.0)
    with pytest.raises(ValueError, match="split = 'test': must be 'train' or 'held_out'"):
        task.batch(8, "test")
    with pytest.raises(ValueError, match=f"ids = {task.vocab_size}: must be -100 or in 0 .. "):
        task.decode(torch.tensor([0, task.vocab_size]))
    with pytest.raises(ValueError, match="ids = -1: must be -100"):
        task.decode(torch.tensor([-1]))
    with pytest.raises(TypeError, match=r"ids\.dtype = torch\.float32: must be whole numbers"):
        task.decode(torch.zeros(3))
    with pytest.raises(ValueError, match=re.escape("ids.shape = (2, 3): must be 1-D")):
        task.decode(torch.zeros(2, 3).long())
    with pytest.raises(ValueError, match="token = '€': is not in the vocabulary"):
        task.encode("€")


def test_pairs_and_every_refuse_the_same(unchecked):
    with pytest.raises(ValueError, match="split = 'test'"):
        Translation().pairs(8, "test")
    with pytest.raises(ValueError, match="split = 'test'"):
        ModularSums().every("test")


def test_bad_scores_are_refused(unchecked):
    with pytest.raises(ValueError, match="targets = 'all -100': has no target that counts"):
        accuracy(torch.zeros(2, 3, 5), torch.full((2, 3), -100))
    with pytest.raises(ValueError, match=re.escape("targets.shape = (2, 4): must be [B, T]")):
        exact(torch.zeros(2, 3, 5), torch.zeros(2, 4).long())


class OneItem(Task):
    """A task of one's own whose only item falls into one split."""

    def propose(self, count, generator):
        return torch.zeros(count, 1, dtype=torch.long)

    def write(self, items):
        return Batch(items, items)


def test_an_empty_split_is_refused_instead_of_waited_for():
    task = OneItem(["a", "b"])
    splits = ["train", "held_out"]
    full = splits.pop(int(task.held_out(task.propose(1, None))))
    assert len(task.batch(4, full).input_ids) == 4
    with pytest.raises(ValueError, match=f"split = '{splits[0]}': has too few items, or none"):
        task.batch(4, splits[0])
    with pytest.raises(ValueError, match=r"vocabulary = \['a', 'a'\]: must name each once"):
        OneItem(["a", "a"])


def test_a_tiny_model_learns_a_task_and_its_held_out_split():
    task = Agreement(distance=1)
    model = gpt2(GPT2Config(task.vocab_size, 32, 1, 2, 64, max_seq_len=8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    data = seeded()
    for _ in range(100):
        batch = task.batch(64, generator=data)
        loss = torch.nn.functional.cross_entropy(
            model(batch.input_ids).flatten(0, 1), batch.targets.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    test = task.batch(300, "held_out", data)
    misleading = task.misleading(test.input_ids)
    assert accuracy(model(test.input_ids), test.targets) > 0.98
    assert accuracy(model(test.input_ids[misleading]), test.targets[misleading]) > 0.97
