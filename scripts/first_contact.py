"""Measure the first contact: from a bare clone to the first answer on the screen.

    python scripts/first_contact.py [--write docs/evidence/first-contact.md]

Two ways are measured, each with an empty cache of pip and with a filled one: the first program of
the README after ``pip install '.[plot]'``, and ``make demo``.  Nothing else is installed
beforehand but Python, git and make.  Kernels are compiled anew every time, because a new clone has
none.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_ANSWER = re.compile(r"\btruth\b.*\bestimate\b")  # the heading of the first table
_HEAD = """# First contact

From a bare clone to the first answer on the screen, measured by `python scripts/first_contact.py
--write docs/evidence/first-contact.md` on a machine with {cores} cores, under a load of {load:.1f}
when it began. Downloads come from a package index in the network, so that the rows with an empty
cache depend on it. "Installed" is everything under `.venv`, Python's own `pip` included.

| way | cache of pip | first answer after | everything after | installed | packages |
|---|---|---|---|---|---|
"""
_WAYS = """
*First program*: `python -m venv .venv`, `pip install '.[plot]'`, and the first block of the README.
*Demonstration*: `make demo`, which installs what it needs, starts a collector and two shufflers,
and lets 200,000 invented people answer. The answers to its survey are printed as soon as they are
sealed, before the other collections begin; progress is visible from the first second on.
"""


@dataclass(frozen=True)
class Measured:
    """What one way took: seconds to the first answer and to the end, and what it installed."""

    way: str
    cache: str
    first: float
    whole: float
    size: int
    packages: int

    def __str__(self) -> str:
        installed = f"{self.size / 1e6:,.0f} MB"
        times = f"{self.first:.0f} s | {self.whole:.0f} s"
        return f"| {self.way} | {self.cache} | {times} | {installed} | {self.packages} |"


def first_program(clone: Path, environment: dict[str, str]) -> Iterator[str]:
    """Install the package and run the first block of the README; yield what it prints."""
    text = (clone / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    (clone / "first.py").write_text(block[1], encoding="utf-8")
    python = str(clone / ".venv" / "bin" / "python")
    yield from lines([sys.executable, "-m", "venv", ".venv"], clone, environment)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ".[plot]"]
    yield from lines(install, clone, environment)
    yield from lines([python, "first.py"], clone, environment)


def demonstration(clone: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run ``make demo``; yield what it prints."""
    yield from lines(["make", "demo"], clone, environment)


WAYS: dict[str, tuple[Callable[[Path, dict[str, str]], Iterator[str]], re.Pattern[str]]] = {
    "first program": (first_program, re.compile(r"\d")),
    "demonstration": (demonstration, _ANSWER),
}


def lines(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Yield the lines that a command prints, as they come."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with the exit code {process.returncode}")


def measure(way: str, cache: str, pip_cache: Path) -> Measured:
    """Go one way from a new clone."""
    go, answer = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        hidden = ("PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV", "MAKEFLAGS")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        environment = {**kept, "PIP_CACHE_DIR": str(pip_cache), "COLUMNS": "100"}
        started = time.monotonic()
        first = None
        for line in go(clone, environment):
            if first is None and answer.search(line):
                first = time.monotonic() - started
        whole = time.monotonic() - started
        if first is None:
            raise SystemExit(f"{way}: no answer was printed")
        size, packages = installed(clone / ".venv")
    return Measured(way, cache, first, whole, size, packages)


def installed(environment: Path) -> tuple[int, int]:
    """Return the bytes and the packages of an environment."""
    files = (path for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    packages = list(environment.glob("lib/python*/site-packages/*.dist-info"))
    return sum(path.stat().st_size for path in files), len(packages)


def main() -> None:
    """Measure both ways, and print the page or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", choices=sorted(WAYS))
    given = parser.parse_args()
    page = _HEAD.format(cores=os.cpu_count(), load=os.getloadavg()[0])
    for way in [given.only] if given.only else WAYS:
        with tempfile.TemporaryDirectory() as pip_cache:
            for cache in ("empty", "filled"):
                page += f"{measure(way, cache, Path(pip_cache))}\n"
                print(page.splitlines()[-1], file=sys.stderr)
    page += _WAYS
    if given.write:
        given.write.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
