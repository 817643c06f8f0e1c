import json

import bend_speed
from pieces.book.measured import record_of

RECORD = json.loads(bend_speed.RECORD.read_text("utf-8"))


def test_the_layers_are_of_one_size():
    sizes = {
        name: sum(p.numel() for p in layer.parameters())
        for name, layer in bend_speed.layers(48).items()
    }
    assert set(sizes) == {*bend_speed.BENDS, "SwiGLU", "GeGLU"}
    assert set(sizes.values()) == {2 * 48 * 4 * 48}


def test_each_is_timed_beside_relu():
    found = bend_speed.measured(rounds=2, T=2, D=6)
    assert found.keys() == RECORD.keys()
    for part in ("alone", "layer"):
        assert found[part].keys() == RECORD[part].keys()


def test_the_record_is_of_this_script_and_names_no_machine():
    assert (RECORD["T"], RECORD["D"]) == (bend_speed.T, bend_speed.D)
    told = {"rounds", "threads", "precision", "T", "D", "alone", "layer"}
    assert set(RECORD) == told, "ratios, and nothing of the machine"
    figures = [*RECORD["alone"].values(), *RECORD["layer"].values()]
    assert all(0 < f["low"] <= f["median"] <= f["high"] < 30 for f in figures)
    assert record_of("bend_speed") == RECORD
