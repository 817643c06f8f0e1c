"""static/twin/tensor.js and static/twin/decode.js against numpy and torch: the same numbers at the same places."""

import numpy as np
import pytest
import torch

# A tensor as nested lists.
NESTED = """const nested = (t) => {
  const numbers = [];
  kit.forEach(t, (x) => numbers.push(x));
  const cut = (shape, from) => shape.length ? Array.from({ length: shape[0] }, (_, i) => {
    const size = shape.slice(1).reduce((all, n) => all * n, 1);
    return cut(shape.slice(1), from + i * size);
  }) : numbers[from];
  return cut(t.shape, 0);
};"""


@pytest.fixture(scope="module")
def run(desk):
    """Call with a script over `kit`, `nested` and its argument."""
    with desk.open("twin/tensor", "twin/decode", "kit/selection", "kit/frames") as page:
        yield lambda script, a=None: page.evaluate(f"(a) => {{ {NESTED} {script} }}", a)


def test_views_hold_the_numbers_of_torch(run):
    t = torch.arange(120.0).reshape(2, 3, 4, 5)
    got = run(
        """const t = kit.tensor(Float32Array.from({ length: 120 }, (_, i) => i), [2, 3, 4, 5]);
        const p = kit.permute(t, 0, 2, 1, 3);
        return [kit.permute(t, 0, 1, 3, 2), p, kit.reshape(p, 2, 4, 15), kit.reshape(t, 24, 5)]
          .map((x) => [nested(x), x.data === t.data]);"""
    )
    p = t.permute(0, 2, 1, 3)
    expected = [t.mT, p, p.reshape(2, 4, 15), t.reshape(24, 5)]
    for (numbers, shared), theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(np.array(numbers), theirs.numpy())
        assert shared == (theirs.untyped_storage().data_ptr() == t.untyped_storage().data_ptr())


def test_every_half_number_is_torchs(run):
    every = np.arange(65536, dtype=np.uint16)
    got = run("return [...kit.decodeFloat16(Uint16Array.from({ length: 65536 }, (_, i) => i))]")
    np.testing.assert_array_equal(np.array(got), every.view(np.float16).astype(np.float64))


def test_int8_rows_take_their_own_scale(run):
    values = np.random.default_rng(3).integers(-128, 128, (5, 7)).astype(np.int8)
    scales = np.array([0.5, 1e-3, 2, 0, 7], dtype=np.float32)
    got = run(
        """const t = kit.decode({ dtype: "int8", shape: [5, 7], bytes: Int8Array.from(a[0]), scales: a[1] });
        return nested(t);""",
        [values.ravel().tolist(), scales.tolist()],
    )
    np.testing.assert_allclose(np.array(got), values * scales[:, None], rtol=1e-6)


def test_bytes_may_start_anywhere(run):
    got = run(
        """const all = new Uint8Array(11);
        all.set(new Uint8Array(Float32Array.of(1.5, -2.25).buffer), 3);
        const bytes = new DataView(all.buffer, 3, 8);
        return [...kit.decode({ dtype: "float32", shape: [2], bytes }).data];"""
    )
    assert got == [1.5, -2.25]


def test_a_million_numbers_have_an_extent(run):
    got = run(
        """const x = new Float32Array(1e6).map((_, i) => Math.sin(i) * i);
        x[5] = NaN; x[6] = Infinity; x[7] = -Infinity;
        return kit.extent(x);"""
    )
    i = np.arange(1e6)
    x = (np.sin(i) * i)[8:]
    assert got["nan"] == 1
    assert got["infinite"] == 2
    assert got["finite"] == 10**6 - 3
    np.testing.assert_allclose([got["low"], got["high"]], [x.min(), x.max()], rtol=1e-6)
    assert got["most"] == max(-got["low"], got["high"])


@pytest.mark.parametrize(
    "script",
    [
        "kit.tensor([1, 2, 3], [2, 2])",
        "kit.fromNested([[1, 2], [3]])",
        "kit.reshape(kit.tensor([1, 2, 3, 4], [4]), 3)",
        "kit.permute(kit.tensor([1, 2, 3, 4], [2, 2]), 0, 0)",
        "kit.decode({ dtype: 'float16', shape: [3], bytes: new Uint8Array(4) })",
        "kit.decode({ dtype: 'bfloat16', shape: [2], bytes: new Uint8Array(4) })",
        "kit.decodeFloat16(new Uint8Array(3))",
        "kit.decodeInt8(new Int8Array(5), [1, 1])",
        "kit.createSelection({ colum: 1 })",
        "kit.createSelection().pick({ row: -1 })",
        "kit.speak({ nothing: {} })",
    ],
)
def test_what_does_not_fit_is_refused(run, script):
    assert run(f"try {{ {script}; return null; }} catch (error) {{ return error.name; }}") == (
        "RangeError"
    )


def test_empty_tensors_are_tensors(run):
    assert run("return nested(kit.fromNested([[]]))") == [[]]
    assert run("return kit.extent([]).finite") == 0


def test_a_selection_tells_changes_and_only_changes(run):
    told = run(
        """const s = kit.createSelection({ head: 1 });
        const told = [];
        const stop = s.subscribe((now) => told.push([now.row, now.column, now.head]));
        s.point({ row: 2, column: 3 }); s.point({ row: 2, column: 3 });
        s.pick({ row: 4 });      // the pointer is still on row 2: nothing changes
        s.leave(); s.pick({ row: 4 }); s.clear();
        stop(); s.pick({ row: 1 });
        return told;"""
    )
    assert told == [[2, 3, 1], [4, None, 1], [None, None, None]]


def test_a_ghost_is_the_state_before_a_whole_drag(run):
    got = run(
        """const before = kit.ghost();
        return [["a", 0], ["b", 1000], ["c", 1200], ["d", 1600], ["d", 3000], ["e", 4000], ["d", 4100],
          ["f", 4200]].map(([state, when]) => before(state, state, when));"""
    )
    assert got == [None, "a", "a", "a", "a", "d", None, "d"], "what is back as it was has no ghost"
