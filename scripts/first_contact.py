"""Measure the first contact: from a bare clone to the first answer on the screen.

    make contact                    # both ways, some minutes; rewrites the page of evidence
    python scripts/first_contact.py --only "first program"    # prints the page, keeps nothing

Two ways are measured, each with an empty cache of pip and with a filled one: the first program of
the README after ``pip install '.[plot]'``, and ``make demo``.  Nothing else is installed
beforehand but Python, git and make.  Kernels are compiled anew every time, because a new clone has
none.

The page is written again after every row, so that a run that is cut off keeps what it measured;
rows that a run does not measure stay.  A way that takes longer than ``--limit`` minutes is ended,
and the last lines that it printed stand in the error.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHES = ("empty", "filled")
LAST_LINES = 15  # of a program that failed, in the error
_HEAD = """# First contact

From a bare clone to the first answer on the screen, measured by `make contact`. Downloads come from
a package index in the network, so that the rows with an empty cache depend on it. "Installed" is
everything under `.venv`, Python's own `pip` included; "load" is that of the machine when the row
began, beside its cores.

| way | cache of pip | first answer after | end after | installed | packages | load | commit |
|---|---|---:|---:|---:|---:|---:|---|
"""
_WAYS = """
*First program*: `python -m venv .venv`, `pip install '.[plot]'`, and the first block of the README.
*Demonstration*: `make demo`, which installs what it needs, starts a collector and two shufflers,
and lets 200,000 invented people answer. The answers to its survey are printed as soon as they are
sealed, before the other collections begin; progress is visible from the first second on.
"""


class MeasuringError(Exception):
    """A way failed, took too long or printed no answer."""


@dataclass(frozen=True)
class Way:
    """A way to the first answer: its commands in a clone, and what the heading of an answer is."""

    commands: Callable[[Path], list[list[str]]]
    answer: re.Pattern[str]


@dataclass(frozen=True)
class Measured:
    """What one way took: seconds to the first answer and to the end, and what it installed."""

    way: str
    cache: str
    first: float
    whole: float
    size: int
    packages: int
    load: float
    commit: str

    @property
    def row(self) -> str:
        cells = [
            self.way,
            self.cache,
            f"{self.first:.0f} s",
            f"{self.whole:.0f} s",
            f"{self.size / 1e6:,.0f} MB",
            f"{self.packages}",
            f"{self.load:.1f} on {os.cpu_count()}",
            self.commit,
        ]
        return f"| {' | '.join(cells)} |"


def first_program(clone: Path) -> list[list[str]]:
    """Return what installs the package and runs the first block of the README."""
    text = (clone / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    if block is None:
        raise MeasuringError("README.md has no block of Python that runs")
    (clone / "first.py").write_text(block[1], encoding="utf-8")
    python = str(clone / ".venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ".[plot]"]
    return [[sys.executable, "-m", "venv", ".venv"], install, [python, "first.py"]]


def demonstration(clone: Path) -> list[list[str]]:
    """Return what runs the demonstration."""
    return [["make", "demo"]]


WAYS = {
    "first program": Way(first_program, re.compile(r"\bvalue\b.*\bestimate\b")),
    "demonstration": Way(demonstration, re.compile(r"\btruth\b.*\bestimate\b")),
}


def lines(
    command: list[str], folder: Path, environment: dict[str, str], ends: float
) -> Iterator[str]:
    """Yield the lines that a command prints, as they come.

    ``ends`` is the moment of the monotonic clock at which the command and all that it started are
    killed.
    """
    last: deque[str] = deque(maxlen=LAST_LINES)
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            _kill(process)

        timer = threading.Timer(max(0.0, ends - time.monotonic()), end)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                last.append(line.rstrip())
                yield line
            process.wait()
        finally:
            timer.cancel()
            _kill(process)
    if overdue.is_set():
        raise MeasuringError(_failed(command, "was ended: the time limit has passed", last))
    if process.returncode:
        raise MeasuringError(_failed(command, f"ended with exit code {process.returncode}", last))


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill what is left of a program and of everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(command: list[str], what: str, last: deque[str]) -> str:
    printed = [f"    {line}" for line in last] or ["    (it printed nothing)"]
    return "\n".join([f"{' '.join(command)} {what}. The last lines that it printed:", *printed])


def measure(way: str, cache: str, pip_cache: Path, limit: float, source: Path = ROOT) -> Measured:
    """Go one way from a new clone, in at most ``limit`` seconds."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(source), str(clone)], check=True)
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=clone,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        started = time.monotonic()
        first = None
        for command in WAYS[way].commands(clone):
            for line in lines(command, clone, bare(pip_cache), started + limit):
                if first is None and WAYS[way].answer.search(line):
                    first = time.monotonic() - started
        whole = time.monotonic() - started
        if first is None:
            raise MeasuringError(f"{way}: no answer was printed")
        size, packages = installed(clone / ".venv")
    return Measured(way, cache, first, whole, size, packages, load, commit)


def bare(pip_cache: Path) -> dict[str, str]:
    """Return the environment of somebody who has nothing of this project yet.

    Python writes each line at once, as it does on a screen.
    """
    hidden = ("PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    own = {"PIP_CACHE_DIR": str(pip_cache), "COLUMNS": "100", "PYTHONUNBUFFERED": "1"}
    return {**kept, **own}


def installed(environment: Path) -> tuple[int, int]:
    """Return the bytes and the packages of an environment."""
    files = (path for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    packages = list(environment.glob("lib/python*/site-packages/*.dist-info"))
    return sum(path.stat().st_size for path in files), len(packages)


def page(rows: dict[tuple[str, str], str]) -> str:
    """Return the page with the rows that there are, each by its way and its cache."""
    order = [(way, cache) for way in WAYS for cache in CACHES]
    return _HEAD + "".join(f"{rows[key]}\n" for key in order if key in rows) + _WAYS


def rows_of(text: str) -> dict[tuple[str, str], str]:
    """Return the rows of a page."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in WAYS and len(cells) == _HEAD.splitlines()[-1].count("|") - 1:
            rows[cells[0], cells[1]] = line
    return rows


def run(ways: list[str], limit: float, write: Path | None, source: Path = ROOT) -> bool:
    """Measure ways and keep each row as it comes; return whether all of them arrived."""
    rows = rows_of(write.read_text(encoding="utf-8")) if write and write.exists() else {}
    arrived = True
    for way in ways:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as pip_cache:
            try:
                for cache in CACHES:
                    measured = measure(way, cache, Path(pip_cache), limit, source)
                    print(measured.row, file=sys.stderr, flush=True)
                    rows[way, cache] = measured.row
                    if write:
                        write.write_text(page(rows), encoding="utf-8")
            except MeasuringError as error:
                print(error, file=sys.stderr, flush=True)
                arrived = False
    if not write:
        print(page(rows), end="")
    return arrived


def main() -> None:
    """Measure both ways, and print the page or write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="the page; its other rows stay")
    parser.add_argument("--only", choices=sorted(WAYS))
    parser.add_argument(
        "--limit", type=float, default=20.0, help="minutes for one way with one cache (20)"
    )
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # children end too
    ways = [given.only] if given.only else list(WAYS)
    sys.exit(0 if run(ways, 60 * given.limit, given.write) else 1)


if __name__ == "__main__":
    main()
