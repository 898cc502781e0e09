"""Kernels are compiled once for an installation, by whoever comes first."""

import os
import time
from pathlib import Path

import pytest

from sottovoce.engine import warming


@pytest.fixture
def started(tmp_path, monkeypatch):
    """The commands that were started in the background, where nothing has been compiled yet."""
    commands = []

    class Process:
        def __init__(self, command, **_):
            commands.append(command)

        def wait(self):
            return 0

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    monkeypatch.setattr(warming.subprocess, "Popen", Process)
    return commands


def test_kernels_are_compiled_in_the_background_once(started):
    assert not warming.is_warm()
    warming.start_warming()
    warming.start_warming()  # the first is still at it
    assert [command[2:] for command in started] == [["sottovoce", "warm", "--background"]]
    assert warming.warm() > 0
    assert warming.is_warm()
    warming.start_warming()
    assert len(started) == 1


def test_a_claim_whose_process_has_died_is_taken_over(started, tmp_path):
    warming.start_warming()
    (claim,) = (tmp_path / "compiled").glob("*.begun")
    long_ago = time.time() - 2 * warming.CLAIM_SECONDS
    os.utime(claim, (long_ago, long_ago))
    warming.start_warming()
    assert len(started) == 2


def test_nothing_is_started_where_nothing_can_be_kept(started, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/nowhere")
    warming.start_warming()
    assert started == []
    assert warming.warm() > 0  # it works all the same
    assert not warming.is_warm()


def test_another_version_of_the_kernels_is_compiled_anew(started, tmp_path, monkeypatch):
    warming.warm()
    assert warming.is_warm()
    copy = tmp_path / "kernels"
    copy.mkdir()
    (copy / "walsh.py").write_text("changed")
    monkeypatch.setattr(warming, "KERNELS", copy)
    assert not warming.is_warm()


def test_code_for_another_processor_is_compiled_anew(started, tmp_path, monkeypatch):
    """An image is built on one machine and runs on another."""
    warming.warm()
    other = tmp_path / "cpuinfo"
    other.write_text("model name : another\nflags : sse2\n")
    monkeypatch.setattr(warming, "PROCESSOR", other)
    assert not warming.is_warm()


def test_who_cannot_write_beside_the_kernels_has_a_stamp_of_their_own(
    started, tmp_path, monkeypatch
):
    """Numba reads code beside the kernels only for users who can write there."""
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(warming, "KERNELS", tmp_path)
    warming.start_warming()
    assert list((tmp_path / "__pycache__").glob("warm-*.begun"))
    monkeypatch.setattr(warming, "KERNELS", Path("/dev/null/kernels"))  # nobody can write there
    warming.start_warming()
    assert len(started) == 2
    assert list((tmp_path / "home" / ".cache" / "numba").glob("warm-*.begun"))
