"""Compare the speed of this tree with that of another commit, side by side in one run.

    python scripts/bench_against.py 7347ba3                     all topics, three turns each
    python scripts/bench_against.py v0.2.0 --only queries       one topic
    python scripts/bench_against.py 7347ba3 --write   and docs/evidence/speed-before-and-after.md

Both trees run ``sottovoce bench`` in processes of their own, in turns, so that a noisy minute hurts
them alike.  Every row keeps its best turn.  A row that is slower by more than 10 % is marked, and
makes the exit code 1.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from other_tree import ROOT, checked_out, run

EVIDENCE = ROOT / "docs" / "evidence" / "speed-before-and-after.md"
TIMES = ("ns", "us", "µs", "ms", "s")  # units of which less is better
RATES = ("/s", "per second", "per CPU second")  # and of which more is better
MAX_SLOWDOWN = 1.10

Key = tuple[str, str]  # topic and name of a row


@dataclass(frozen=True)
class Comparison:
    """One row of both trees; ``slowdown`` is above 1 where this tree is slower."""

    topic: str
    name: str
    before: float
    now: float
    unit: str

    @property
    def slowdown(self) -> float | None:
        """Return the time now over the time before, None for a figure that is no speed."""
        if not self.before or not self.now:
            return None
        if any(self.unit.endswith(rate) for rate in RATES):
            return self.before / self.now
        if self.unit.split("/")[0].split()[0] in TIMES:
            return self.now / self.before
        return None

    @property
    def is_slower(self) -> bool:
        """Return whether this tree is slower by more than the allowance."""
        return self.slowdown is not None and self.slowdown > MAX_SLOWDOWN


def main() -> None:
    """Run both trees in turns, print the table, and exit with 1 if a row is slower."""
    wanted = arguments()
    with checked_out(wanted.commit) as before:
        comparisons = list(compare(before, wanted))
    page = "\n".join(lines(wanted.commit, wanted.turns, comparisons)) + "\n"
    print(page)
    if wanted.write:
        EVIDENCE.write_text(page)
    sys.exit(any(row.is_slower for row in comparisons))


def arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--only", default="", help="comma-separated topics (default: all)")
    parser.add_argument("--turns", type=int, default=3, help="runs of each tree (default: 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the users")
    parser.add_argument("--write", action="store_true", help=f"write {EVIDENCE.relative_to(ROOT)}")
    return parser.parse_args()


def compare(before: Path, wanted: argparse.Namespace) -> Iterator[Comparison]:
    """Yield the rows that both trees have, topic by topic."""
    topics = wanted.only.split(",") if wanted.only else topics_of(ROOT)
    for topic in topics:
        best_before: dict[Key, dict[str, Any]] = {}
        best_now: dict[Key, dict[str, Any]] = {}
        for turn in range(wanted.turns):
            print(f"{topic}: turn {turn + 1} of {wanted.turns}", file=sys.stderr, flush=True)
            keep_best(best_before, measured(before, topic, wanted.scale))
            keep_best(best_now, measured(ROOT, topic, wanted.scale))
        for key, row in best_now.items():
            if key in best_before:
                earlier = best_before[key]
                yield Comparison(*key, earlier["figure"], row["figure"], row["unit"])


def topics_of(tree: Path) -> list[str]:
    """Return the names of all topics of a tree."""
    code = "from sottovoce.lab.bench import TOPICS; print(*TOPICS)"
    return run(tree, ["-c", code]).split()


def measured(tree: Path, topic: str, scale: float) -> list[dict[str, Any]]:
    """Return the rows of one topic, measured in a process of its own."""
    code = f"from sottovoce.lab.bench import run; run({topic!r}, json=True, scale={scale!r})"
    rows: list[dict[str, Any]] = json.loads(run(tree, ["-c", code]))
    return rows


def keep_best(best: dict[Key, dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Keep the fastest turn of every row."""
    for row in rows:
        key = (row["topic"], row["name"])
        if key not in best or is_faster(row, best[key]):
            best[key] = row


def is_faster(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether a row is faster than another one of the same name."""
    slowdown = Comparison(row["topic"], row["name"], 1.0, 1.0, row["unit"]).slowdown
    if slowdown is None:
        return False
    more_is_better = any(row["unit"].endswith(rate) for rate in RATES)
    if more_is_better:
        return bool(row["figure"] > other["figure"])
    return bool(row["figure"] < other["figure"])


def lines(commit: str, turns: int, comparisons: list[Comparison]) -> Iterator[str]:
    """Yield the lines of the page."""
    slower = sum(row.is_slower for row in comparisons)
    timed = sum(row.slowdown is not None for row in comparisons)
    yield "# Speed, before and after\n"
    yield f"Written by `python scripts/bench_against.py {commit} --write`: `sottovoce bench` of"
    yield f"{commit} and of this tree, in turns, the best of {turns} turns each.  Slowdown is the"
    yield "time now over the time before; rows without one are figures of another kind.\n"
    yield f"{timed} timed rows, {slower} of them slower by more than 10 %.\n"
    yield "| topic | row | before | now | unit | slowdown |\n|---|---|---:|---:|---|---:|"
    for row in comparisons:
        slowdown = "" if row.slowdown is None else f"{row.slowdown:.2f}"
        mark = " (slower)" if row.is_slower else ""
        figures = f"{row.before:,.4g} | {row.now:,.4g} | {row.unit} | {slowdown}{mark}"
        yield f"| {row.topic} | {row.name} | {figures} |"


if __name__ == "__main__":
    main()
