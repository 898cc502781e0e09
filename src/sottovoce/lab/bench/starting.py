"""The first question of a new process: with kernels that were compiled before, and with none.

What is measured is the processor time of the whole process: interpreter, imports, simulated people,
and the answer.  The time to compile all kernels is that of ``sottovoce warm``.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from sottovoce.lab.bench.row import BenchmarkRow, Goal

FIRST = Goal("figure", "<=", 2.0)
QUESTIONS = {
    "a histogram": "sv.simulate(sv.Task('t', sv.Histogram(range(1000)), 1.0), [7] * 1000, seed=1)",
    "SQL": "sv.simulate(sv.Task('t', sv.Table({'a': range(100), 'b': ['x', 'y']}), 2.0),"
    " {'a': [7] * 1000, 'b': ['x'] * 1000}, seed=1).sql('SELECT COUNT(*) FROM people WHERE a > 5')",
    "a search": "sv.simulate(sv.Task('t', sv.HeavyHitters(sv.Strings(20), 8), 4.0),"
    " ['hello'] * 1000, seed=1)",
}


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the seconds of compiling everything, and of first questions after that."""
    with TemporaryDirectory() as folder:
        compiled = Path(folder) / "compiled"
        yield _row("compiling all kernels", _seconds(["-m", "sottovoce", "warm"], compiled))
        for name, question in QUESTIONS.items():
            command = ["-c", f"import sottovoce as sv; {question}"]
            yield _row(f"{name}, compiled before", _seconds(command, compiled), FIRST)


def _row(name: str, seconds: float, goal: Goal | None = None) -> BenchmarkRow:
    return BenchmarkRow("starting", name, seconds, "s", goal=goal)


def _seconds(arguments: list[str], compiled: Path) -> float:
    """Return the processor time of a process that keeps compiled code in a folder."""
    before = _spent()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(compiled)}
    subprocess.run(
        [sys.executable, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return _spent() - before


def _spent() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
