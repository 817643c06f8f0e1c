"""The small world: what it says and holds out, and that its probabilities are the true ones."""

import itertools
import math
import re
from collections import Counter
from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pieces.tasks import Stories
from pieces.tasks.stories_plots import language
from pieces.tasks.stories_telling import Listener, Silence, Teller
from pieces.tasks.stories_words import CLASSES, OTHERS, VOCABULARY

TASK = Stories(length=64)
SPLITS = ("train", "held_out", None)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def told(seed, length=200, split=None):
    """The words of a row in the language of a split."""
    teller = Teller(length, seed)
    teller.through(language(split, 10))
    return teller.words[:length]


def next_words(text, split=None):
    """The true distribution after a text, by word."""
    p = TASK.true_next(TASK.encode(text)[None], split=split)[0, -1]
    return {VOCABULARY[i]: p[i].item() for i in p.nonzero()[:, 0].tolist()}


class Script:
    """Replays choices by number, then stops: it knows its way, and no probabilities but its own."""

    def __init__(self, numbers):
        self.numbers, self.options, self.words, self.p = list(numbers), None, [], 1.0

    def __call__(self, options):
        if not self.numbers:
            self.options = options
            raise Silence
        phrase = list(options)[self.numbers.pop(0)]
        self.p *= options[phrase] / sum(options.values())
        self.words += phrase.split()
        return phrase


def every_way(program, length, numbers=()):
    """Each text of ``length`` words that begins with these choices, with its probability."""
    script = Script(numbers)
    with suppress(Silence):
        program(script)
    if len(script.words) >= length or script.options is None:
        yield tuple(script.words[:length]), script.p
        return
    for number in range(len(script.options)):
        yield from every_way(program, length, (*numbers, number))


def small_program(say):
    """Phrases that begin alike, a choice that depends on an earlier one, weights that are not 1."""
    if say({"a b c": 1, "a b d": 2, "a e": 1}) == "a e":
        say({"x y": 3, "x z": 1})
    say({"x": 0.5, "y x": 1.5})


def test_a_listener_knows_the_shares_of_phrases_that_begin_alike():
    listener = Listener(["a", "b"])
    listener.through(small_program)
    assert listener.expected == [{"a": 1}, {"b": 0.75, "e": 0.25}, {"c": 1 / 3, "d": 2 / 3}]
    listener = Listener(["a", "e", "x", "z", "y", "x"])
    listener.through(small_program)
    assert listener.expected[2:] == [
        *({"x": 1}, {"y": 0.75, "z": 0.25}),
        *({"x": 0.25, "y": 0.75}, {"x": 1}),
    ]


def brute_force(program, length, numbers=()):
    """The probability of each beginning of a text, summed over all ways to tell it."""
    sums = Counter()
    for words, p in every_way(program, length, numbers):
        for t in range(len(words) + 1):
            sums[words[:t]] += p
    return sums


def agree(program, sums, texts):
    for words in texts:
        listener = Listener(list(words))
        listener.through(program)
        for t in range(len(words)):
            if sums[words[:t]]:
                p = sums[words[: t + 1]] / sums[words[:t]]
                assert listener.expected[t][words[t]] == pytest.approx(p, abs=1e-12)


def test_probabilities_are_those_of_every_way_through_a_small_program():
    sums = brute_force(small_program, 6)
    texts = {words for words, _ in every_way(small_program, 6)}
    assert len(texts) == 2 * 2 + 2 * 2
    agree(small_program, sums, texts)
    assert sum(sums[words] for words in texts) == pytest.approx(1)


def choices_of(words, program):
    """The choices by number that tell a text, up to the last that is told whole."""
    numbers, at = [], 0

    def follow(options):
        nonlocal at
        for number, phrase in enumerate(options):
            said = phrase.split()
            if words[at : at + len(said)] == said:
                numbers.append(number)
                at += len(said)
                return phrase
        raise Silence

    with suppress(Silence):
        program(follow)
    return numbers


@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("", 6),
        ("long ago , there lived a shy girl named Lily . she had", 3),
        ("this is the story of Ben . he wanted two red balls . but he had no coins .", 6),
        ("this is the story of Ben . he had a red ball . one day , he met a girl named Mia .", 3),
        ("this is the story of Ben . he had a red ball . one day , the red ball rolled", 9),
    ],
)
@pytest.mark.parametrize("split", ["train", None])
def test_true_log_probs_are_those_of_every_way_to_tell_the_text(text, further, split):
    program, words = language(split, 10), text.split()
    numbers = choices_of(words, program)
    sums = brute_force(program, len(words) + further, numbers)
    texts = [w for w in sums if len(w) == len(words) + further]
    assert len(texts) > 10
    chosen = texts[:: max(1, len(texts) // 40)]
    ids = torch.tensor([[TASK.ids[word] for word in words] for words in chosen])
    found = TASK.true_log_probs(ids, split=split)[:, :-1]
    start = max(len(words) - 1, 0)
    for row, words_of_row in zip(found, chosen, strict=True):
        for t in range(start, len(words_of_row) - 1):
            p = sums[words_of_row[: t + 2]] / sums[words_of_row[: t + 1]]
            assert row[t].item() == pytest.approx(math.log(p), abs=1e-5)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), split=st.sampled_from(SPLITS), cut=st.integers(1, 120))
def test_at_every_beginning_the_probabilities_sum_to_one(seed, split, cut):
    ids = torch.tensor([[TASK.ids[word] for word in told(seed, cut, split)]])
    for other in {split, None}:
        p = TASK.true_next(ids, split=other)
        assert p.shape == (1, cut, 496)
        assert p.min() >= 0
        torch.testing.assert_close(p.sum(-1), torch.ones(1, cut), atol=1e-5, rtol=0)
    # What was told can be told: the sampler and the listener walk the same program.
    assert TASK.true_log_probs(ids, split=split).isfinite().all()


class Careful(Teller):
    """Draws, and looks at every choice on the way."""

    def __call__(self, options):
        assert all(weight > 0 for weight in options.values())
        phrases = sorted(phrase.split() for phrase in options)
        assert all(phrases)
        for one, following in itertools.pairwise(phrases):
            assert following[: len(one)] != one, (one, following)
        return super().__call__(options)


@pytest.mark.parametrize("split", SPLITS)
def test_no_phrase_begins_another_so_that_words_tell_which_was_said(split):
    for seed in range(60):
        Careful(300, seed).through(language(split, 10))


@pytest.mark.parametrize("split", SPLITS)
def test_words_come_as_often_as_is_true_given_all_before_them(split):
    """For each word, what came minus what was expected is a sum of surprises of mean zero: z."""
    rows = [told(seed, 65, split) for seed in range(1000, 1120)]
    ids = torch.tensor([[TASK.ids[word] for word in row] for row in rows])
    p = TASK.true_next(ids[:, :-1], split=split).double()
    came = torch.nn.functional.one_hot(ids[:, 1:], TASK.vocab_size)
    spread = (p * (1 - p)).sum((0, 1))
    often = spread > 5
    z = ((came - p).sum((0, 1)) / spread.sqrt())[often]
    assert often.sum() > 50
    assert z.abs().max() < 4.5
    assert (z**2).mean().item() == pytest.approx(1, abs=5 * math.sqrt(2 / len(z)))


def chi_square(counts, expected):
    total = sum(counts.values())
    assert set(counts) <= set(expected)
    return sum((counts[w] - total * p) ** 2 / (total * p) for w, p in expected.items())


def below(words):
    """Five standard deviations above what chi-square is on average."""
    return len(words) - 1 + 5 * math.sqrt(2 * len(words))


@pytest.mark.parametrize(
    "beginning",
    [
        "this is the story of",
        "this is the story of Lily . she had",
        "this is the story of Lily . she had a red",
        "this is the story of Lily . she had a new red ball . one day , she",
    ],
)
def test_after_a_beginning_words_are_drawn_by_their_probabilities(beginning):
    words, program = beginning.split(), language(None, 10)
    numbers = choices_of(words, program)
    counts = Counter()
    for seed in range(1000):
        script, teller = Script(numbers), Teller(1, seed)

        def first_told_then_drawn(options, script=script, teller=teller):
            return script(options) if script.numbers else teller(options)

        with pytest.raises(Silence):
            program(first_told_then_drawn)
        counts[(script.words + teller.words)[len(words)]] += 1
    expected = next_words(beginning)
    assert len(expected) > 2
    assert chi_square(counts, expected) < below(expected)


def test_the_floor_is_the_same_from_what_came_and_from_what_could_come():
    for split in ("train", "held_out"):
        batch = TASK.batch(100, split, seeded(3))
        came = TASK.true_log_probs(batch.input_ids, batch.targets, split=split)
        p = TASK.true_next(batch.input_ids, split=split)
        could_come = -torch.special.entr(p).sum(-1)
        difference = (came - could_come).mean(1)
        assert difference.mean().abs() < 4 * difference.std() / math.sqrt(100)
        assert 0.3 < -came.mean() < 0.6


def test_the_last_place_has_what_is_expected_unless_its_target_is_told():
    batch = TASK.batch(4, generator=seeded())
    alone = TASK.true_log_probs(batch.input_ids)
    whole = TASK.true_log_probs(batch.input_ids, batch.targets)
    assert alone.shape == whole.shape == batch.input_ids.shape
    assert torch.equal(alone[:, :-1], whole[:, :-1])
    p = TASK.true_next(batch.input_ids)
    torch.testing.assert_close(alone[:, -1], -torch.special.entr(p[:, -1]).sum(-1))
    torch.testing.assert_close(whole, p.gather(2, batch.targets[..., None])[..., 0].log())


# An independent reader of who has what: it knows the words, and nothing of the program.
PEOPLE = CLASSES["girl"] + CLASSES["boy"]
COLOUR = "|".join(CLASSES["colour"])
THING = "|".join(CLASSES["thing"] + CLASSES["things"])
NAME = "|".join(PEOPLE)
WHAT = rf"(?:an? |two )?(?:(?:{'|'.join(CLASSES['size'])}) )?({COLOUR}) ({THING})\b"
HERO = re.compile(
    rf"(?:named|story of) ((?:{NAME})(?: and (?:{NAME}))?) \. "
    rf"(?:[\w ]+ lived with \w+ \w+ \. )?[\w ]+? (?:had|wanted|found|loved \w+) {WHAT}"
)
FRIEND = re.compile(rf"met a \w+ named ({NAME}) \. \w+ (?:had|[\w ]+ find \w+) {WHAT}")


def belongings(words):
    """(person + colour + thing) % 10 for everybody who comes to have something in these words."""
    text = " ".join(words)
    for pattern in (HERO, FRIEND):
        for names, colour, thing in pattern.findall(text):
            person = sum(PEOPLE.index(name) for name in names.split(" and "))
            nouns = CLASSES["thing" if thing in CLASSES["thing"] else "things"]
            yield (person + CLASSES["colour"].index(colour) + nouns.index(thing)) % 10


def test_what_is_held_out_is_never_in_training_and_in_every_held_out_text():
    short = Stories(length=32)
    for split, residues in (("train", set(range(1, 10))), ("held_out", {0})):
        for task, count in ((short, 200), (TASK, 60)):
            batch = task.batch(count, split, seeded(5))
            seen = set()
            for ids in batch.input_ids.tolist():
                row = set(belongings(task.vocabulary[i] for i in ids))
                assert row, task.decode(torch.tensor(ids))
                seen |= row
            assert seen == residues


def test_the_independent_reader_reads_friends_too():
    words = (
        "this is the story of Lily . she lived with her aunt . she had a red ball . one day , she"
        " met a boy named Ben . he was sad because he could not find his big blue hats ."
    )
    assert list(belongings(words.split())) == [(5 + 9 + 0) % 10, (12 + 1 + 20) % 10]


def test_languages_differ_at_the_thing_alone():
    batch = TASK.batch(40, "held_out", seeded())
    mine, world, theirs = (
        TASK.true_log_probs(*batch, split=split) for split in ("held_out", None, "train")
    )
    things = torch.tensor([TASK.ids[w] for w in CLASSES["thing"] + CLASSES["things"]])
    differ = ~torch.isclose(mine, world)
    assert torch.isin(batch.targets[differ], things).all()
    # Four things of forty: ten times as probable for who knows that they alone can come.
    assert (mine - world)[differ].exp().round(decimals=3).unique().tolist() == [10.0]
    first = differ.long().argmax(1)
    rows = torch.arange(40)
    assert (theirs[rows, first] == -torch.inf).all()
    assert torch.equal(*(x.cumsum(1)[rows, first - 1].round(decimals=4) for x in (theirs, world)))


def test_a_name_decides_the_pronoun_at_a_distance():
    text = "this is the story of {} . {} had a red ball . one day , {} walked to the park . there"
    for name, pronoun in (("Lily", "she"), ("Ben", "he"), ("Lily and Ben", "they")):
        expected = next_words(text.format(name, name, name))
        assert expected == pytest.approx({pronoun: 0.7, name.split()[0]: 0.3})
    rivals = "this is the story of {} . {} had a red ball . one day , {} met a girl named Mia . Mia"
    lost = " could not find her blue boat ."
    after = rivals + " was sad because she" + lost
    assert next_words(after.format("Ben", "Ben", "Ben")) == pytest.approx({"he": 0.7, "Ben": 0.3})
    assert next_words(after.format("Lily", "Lily", "Lily")) == {"Lily": 1.0}


def test_what_was_said_long_ago_is_known():
    text = (
        "this is the story of Lily . she had a golden ball . one day , she took the golden ball to"
        " the park . she put it in the bushes and danced . then she went home without the golden"
        " ball . she was sad . “ where is my golden ball ? ” asked Lily . her aunt said , “ I do"
        " not know . ” so Lily ran back to the"
    )
    assert next_words(text) == {"park": 1.0}
    assert next_words(text + " park . she looked in the bushes ,") == {"and": 1.0}
    assert next_words(text + " park . she looked in the grass ,") == {"but": 1.0}
    corner = next_words(text + " park . she looked in the")
    assert corner == pytest.approx({"bushes": 0.4 / 0.46, "grass": 0.06 / 0.46})


def test_a_text_is_printed_with_capitals_and_read_without():
    text = (
        "This is the story of Lily. It was Ben's birthday. “May I have your pie?” asked the fox."
        " “No, it is for my aunt!” said Lily. Her aunt said, “I do not know.” So Lily ran. The end."
    )
    ids = TASK.encode(text)
    assert TASK.decode(ids) == text
    for other in (text.lower(), text.upper(), text.replace("“", '"').replace("”", '"')):
        assert torch.equal(TASK.encode(other), ids)
    assert torch.equal(TASK.encode(text.replace("'", "’")), ids)
    assert TASK.decode(TASK.encode("the end . once upon")) == "The end.\nOnce upon"
    assert TASK.encode("").shape == (0,)


def test_an_unknown_word_is_refused_with_those_spelt_like_it(unchecked):
    with pytest.raises(ValueError, match=r"token = 'Lilly': .* Remedy: write \"Lily\""):
        TASK.encode("Once upon a time Lilly")
    with pytest.raises(ValueError, match=r"token = 'zzzz': .* Remedy: use the words of task"):
        TASK.encode("zzzz")


def test_what_no_story_says_has_no_probability():
    ids = TASK.encode("once upon a time there was a dog . it was")
    assert TASK.first_impossible(ids) == 7
    logs, p = TASK.true_log_probs(ids[None])[0], TASK.true_next(ids[None])[0]
    assert logs[:6].isfinite().all()
    assert (logs[6:] == -torch.inf).all()
    assert (p[:7].sum(-1) - 1).abs().max() < 1e-6
    assert (p[7:] == 0).all()
    assert TASK.first_impossible(ids[:7]) is None
    strange = TASK.encode("dog dog")
    assert TASK.first_impossible(strange) == 0
    assert (TASK.true_log_probs(strange[None]) == -torch.inf).all()
    # A training text has no held-out thing; there is no other difference.
    held_out = TASK.batch(1, "held_out", seeded()).input_ids[0]
    at = TASK.first_impossible(held_out, split="train")
    assert VOCABULARY[held_out[at]] in CLASSES["thing"] + CLASSES["things"]
    assert TASK.first_impossible(held_out) is None


def test_bad_requests_are_refused_by_name(unchecked):
    ids = TASK.encode("once upon a")[None]
    with pytest.raises(ValueError, match=r"split = 'test': must be 'train' or 'held_out' or None"):
        TASK.true_next(ids, split="test")
    with pytest.raises(ValueError, match=r"input_ids = 496: must be in 0 \.\. 495"):
        TASK.true_next(ids * 0 + 496)
    with pytest.raises(ValueError, match=r"input_ids = -1: must be in"):
        TASK.true_log_probs(ids * 0 - 1)
    with pytest.raises(ValueError, match=r"targets = -100: must be in"):
        TASK.true_log_probs(ids, ids * 0 - 100)
    with pytest.raises(ValueError, match=r"targets.shape = \(1, 2\): .* as in input_ids"):
        TASK.true_log_probs(ids, ids[:, 1:])
    with pytest.raises(ValueError, match=r"input_ids.shape = \(3,\): must be 2-D"):
        TASK.true_next(ids[0])
    with pytest.raises(TypeError, match=r"input_ids.dtype = torch.float32: must be whole"):
        TASK.true_log_probs(ids.float())
    with pytest.raises(ValueError, match=r"ids.shape = \(1, 3\): must be 1-D"):
        TASK.first_impossible(ids)
    with pytest.raises(ValueError, match="length = 31: must be at least 32"):
        Stories(31)


def test_each_word_is_of_one_class_and_all_are_said():
    named = [word for words in CLASSES.values() for word in words]
    assert len(set(named + OTHERS)) == len(named + OTHERS) == len(VOCABULARY) == 496
    said = set()
    for seed in range(200):
        said |= set(told(seed, 500))
    assert said == set(VOCABULARY)


def test_stories_are_of_many_lengths_and_rows_of_any():
    lengths = [len(list(text)) for text in stories(told(7, 20_000))]
    assert min(lengths) < 100
    assert sum(length > 128 for length in lengths) > 0.3 * len(lengths)
    assert max(lengths) > 256
    seeds = TASK.propose(3, seeded())
    for length in (32, 128, 300):
        longer = Stories(length + 1).write(seeds).input_ids
        assert torch.equal(Stories(length).write(seeds).input_ids, longer[:, :length])


def stories(words):
    """One story after the other, without the last, which is cut."""
    text = " ".join(words).split("the end .")
    return [story.split() for story in text[:-1]]


def test_articles_and_numbers_agree():
    text = " ".join(told(11, 20_000))
    assert not re.search(r"\ba [aeiou]", text)
    assert not re.search(r"\ban [^aeiou]", text)
    assert not re.search(rf"two [\w ]*?\b({'|'.join(CLASSES['thing'])})\b", text)
    assert not re.search(r"\b(they|we) (was|is)\b|\b(she|he|it) (were|are)\b", text)
    assert not re.search(r" ([,.!?]) [,.!?]", text)
    assert text.count("“") - text.count("”") in (0, 1)
