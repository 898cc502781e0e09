"""The tests of a round in a file: whole or not at all, read back, refused if damaged."""

import pytest

from sottovoce.collector import integrity_file
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.errors import MismatchError
from sottovoce.integrity.result import Integrity

FOUND = Integrity(2, 50, (PlausibilityTest("load", 9.0, 7.0, 1e-9, 50),), (), 0.05)


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "sealed" / "round.integrity.json"
    integrity_file.write(path, FOUND)
    assert integrity_file.read(path) == FOUND


def test_a_round_that_was_not_tested_has_no_file(tmp_path):
    assert integrity_file.read(tmp_path / "round.integrity.json") is None


@pytest.mark.parametrize("text", ["", "{", '{"round": 1}', "[]"])
def test_a_damaged_file_is_refused(tmp_path, text):
    path = tmp_path / "round.integrity.json"
    path.write_text(text)
    with pytest.raises(MismatchError, match="damaged"):
        integrity_file.read(path)
