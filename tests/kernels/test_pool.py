"""Slices cover everybody once, and kernels compile with or without a place to keep the result."""

import os
import runpy
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sottovoce
from sottovoce import kernels
from sottovoce.errors import MissingExtraError
from sottovoce.kernels import pool

TRANSFORM = """
import numpy as np
from sottovoce.kernels import walsh
sums = walsh.transform(np.arange(8))
print("kept" if walsh.transform_rows.stats.cache_path else "lost", int(sums[0]))
"""


@pytest.mark.parametrize(("count", "parts"), [(0, 3), (1, 3), (7, 3), (9, 3), (100_000, 7)])
def test_slices_cover_everybody_once(count, parts):
    slices = pool.split(count, parts)
    assert [user for users in slices for user in range(count)[users]] == list(range(count))
    assert len(slices) == max(1, min(parts, count))


def test_results_come_back_in_order_whatever_the_threads():
    for threads in (1, 2, 5):
        parts = pool.run(lambda users: list(range(users.start, users.stop)), 23, threads)
        assert [user for part in parts for user in part] == list(range(23))


def test_few_users_stay_on_the_calling_thread():
    assert pool.cores(pool.FEW - 1) == 1
    assert pool.run(lambda users: threading.get_ident(), 10) == [threading.get_ident()]


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(users):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pool.run(fail, 10, threads=2)


def kernel_process(tmp_path, *, blocked):
    """Transforms in a process of its own, from a copy of the package with or without a place for
    compiled code.

    A plain file where the directory should be stops even root, which permissions do not.
    """
    package = Path(sottovoce.__file__).parent
    copy = tmp_path / "sottovoce"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    (copy / "__init__.py").touch()  # the kernels alone: the package's front door is not under test
    shutil.copy(package / "kernels" / "__init__.py", copy / "kernels")
    home = "/dev/null" if blocked else str(tmp_path)
    if blocked:
        (copy / "kernels" / "__pycache__").touch()
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("NUMBA", "XDG", "PYTHON"))
    }
    environment = clean | {
        "HOME": home,
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", TRANSFORM]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_kernels_work_where_nothing_can_be_kept(tmp_path):
    assert kernel_process(tmp_path, blocked=True) == ["lost", "28"]


def test_kernels_are_kept_where_they_can_be(tmp_path):
    assert kernel_process(tmp_path, blocked=False) == ["kept", "28"]
    assert list((tmp_path / "sottovoce" / "kernels" / "__pycache__").glob("*.nbi"))


def test_without_numba_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[server\]"):
        runpy.run_path(kernels.__file__)
