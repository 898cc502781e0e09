"""Crashes, random bytes and a million reports: ``make soak``.

Three parts.  Crash trials kill a real collector at random moments and between its writes, over each
store, and account for every report (``tests/system/crash.py``).  Fuzzing feeds every decoder bytes
that nobody meant to send (``tests/fuzz/decoders.py``).  The memory run sends a million reports to
one server and watches its size.  What was seen goes to ``docs/evidence/soak.md``; anything wrong is
printed and makes the exit code 1.
"""

import argparse
import multiprocessing
import platform
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EVIDENCE = HERE.parent / "docs" / "evidence" / "soak.md"
sys.path.insert(0, str(HERE.parent / "tests"))

from fuzz.decoders import DECODERS, Finding, fuzz  # noqa: E402
from system.crash import ROUNDS, UPLOADERS, Result, Trial, random_kills  # noqa: E402
from system.memory import Memory, measure  # noqa: E402

STORES = ("sqlite", "postgres")
SLOW = {
    "the upload route": 0.02,
    "admission.admit": 0.3,
    "codec.task": 0.3,
}  # of the share of other decoders
INPUTS_AT_ONCE = 5_000


@dataclass
class Soaked:
    """Everything that goes to the page."""

    crashes: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    memory: Memory | None = None
    versions: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


def main() -> None:
    """Run what was asked for, write the page, and exit with 1 if anything was found."""
    wanted = arguments()
    soaked = Soaked(versions=versions())
    for store in filter(None, wanted.stores.split(",")):
        crash(soaked, store, wanted)
    fuzz_all(soaked, wanted)
    if wanted.reports:
        remember(soaked, wanted.reports)
    EVIDENCE.write_text(page(soaked))
    for finding in soaked.findings:
        print(f"FOUND: {finding}")
    print(f"{len(soaked.findings)} findings; {EVIDENCE.relative_to(HERE.parent)} is written")
    sys.exit(bool(soaked.findings))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--trials", type=int, default=200, help="crash trials for each store")
    parser.add_argument(
        "--inputs", type=int, default=1_000_000, help="inputs for all decoders together"
    )
    parser.add_argument(
        "--reports", type=int, default=1_000_000, help="reports of the memory run; 0 leaves it out"
    )
    parser.add_argument(
        "--stores", default=",".join(STORES), help="comma-separated; empty for none"
    )
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="no new trial of a store after this; 0: no end"
    )
    parser.add_argument("--at-once", type=int, default=2, help="processes side by side")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first trial")
    return parser.parse_args()


def crash(soaked: Soaked, store: str, wanted: argparse.Namespace) -> None:
    """Run the trials of one store, some side by side, each process with a database server of its
    own.
    """
    told: Any = multiprocessing.Queue()
    until = time.monotonic() + 60 * wanted.minutes if wanted.minutes else float("inf")
    seeds = range(wanted.first, wanted.first + wanted.trials)
    shares = [seeds[place :: wanted.at_once] for place in range(wanted.at_once)]
    workers = [
        multiprocessing.Process(target=work, args=(store, share, until, told))
        for share in shares
        if share
    ]
    for worker in workers:
        worker.start()
    left = len(workers)
    while left:
        said = told.get()
        if isinstance(said, Result):
            soaked.crashes[store].append(said)
            soaked.findings += [f"{store}, trial {said.seed}: {one}" for one in said.findings]
            show(
                f"{store}: {len(soaked.crashes[store])} of {wanted.trials} trials, "
                f"{len(soaked.findings)} findings"
            )
        else:
            left -= 1
            soaked.findings += [said] if said else []
    show("", end=True)
    for worker in workers:
        worker.join()


def work(store: str, seeds: range, until: float, told: Any) -> None:
    """Run some trials and tell of each; at the end tell what stopped them, or nothing."""
    try:
        with databases(store) as (create, restart):
            for seed in seeds:
                if time.monotonic() > until:
                    break
                told.put(trial(seed, create(f"soak_{seed}"), restart))
        told.put("")
    except BaseException as error:  # pytest's skip is one
        told.put(f"{store}: {type(error).__name__}: {error}")


@contextmanager
def databases(store: str) -> Iterator[tuple[Any, Any]]:
    """Give what makes a new database, and what kills and restarts the server of them all."""
    if store == "sqlite":
        yield (lambda name: ""), None
        return
    from postgres_server import running

    with running() as server:
        yield server.create, lambda: server.control("restart", "-m", "immediate")


def trial(seed: int, database: str, restart: Any) -> Result:
    """Run one trial in a folder of its own, which stays if there is something to look at."""
    folder = Path(tempfile.mkdtemp(prefix=f"sottovoce-soak-{seed}-"))
    kills = random_kills(random.Random(f"kills {seed}"), database=bool(database))
    result = Trial(folder / "data", seed, database=database, kills=kills, restart=restart).run()
    if result.findings:
        result.findings.append(f"see {folder}")
    else:
        shutil.rmtree(folder)
    return result


def fuzz_all(soaked: Soaked, wanted: argparse.Namespace) -> None:
    """Share the inputs among the decoders, and run them in pieces side by side."""
    weights = {name: SLOW.get(name, 1.0) for name in DECODERS}
    unit = wanted.inputs / sum(weights.values())
    jobs = []
    for name, weight in weights.items():
        count = -(-int(unit * weight) // 1) + 1 if wanted.inputs else 0
        jobs += [
            (name, start, min(INPUTS_AT_ONCE, count - start))
            for start in range(0, count, INPUTS_AT_ONCE)
        ]
    done = 0
    with multiprocessing.Pool(wanted.at_once) as pool:
        for name, outcomes, finding in pool.imap_unordered(fuzz_piece, jobs):
            soaked.outcomes[name] += outcomes
            soaked.findings += [finding] if finding else []
            done += outcomes.total()
            show(f"fuzzing: {done:,} inputs, {len(soaked.findings)} findings")
    show("", end=True)


def fuzz_piece(job: tuple[str, int, int]) -> tuple[str, Counter[str], str]:
    name, seed, count = job
    try:
        return name, fuzz(name, seed + 1, count), ""
    except Finding as finding:
        return name, Counter(), str(finding)


def remember(soaked: Soaked, reports: int) -> None:
    with tempfile.TemporaryDirectory(prefix="sottovoce-memory-") as folder:
        soaked.memory = measure(Path(folder) / "data", reports, show)
    show("", end=True)
    soaked.findings += soaked.memory.findings


def show(text: str, *, end: bool = False) -> None:
    """Show how far it is, on one line where somebody is watching."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="\n" if end and text else "", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def versions() -> dict[str, str]:
    import duckdb

    from sottovoce import __version__

    found = {
        "sottovoce": __version__,
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    found["DuckDB"] = duckdb.__version__
    try:
        import subprocess

        from postgres_server import found as server_programs

        folder = server_programs()
        if folder is not None:
            said = subprocess.run(
                [folder / "postgres", "--version"], capture_output=True, text=True, check=True
            ).stdout
            found["PostgreSQL"] = said.split()[2]
    except ImportError:
        pass
    return found


def page(soaked: Soaked) -> str:
    """Return the page of evidence."""
    parts = [
        "# Crashes, random bytes and a million reports\n",
        "Written by `make soak` (`scripts/soak.py`), which fails if anything is lost, doubled, "
        "changed or not refused\n"
        "on purpose.\n",
        f"- {', '.join(f'{name} {version}' for name, version in soaked.versions.items())}",
        f"- findings: {len(soaked.findings)}\n",
        *crash_section(soaked),
        *fuzz_section(soaked),
        *(soaked.memory.lines() if soaked.memory else []),
    ]
    return "\n".join(parts).rstrip() + "\n"


def crash_section(soaked: Soaked) -> list[str]:
    if not any(soaked.crashes.values()):
        return []
    stores = [store for store in STORES if soaked.crashes[store]]
    head = f"| | {' | '.join(stores)} |\n|---|{'---:|' * len(stores)}"
    rows = {
        "trials": lambda one: 1,
        "server processes killed": lambda one: one.kills.total() - one.kills["the database server"],
        "database servers killed": lambda one: one.kills["the database server"],
        "messages sent": lambda one: one.messages,
        "acknowledged": lambda one: one.acknowledged,
        "refused as too late, and not counted": lambda one: one.too_late,
        "sent again before they were acknowledged": lambda one: one.resent,
        "replayed after they were acknowledged": lambda one: one.replayed,
        "uploads turned away for a while (429 and 503)": lambda one: one.turned_away,
        "acknowledged and lost": lambda one: sum("lost" in what for what in one.findings),
        "counted twice": lambda one: sum("doubled" in what for what in one.findings),
        "trials with any finding": lambda one: bool(one.findings),
    }
    return [
        "## Crashes\n",
        f"Each trial is one task of {ROUNDS} rounds whose questions depend on all reports before "
        f"them; {UPLOADERS}\n"
        "threads upload over connections that stay open, and replay; every second task asks for "
        "enrolment tokens.\n"
        "The server gets SIGKILL up to three times, about half of them at random moments and half "
        "at a named point of\n"
        "its own code, and is started again.  Afterwards each acknowledged message must be in one "
        "sealed log once,\n"
        "and nothing else in any; counts, checksums, users, spent tokens, questions and the answer "
        "must be those that\n"
        "the messages give, bit for bit.  The same checks find three collectors with a mistake: "
        "one that acknowledges\n"
        "before it commits, one that forgets ids, and one that erases before its log is written\n"
        "(`tests/system/test_crash.py`).  A kill ends processes, not the machine: what a disk does "
        "with a synced\n"
        "write in a power cut is not tried here.\n",
        head,
        *(f"| {name} | {cells(soaked, stores, of)} |" for name, of in rows.items()),
        "\nIn which state the kill left the task:\n",
        head,
        *histogram(soaked, stores, "states"),
        "\nWhat killed the server:\n",
        head,
        *histogram(soaked, stores, "kills"),
        "",
    ]


def cells(soaked: Soaked, stores: list[str], of: Any) -> str:
    return " | ".join(f"{sum(int(of(one)) for one in soaked.crashes[store]):,}" for store in stores)


def histogram(soaked: Soaked, stores: list[str], name: str) -> list[str]:
    totals = {
        store: sum((getattr(one, name) for one in soaked.crashes[store]), Counter[str]())
        for store in stores
    }
    found = sorted({key for total in totals.values() for key in total})
    return [
        f"| {key} | {' | '.join(str(totals[store][key]) for store in stores)} |" for key in found
    ]


def fuzz_section(soaked: Soaked) -> list[str]:
    if not soaked.outcomes:
        return []
    total = sum(outcomes.total() for outcomes in soaked.outcomes.values())
    lines = [
        "## Random bytes\n",
        f"{total:,} inputs: valid ones with bits flipped, cut, repeated, spliced, set to extremes "
        "or changed entry by\n"
        "entry, and noise.  A decoder accepts, and then what it read is written as the same bytes, "
        "or it refuses with\n"
        "an error of the library or a code of the catalogue.\n",
        "| decoder | inputs | accepted | refused |",
        "|---|---:|---:|---|",
    ]
    for name in DECODERS:
        outcomes = soaked.outcomes[name]
        refused = ", ".join(
            f"{key} {count:,}" for key, count in sorted(outcomes.items()) if key != "accepted"
        )
        lines.append(f"| {name} | {outcomes.total():,} | {outcomes['accepted']:,} | {refused} |")
    return [*lines, ""]


if __name__ == "__main__":
    main()
