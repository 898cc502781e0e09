"""The page on adding a mechanism works as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

from sottovoce.lab.checks import PURE_CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-mechanism.md"
USE = """
import numpy as np
import sottovoce as sv
import sottovoce.mechanisms
sottovoce.mechanisms.__path__.append({folder!r})
from sottovoce.wire import codec
task = sv.Task("new", sv.Histogram(["a", "b", "c"], mechanism="redraw"), epsilon=1.0)
assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task
message = sv.Client(task, ":memory:").answer("b")
assert sv.answer(task, [message]).mechanism == "redraw"
answer = sv.simulate(task, np.array(["a", "b", "c"])[np.arange(60_000) % 3], seed=1)
assert abs(answer.estimate.totals - 20_000).max() < 5 * answer.estimate.errors.max()
assert sv.audit(task.opening.ask.mechanism, samples=20_000, seed=1).passes
"""
TEST = """
import sottovoce.mechanisms
sottovoce.mechanisms.__path__.append({folder!r})
"""


def blocks():
    """The two files of the page, by the path that stands before each."""
    return dict(
        re.findall(
            r"`((?:src|tests)/[\w/]+\.py)`:\n\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL
        )
    )


def test_a_new_file_and_its_test_are_all_it_takes(tmp_path):
    files = blocks()
    (tmp_path / "redraw.py").write_text(files["src/sottovoce/mechanisms/redraw.py"])
    (tmp_path / "conftest.py").write_text(TEST.format(folder=str(tmp_path)))
    (tmp_path / "test_redraw.py").write_text(files["tests/mechanisms/test_redraw.py"])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "test_redraw.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"{6 * len(PURE_CHECKS) + 1} passed" in done.stdout, done.stdout
    used = subprocess.run(
        [sys.executable, "-c", USE.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert used.returncode == 0, used.stderr
