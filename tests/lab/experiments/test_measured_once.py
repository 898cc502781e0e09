"""Pieces of a page are measured once, and an interrupted run goes on."""

import json
import sys

from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments


def refuse():
    raise AssertionError("this piece was measured already")


def test_a_piece_is_measured_once_and_survives_the_process(tmp_path):
    path = tmp_path / "kept.jsonl"
    pieces = MeasuredOnce(path)
    assert pieces.piece("first", lambda: {"rows": [1, 2]}) == {"rows": [1, 2]}
    assert pieces.piece("first", refuse) == {"rows": [1, 2]}
    later = MeasuredOnce(path)
    assert later.piece("first", refuse) == {"rows": [1, 2]}
    assert later.piece("second", lambda: 3) == 3
    assert [json.loads(line)["name"] for line in path.read_text().splitlines()] == [
        "first",
        "second",
    ]


def test_without_a_file_pieces_stay_in_memory():
    pieces = MeasuredOnce()
    assert pieces.piece("one", lambda: 1) == 1
    assert pieces.piece("one", refuse) == 1


def test_the_command_line_names_the_file(tmp_path, monkeypatch):
    path = tmp_path / "kept.jsonl"
    monkeypatch.setattr(sys, "argv", ["page", "--kept", str(path)])
    from_arguments("A page.").piece("one", lambda: 1)
    assert path.exists()
