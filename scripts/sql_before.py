"""How long queries in SQL take, before and now, beside the decode that knows the same counts.

    python scripts/sql_before.py 7347ba3           writes docs/evidence/sql-speed.md
    python scripts/sql_before.py 7347ba3 --scale 0.01 --evidence /tmp/page.md

The trees of another commit and of this one take their turns in one run, each in a process of its
own.  What counts is processor time of the process, all its threads together.  A query is planned
anew each time: a text that is kept with its plan would cost less.  The decode adds up the reports
of every layer and counts the values of one column, as the present tree does it: no query that
reads all reports can be much cheaper.  That holds where a table has few layers; of thousands a
query reads those that it asks about, and decoding all of them is no floor.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from other_tree import ROOT, checked_out, run

EVIDENCE = ROOT / "docs" / "evidence" / "sql-speed.md"
USERS = 1_000_000
TURNS = 2
REPEATS = 2  # of a turn
PATIENCE = 1_800.0  # seconds of the machine that a query may take
CONJUNCTION = "(a BETWEEN {low} AND {high} AND b > {least} AND c < {most})"
SIXTEEN = " OR ".join(
    CONJUNCTION.format(low=7 * i + 1, high=7 * i + 7, least=4 * i + 10, most=6 * i + 20)
    for i in range(16)
)


@dataclass(frozen=True)
class Case:
    """A query, and the columns of the table that it asks about: each from 1 to so many.

    ``decode_is_floor`` says whether decoding a whole column is less work than the query.
    """

    name: str
    sql: str
    columns: dict[str, int]
    decode_is_floor: bool = True


CASES = {
    "values": Case(
        "`GROUP BY` of 1,000 values",
        "SELECT a, COUNT(*) FROM people GROUP BY a",
        {"a": 1000, "b": 125},
    ),
    "pairs": Case(
        "`GROUP BY` of 961 pairs, with an average",
        "SELECT a, b, COUNT(*), AVG(c) FROM people GROUP BY a, b",
        {"a": 31, "b": 31, "c": 125},
    ),
    "or": Case(
        "16 conjunctions of 3 ranges in `OR`",
        f"SELECT COUNT(*) FROM people WHERE {SIXTEEN}",
        dict.fromkeys("abcd", 125),
    ),
    "six": Case(
        "2 ranges, 6 columns of 64 values",
        "SELECT COUNT(*) FROM people WHERE a > 2 AND b < 4",
        dict.fromkeys("abcdef", 64),
        decode_is_floor=False,  # 4,095 layers, most of which the query does not ask about
    ),
}


@dataclass(frozen=True)
class Asked:
    """What a query took; without ``seconds`` it was refused, for the reason given."""

    case: str
    seconds: float | None
    refused: str = ""


def measure(case: str, users: int) -> Asked:
    """Return the processor time of a query in this tree."""
    study = study_of(case, users)
    timing: Any = importlib.import_module("sottovoce.lab.bench.timing")
    errors: Any = importlib.import_module("sottovoce.errors")
    assert study.database.users == users
    try:
        (taken,) = timing.race(lambda: study.ask(CASES[case].sql), repeats=REPEATS)
    except errors.SottovoceError as error:
        return Asked(case, None, str(error).splitlines()[0])
    return Asked(case, taken.cpu)


def measure_decode(case: str, users: int) -> Asked:
    """Return the processor time of decoding the first column in the present tree."""
    from sottovoce.lab.bench.timing import race
    from sottovoce.plans.tables.counting import counts
    from sottovoce.sql.query import Column

    study = study_of(case, users)
    collected = study.database.collected

    def decode() -> None:
        collected.tallied.clear()
        counts(study.database.layout, collected, Column(0, 0))

    (taken,) = race(decode, repeats=REPEATS)
    return Asked(case, taken.cpu)


def study_of(case: str, users: int) -> Any:
    """Return people with tables and their reports; the two trees name them differently."""
    bench: Any = importlib.import_module("sottovoce.lab.bench.queries")
    study = bench.QueryStudy if hasattr(bench, "QueryStudy") else bench.Study
    columns = {name: range(1, size + 1) for name, size in CASES[case].columns.items()}
    return study(bench.Table(columns), users)


@dataclass(frozen=True)
class Row:
    """One query: before, now, and the decode where that is a floor."""

    case: str
    before: Asked
    now: Asked
    decode: Asked | None = None


def compare(commit: str, cases: list[str], users: int) -> Iterator[Row]:
    """Yield the best turns of every query."""
    with checked_out(commit) as before:
        for case in cases:
            sides = {"before": (before, "query"), "now": (ROOT, "query")}
            if CASES[case].decode_is_floor:
                sides["decode"] = (ROOT, "decode")
            best: dict[str, Asked] = {}
            for _turn in range(TURNS):
                for side, (tree, what) in sides.items():
                    asked = asked_apart(tree, what, case, users)
                    best[side] = min(best.get(side, asked), asked, key=seconds_of)
            yield Row(case, **best)


def asked_apart(tree: Path, what: str, case: str, users: int) -> Asked:
    """Return what a query takes in a process of its own, with the package of a tree."""
    try:
        text = run(tree, [__file__, "--measure", what, case, str(users)], PATIENCE)
    except SystemExit:
        return Asked(case, None, "the process ended without an answer")
    except subprocess.TimeoutExpired:
        return Asked(case, None, f"not answered within {PATIENCE / 60:.0f} minutes")
    return Asked(**json.loads(text))


def seconds_of(asked: Asked) -> float:
    return float("inf") if asked.seconds is None else asked.seconds


def page(commit: str, users: int, rows: list[Row]) -> str:
    """Return the page of evidence."""
    lines = [
        "# The speed of SQL, before and after",
        "",
        f"Written by `python scripts/sql_before.py {commit}`: one table, one report of each of"
        f" {users:,} people.",
        f"Seconds of processor time for one query that is planned anew; the least of"
        f" {TURNS * REPEATS} runs, in",
        f'which both trees took turns.  "Before" is commit {commit}.  The decode adds up the',
        "reports of every layer and counts the values of the first column, in the present tree: a",
        "query that reads all reports cannot be much cheaper.  The cells are empty where a query",
        "reads few of many layers: there the decode is no floor.  The method is in"
        " [decision 65](../decisions/0065-many-groups-are-decoded.md).",
        "",
        f"Machine: {os.cpu_count()} cores; {os.getloadavg()[0]:.0f} processes ran or waited for a"
        f" core during the last minute of the run; Python {platform.python_version()}.",
        "",
        "| query | before s | now s | before / now | decode s | now / decode |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [row_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def row_line(row: Row) -> str:
    """Return the line of a query."""
    figures = [
        figure(row.before),
        figure(row.now),
        ratio(row.before, row.now, digits=1),
        figure(row.decode),
        ratio(row.now, row.decode, digits=2),
    ]
    return f"| {CASES[row.case].name} | {' | '.join(figures)} |"


def figure(asked: Asked | None) -> str:
    """Return the seconds of a query, or why there are none; nothing if it was not asked."""
    if asked is None:
        return ""
    return asked.refused if asked.seconds is None else f"{asked.seconds:.3f}"


def ratio(first: Asked, second: Asked | None, digits: int) -> str:
    """Return one time over another, and nothing where one of them is missing."""
    if second is None or first.seconds is None or not second.seconds:
        return ""
    return f"{first.seconds / second.seconds:,.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--only", default=",".join(CASES), help="queries, separated by commas")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the people")
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="the page to write")
    parser.add_argument("--measure", nargs=3, metavar=("WHAT", "QUERY", "USERS"))
    wanted = parser.parse_args()
    if wanted.measure:
        what, case, people = wanted.measure
        measuring = measure_decode if what == "decode" else measure
        print(json.dumps(asdict(measuring(case, int(people)))))
        return
    if not wanted.commit:
        parser.error("name the commit to compare with")
    users = int(USERS * wanted.scale)
    rows = list(compare(wanted.commit, wanted.only.split(","), users))
    text = page(wanted.commit, users, rows)
    print(text)
    wanted.evidence.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
