import torch

from phrases import phrases

SKIPPED = -100


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_seed_gives_the_same_rows():
    first, again, other = (phrases(500, 64, 8, seeded(seed)) for seed in (1, 1, 2))
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first.input_ids, other.input_ids)


def test_what_is_counted_can_be_told_by_looking_back():
    """Of many words, the word before has come before, and what followed it then follows it now."""
    batch = phrases(10_000, 100, 64, seeded())
    for ids, targets in zip(batch.input_ids.tolist(), batch.targets.tolist(), strict=True):
        assert any(target != SKIPPED for target in targets)
        for t, target in enumerate(targets):
            follows = [ids[s + 1] for s in range(t) if ids[s] == ids[t]]
            assert target == SKIPPED or target in follows
            assert t + 1 == len(ids) or target in (SKIPPED, ids[t + 1])


def test_the_first_word_of_a_phrase_is_never_counted():
    """And so nothing is counted in the first saying of all phrases."""
    batch = phrases(10_000, 100, 64, seeded())
    for ids, targets in zip(batch.input_ids.tolist(), batch.targets.tolist(), strict=True):
        new = [t for t in range(len(ids) - 1) if ids[t + 1] not in ids[: t + 1]]
        assert all(targets[t] == SKIPPED for t in new)


def test_no_phrase_is_said_twice_in_a_row():
    """Two short ones in turn come back after six words at the earliest."""
    batch = phrases(10_000, 100, 64, seeded())
    for ids in batch.input_ids.tolist():
        for n in (3, 4, 5):
            assert not any(ids[t : t + n] == ids[t + n : t + 2 * n] for t in range(100 - 2 * n))
