import torch

from pieces.tasks import Copy
from pool import Pool


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_rows_are_training_rows_and_kept(tmp_path):
    task = Copy(9, 4)
    pool = Pool(task, tmp_path, rows=700)
    batch = pool.draw(64, generator=seeded())
    assert batch.input_ids.dtype == torch.long
    assert batch.input_ids.shape == task.batch(64).input_ids.shape
    items = batch.input_ids[:, :4]
    assert not task.held_out(items).any()
    (file,) = tmp_path.iterdir()
    again = Pool(task, tmp_path, rows=700)
    assert all(map(torch.equal, batch, again.draw(64, generator=seeded())))
    assert list(tmp_path.iterdir()) == [file]


def test_all_rows_of_the_pool_are_drawn(tmp_path):
    pool = Pool(Copy(9, 4), tmp_path, rows=50)
    batch = pool.draw(5000, generator=seeded())
    assert len(batch.input_ids.unique(dim=0)) == len(pool.rows.input_ids[:50].unique(dim=0))


def test_another_task_has_another_file(tmp_path):
    for length in (3, 4):
        Pool(Copy(9, length), tmp_path, rows=20).draw(2)
    assert len(list(tmp_path.iterdir())) == 2
