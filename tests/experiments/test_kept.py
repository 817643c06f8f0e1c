"""Records are written in one form, and a run that is there is not made again."""

import json

import pytest

import kept
import norm_placement
import norm_rates


@pytest.mark.parametrize("script", [norm_rates, norm_placement], ids=["rates", "placement"])
def test_a_record_of_parts_is_written_as_it_stands(script, tmp_path):
    text = script.RECORD.read_text(encoding="utf-8")
    place = tmp_path / "new" / "record.json"
    kept.keep_parts(json.loads(text), script.PARTS, (place,))
    assert place.read_text(encoding="utf-8") == text
    assert kept.parts_of(place, script.PARTS) == kept.parts_of(script.RECORD, script.PARTS)


def test_a_record_that_is_not_there_has_empty_parts(tmp_path):
    assert kept.parts_of(tmp_path / "none.json", ("a", "b")) == {"a": [], "b": []}


def test_each_run_is_made_once(tmp_path, monkeypatch, capsys):
    made = []

    def one(scheme, seed, steps):
        made.append((seed, scheme))
        return {"scheme": scheme, "seed": seed, "steps": steps, "curve": [1.0]}

    record = (tmp_path / "record.json", {"name": "x", "about": "y"})
    given = ("What it does", "scheme", {"a": 1, "b": 2}, [0, 1], 5, record, one)
    monkeypatch.setattr("sys.argv", ["x.py", "--schemes", "b", "--seeds", "1"])
    kept.each_run(*given)
    monkeypatch.setattr("sys.argv", ["x.py"])
    kept.each_run(*given)
    assert made == [(1, "b"), (0, "a"), (0, "b"), (1, "a")]
    assert len(kept.earlier(*record)) == 4
    assert '"curve"' not in capsys.readouterr().out
