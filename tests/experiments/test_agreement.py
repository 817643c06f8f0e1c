"""The experiment behind chapter 1's table: what is drawn, who chooses, and that it learns."""

import pytest
import torch

import agreement
from pieces.tasks import Agreement


@pytest.mark.parametrize("phrases", agreement.PHRASES)
def test_a_row_asks_for_the_verb_of_its_first_noun(phrases):
    task = Agreement(phrases)
    ids, verbs = agreement.rows(task, 300, "held_out", torch.Generator().manual_seed(0))
    words = [task.decode(row).split() for row in ids]
    assert all(len(row) - row.index(row[1]) == 3 * phrases + 1 for row in words)
    assert [row[1].endswith("s") for row in words] == verbs.bool().tolist()
    assert 0.4 < verbs.double().mean() < 0.6


@pytest.mark.parametrize("network", agreement.NETWORKS)
def test_a_network_answers_for_each_row_by_itself(network):
    torch.manual_seed(1)
    task = Agreement(2)
    model = agreement.Reader(network, task).eval()
    ids, _ = agreement.rows(task, 3, "train", torch.Generator().manual_seed(2))
    alone = torch.cat([model(row[None]) for row in ids])
    assert torch.allclose(model(ids), alone, atol=1e-5)


def test_who_chooses_does_not_judge():
    assert not set(agreement.CHOOSING) & set(agreement.SEEDS)
    runs = [
        {"network": "LSTM", "gap": 4, "lr": lr, "right": right}
        for lr, right in ((0.1, 0.7), (0.2, 0.9), (0.2, 0.7), (0.1, 0.7), (0.3, 0.8))
    ]
    assert agreement.chosen(runs, "LSTM", 4) == 0.2


def test_over_a_short_gap_it_learns(monkeypatch):
    monkeypatch.setattr(agreement, "STEPS", 100)
    run = agreement.one_run("attention", 1, 0, 2e-3)
    assert run["right"] > 0.95
    assert run == run | {"network": "attention", "gap": 4, "seed": 0, "lr": 2e-3}
