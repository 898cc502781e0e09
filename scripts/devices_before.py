"""What one answer of a device costs, before and now: ``docs/evidence/devices-before-and-after.md``.

    python scripts/devices_before.py 7347ba3

The trees of another commit and of this one take their turns in one run, each in a process of its
own.  Before, a device made an array of one value, randomised it and packed it.  Now a mechanism
reports one value.  Both get the same random streams for the same values, and the bytes of all those
reports are compared: the script writes no page if they differ.
"""

import argparse
import hashlib
import importlib
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from other_tree import ROOT, checked_out, run

EVIDENCE = ROOT / "docs" / "evidence" / "devices-before-and-after.md"
TURNS = 3
REPEATS = 3  # of a turn
COMPARED = 300  # reports whose bytes are compared
STREAM_BYTES = 1 << 16  # for one report
STRIDE = 0x9E3779B97F4A7C15  # between the values of two of them


@dataclass(frozen=True)
class Case:
    """A mechanism, where both trees have it, and how many answers a run times."""

    module: str
    name: str
    size: int
    answers: int

    @property
    def bits(self) -> int:
        return (self.size - 1).bit_length()


CASES = {
    "grr": Case("grr", "GRR", 1024, 20_000),
    "olh": Case("olh", "OLH", 1024, 10_000),
    "blh": Case("blh", "BLH", 1024, 10_000),
    "affine": Case("affine", "AffineResponse", 1024, 5_000),
    "affine_prefix": Case("affine_prefix", "AffinePrefix", 1 << 160, 5_000),
    "oue": Case("oue", "OUE", 1024, 2_000),
    "subset": Case("subset", "SubsetSelection", 1024, 500),
}


@dataclass(frozen=True)
class Measured:
    """The time of one answer, and the digest of the bytes of many."""

    case: str
    microseconds: float
    digest: str


def measure(name: str) -> Measured:
    """Return what one tree needs for an answer: the one that this process imports."""
    case = CASES[name]
    module: Any = importlib.import_module(f"sottovoce.mechanisms.{case.module}")
    mechanism = getattr(module, case.name)(1.0, case.size)
    report = one_report(mechanism, case)
    rng_module = of_either_tree("core.rng", "rng")
    digest = hashlib.sha256()
    for index in range(COMPARED):
        packed = report(index * STRIDE % case.size, recorded(rng_module.Rng, index))
        digest.update(len(packed).to_bytes(4, "little") + packed)
    rng = rng_module.SystemRng()
    seconds = min(timed(report, rng, case.answers) for _ in range(REPEATS))
    return Measured(name, 1e6 * seconds / case.answers, digest.hexdigest())


def recorded(base: Any, number: int) -> Any:
    """Return a stream of bytes with a number, as if it was recorded.

    It does not matter how many bytes are read at a time: those of seeded streams in the laboratory
    depend on that.
    """
    stream = BytesIO(np.random.Generator(np.random.SFC64(number)).bytes(STREAM_BYTES))

    class Recorded(base):  # type: ignore[misc]
        def bytes(self, count: int) -> bytes:
            read = stream.read(count)
            assert len(read) == count, "the recorded stream is too short"
            return read

    return Recorded()


def one_report(mechanism: Any, case: Case) -> Callable[[int, Any], bytes]:
    """Return what a device does for one value."""
    if hasattr(mechanism, "report"):
        return mechanism.report  # type: ignore[no-any-return]
    indices_of = of_either_tree("maths.hashing", "hashing").indices_of

    def as_array(value: int, rng: Any) -> bytes:
        values = np.asarray(indices_of([value], case.bits))
        return bytes(mechanism.pack(mechanism.privatize(values, rng)))

    return as_array


def of_either_tree(now: str, before: str) -> Any:
    """Return a module that the two trees keep in different places."""
    try:
        return importlib.import_module(f"sottovoce.{now}")
    except ImportError:
        return importlib.import_module(f"sottovoce.{before}")


def timed(report: Callable[[int, Any], bytes], rng: Any, answers: int) -> float:
    """Return the processor time of so many reports."""
    started = time.process_time()
    for _ in range(answers):
        report(7, rng)
    return time.process_time() - started


@dataclass(frozen=True)
class Row:
    """One mechanism, before and now."""

    before: Measured
    now: Measured


def compare(commit: str, names: list[str]) -> list[Row]:
    """Return the best turns of every mechanism; stops where bytes differ."""
    rows = []
    with checked_out(commit) as tree:
        for name in names:
            best: dict[Path, Measured] = {}
            for _turn in range(TURNS):
                for side in (tree, ROOT):
                    text = run(side, [__file__, "--measure", name])
                    found = Measured(**json.loads(text))
                    best[side] = min(best.get(side, found), found, key=lambda it: it.microseconds)
            rows.append(same_bytes(Row(best[tree], best[ROOT])))
    return rows


def same_bytes(row: Row) -> Row:
    """Return a row whose two sides made the same bytes, or stop."""
    if row.before.digest != row.now.digest:
        raise SystemExit(f"{row.now.case}: the same random streams give different reports")
    return row


def page(commit: str, rows: list[Row]) -> str:
    """Return the page of evidence."""
    lines = [
        "# One answer on a device, before and after",
        "",
        f"Written by `python scripts/devices_before.py {commit}`: processor time of one report of",
        f"one person, budget 1, the least of {TURNS * REPEATS} runs, in which both trees took",
        f'turns.  "Before" is commit {commit}, which made an array of one value, randomised it and',
        "packed it.  Neither the envelope nor the ledger counts.",
        "",
        f"Machine: {os.cpu_count()} cores; {os.getloadavg()[0]:.0f} processes ran or waited for a"
        f" core during the last minute of the run; Python {platform.python_version()}.",
        "",
        "| mechanism | values | before µs | now µs | before / now |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.now.case} | 2^{CASES[row.now.case].bits} | {row.before.microseconds:,.1f} |"
        f" {row.now.microseconds:,.1f} | {row.before.microseconds / row.now.microseconds:,.1f} |"
        for row in rows
    ]
    lines += [
        "",
        f"For {COMPARED} values of each mechanism both trees got the same random stream, and made",
        "the same bytes: the script writes no page otherwise.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--only", default=",".join(CASES), help="mechanisms, separated by commas")
    parser.add_argument("--measure", choices=CASES)
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="the page to write")
    wanted = parser.parse_args()
    if wanted.measure:
        print(json.dumps(asdict(measure(wanted.measure))))
        return
    if not wanted.commit:
        parser.error("name the commit to compare with")
    text = page(wanted.commit, compare(wanted.commit, wanted.only.split(",")))
    print(text)
    wanted.evidence.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
