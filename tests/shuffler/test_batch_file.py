"""Batch files: whole or not there, checked before they are sent, erased for good."""

import hashlib
import os

import pytest

from sottovoce.errors import MismatchError, UnavailableError
from sottovoce.shuffler.batch_file import BatchFiles, erase_file, part_messages, read_parts
from sottovoce.shuffler.mixing import MixResult
from sottovoce.shuffler.store.base import MixedBatch

CONTENT = b"message" * 100
HASH = hashlib.sha256(CONTENT).digest()


@pytest.fixture
def files(tmp_path):
    return BatchFiles(tmp_path, b"t" * 32)


def write(path):
    path.write_bytes(CONTENT)
    return MixResult(MixedBatch(HASH, 100, 0), ())


def test_a_batch_has_its_name_when_it_is_whole(files):
    files.write(3, write)
    assert files.check(3, HASH).read_bytes() == CONTENT
    assert [path.name[:8] for path in files.folder.iterdir()] == ["round-3-"]


def test_a_batch_that_fails_leaves_nothing(files):
    def fail(path):
        path.write_bytes(b"half")
        raise OSError("no space")

    with pytest.raises(UnavailableError, match="cannot be written"):
        files.write(3, fail)
    assert list(files.folder.iterdir()) == []


def test_a_changed_or_missing_file_is_not_sent(files):
    files.write(3, write)
    files.path(3, HASH).write_bytes(b"other")
    with pytest.raises(MismatchError, match="has changed"):
        files.check(3, HASH)
    files.remove(3)
    with pytest.raises(UnavailableError, match="cannot be read"):
        files.check(3, HASH)


def test_leftovers_of_a_round_go_and_its_batch_and_other_rounds_stay(files):
    files.write(3, write)
    files.write(33, write)
    (files.folder / ".round-3-17.new").write_bytes(b"half")
    files.path(3, b"o" * 32).write_bytes(b"of a hop that died")
    files.remove(3, keep=HASH)
    assert sorted(files.folder.iterdir()) == sorted([files.path(3, HASH), files.path(33, HASH)])


def test_an_erased_file_is_overwritten_before_it_goes(tmp_path):
    path, other_name = tmp_path / "batch", tmp_path / "link"
    path.write_bytes(CONTENT)
    os.link(path, other_name)
    erase_file(path)
    assert not path.exists()
    assert other_name.read_bytes() == bytes(len(CONTENT))
    erase_file(path)


def test_a_part_has_at_most_a_thousand_messages_and_a_mebibyte(tmp_path):
    assert part_messages(150) == 1_000
    assert part_messages(10_000) == 104
    assert part_messages(1 << 21) == 1
    (tmp_path / "batch").write_bytes(CONTENT)
    parts = list(read_parts(tmp_path / "batch", 7 * 30))
    assert b"".join(parts) == CONTENT
    assert len(parts) == 4
