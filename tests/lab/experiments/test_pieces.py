"""Pieces of an experiment are computed once, and a sitting ends in time."""

import pytest

from sottovoce.lab.experiments.pieces import Pieces, UnfinishedError


def test_a_piece_is_computed_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"error": 0.1}

    for _ in range(2):
        assert Pieces(tmp_path / "kept").get("row 1: a/b", compute) == {"error": 0.1}
    assert len(calls) == 1
    assert Pieces().get("row 1: a/b", compute) == {"error": 0.1}
    assert len(calls) == 2


def test_no_piece_is_begun_after_the_time_of_a_sitting(tmp_path):
    times = iter([0.0, 5.0, 11.0])
    pieces = Pieces(tmp_path, 10.0, lambda: next(times))
    assert pieces.get("first", lambda: 1) == 1
    with pytest.raises(UnfinishedError):
        pieces.get("second", lambda: 2)
    assert Pieces(tmp_path, 0.0).get("first", lambda: 3) == 1
