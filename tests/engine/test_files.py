"""Files appear whole or not at all."""

import os
import threading
from pathlib import Path

import pytest

from sottovoce.engine.files import SPILL_PREFIX, remove_leftovers, replace_file
from sottovoce.errors import UnavailableError


def test_a_file_is_made_with_its_folder_and_replaced_whole(tmp_path):
    path = tmp_path / "new" / "file.txt"
    replace_file(path, lambda new: new.write_text("first"))
    replace_file(path, lambda new: new.write_text("second"))
    assert path.read_text() == "second"
    assert list(path.parent.iterdir()) == [path]


def test_a_maker_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("before")

    def half(new):
        new.write_text("half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        replace_file(path, half)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_refuses_is_unavailable_and_the_error_names_the_file(tmp_path):
    (tmp_path / "folder").write_text("a file where a folder should be")
    with pytest.raises(UnavailableError, match="log\\.parquet cannot be written"):
        replace_file(tmp_path / "folder" / "log.parquet", lambda new: new.write_text("x"))


def test_content_is_on_the_disk_before_the_name_and_the_name_before_the_return(
    tmp_path, monkeypatch
):
    path = tmp_path / "file.txt"
    synced = []

    def watched(handle):
        synced.append((str(Path(f"/proc/self/fd/{handle}").readlink()), path.exists()))

    monkeypatch.setattr(os, "fsync", watched)
    replace_file(path, lambda new: new.write_text("x"))
    (new, had_name), *rest = synced
    assert Path(new).match(".file.*.new.txt")
    assert not had_name
    assert rest == [(str(tmp_path), True)]


def test_the_names_of_new_folders_are_on_the_disk_too(tmp_path, monkeypatch):
    synced = []

    def watched(handle):
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))

    monkeypatch.setattr(os, "fsync", watched)
    replace_file(tmp_path / "a" / "b" / "file.txt", lambda new: new.write_text("x"))
    assert synced[:2] == [str(tmp_path), str(tmp_path / "a")]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    made = []
    replace_file(tmp_path / "file.txt", lambda new: made.append(new) or new.write_text("x"))
    kept = [tmp_path / name for name in ("file.txt", "file.new.txt", ".hidden")]
    for path in (*kept, *made):  # as if the process had been killed before the end
        path.write_text("x")
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    remove_leftovers(tmp_path / "a folder that is not there")


def test_two_who_make_one_file_never_give_its_name_to_a_half(tmp_path):
    """As when the lease of the first was lost, and the second has it now."""
    path = tmp_path / "file.txt"
    half_written, first_is_done = threading.Event(), threading.Event()

    def make_slowly(new):
        with new.open("w") as file:
            file.write("who")
            file.flush()
            half_written.set()
            first_is_done.wait(10)
            file.write("le")

    second = threading.Thread(target=replace_file, args=(path, make_slowly))

    def make(new):
        new.write_text("whole")
        second.start()
        half_written.wait(10)

    replace_file(path, make)
    assert path.read_text() == "whole"
    first_is_done.set()
    second.join()
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def test_what_queries_have_spilled_and_parts_that_are_half_written_are_removed(tmp_path):
    spilled = tmp_path / f"{SPILL_PREFIX}abc"
    spilled.mkdir()
    (spilled / "duckdb_temp_storage.tmp").write_bytes(b"scores")
    part = tmp_path / "round-00000.parquet" / ".part-00000.00c0ffee.new.parquet"
    part.parent.mkdir()
    part.write_bytes(b"half")
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["round-00000.parquet"]
