"""What a collector must survive: ``make soak``.

Each part can be run alone, as in ``python scripts/soak.py --only powercut,twins``.

- ``crash``: a real collector is killed at random moments and between its writes, over each store,
  and every report is accounted for (``tests/system/crash.py``).
- ``nodes``: three collectors on one PostgreSQL are killed at once.
- ``alone``: one of three collectors on one PostgreSQL is killed and started again while the others
  go on, or all of them are.
- ``database``: the database server under a collector is killed, once to three times.
- ``workers``: one of two workers at the door is killed, or all of them.
- ``clock``: the collector's clock jumps back and forth meanwhile.
- ``powercut``: the power of the disk is cut (``tests/system/disk.py``), on ext4 and on xfs.
- ``twins``: collectors with one mistake each, which must be found out (``tests/system/twins.py``).
- ``limits``: full disks, under the collector and under PostgreSQL, and too little memory
  (``tests/system/test_disk.py``, ``tests/system/test_memory_limit.py``).
- ``fuzz``: every decoder gets bytes that nobody meant to send (``tests/fuzz/decoders.py``).
- ``memory``: one server gets a million reports, and its size is watched.
- ``shuffle``: two shufflers in a chain are killed while a batch passes them
  (``tests/system/hop_crash.py``).
- ``chain``: two shufflers and the collector behind them are killed while a batch passes them
  (``tests/system/chain_crash.py``).
- ``chaintwins``: chains with one mistake each (``tests/system/chain_twins.py``).

What was seen goes to ``docs/evidence/soak.md``, a section per part; sections of other parts stay.
Anything wrong is printed there as well and makes the exit code 1.

Whoever has not enough time at once runs a part in pieces: ``--kept FOLDER`` adds the trials to
those of earlier pieces in that folder, and ``--first`` is the first seed of the piece.  A folder
belongs to one state of the code: begin another one if the collector has changed.
"""

import argparse
import multiprocessing
import pickle
import platform
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
EVIDENCE = HERE.parent / "docs" / "evidence" / "soak.md"
sys.path.insert(0, str(TESTS))

from fuzz.decoders import DECODERS, Finding, fuzz  # noqa: E402
from system.chain_evidence import (  # noqa: E402
    chain_section,
    chain_twins_section,
    missed_chain_twins,
    run_chain,
)
from system.chain_twins import TWINS as CHAIN_TWINS  # noqa: E402
from system.chain_twins import run_chain_twin  # noqa: E402
from system.crash import (  # noqa: E402
    MANY,
    NO_DATABASE,
    QUOTA,
    ROUNDS,
    UPLOADERS,
    Database,
    Result,
    Trial,
    database_kills,
    missed_points,
    node_kills,
    random_scenario,
    worker_kills,
)
from system.disk import disk  # noqa: E402
from system.hop_crash import FAKES, PEOPLE, HopTrial  # noqa: E402
from system.memory import Memory, measure  # noqa: E402
from system.twins import TWINS, is_found_out, run_twin  # noqa: E402

SLOW = {
    "the upload route": 0.02,
    "admission.admit": 0.3,
    "codec.task": 0.3,
}  # of the share of other decoders
INPUTS_AT_ONCE = 5_000
NODES = 3
WORKERS = 2
FURTHEST_JUMP = 3 * 86_400  # seconds, less than the shortest retention
LIMITS = {
    "disks": ["tests/system/test_disk.py"],
    "memory": ["tests/system/test_memory_limit.py"],
}


@dataclass(frozen=True)
class Job:
    """One trial: ``kind`` is a store, a file system or a twin, whatever its part tells apart."""

    part: str
    kind: str
    seed: int


@dataclass
class Soaked:
    """Everything that goes to the page."""

    trials: dict[str, dict[str, list[Result]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    limits: Counter[str] = field(default_factory=Counter)
    memory: Memory | None = None
    findings: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def main() -> None:
    """Run what was asked for, write the page, and exit with 1 if anything was found."""
    wanted = arguments()
    parts = wanted.only.split(",") if wanted.only else list(PARTS)
    soaked = Soaked()
    for part in parts:
        PARTS[part].run(soaked, wanted)
        if wanted.kept:
            add_earlier(soaked, part, wanted.kept)
        before = EVIDENCE.read_text() if EVIDENCE.exists() else ""
        EVIDENCE.write_text(page(part, soaked, before))  # now: a later part may take hours
    found = [f"{part}: {one}" for part, all_of in soaked.findings.items() for one in all_of]
    for finding in found:
        print(f"FOUND: {finding}")
    print(f"{len(found)} findings; {EVIDENCE.relative_to(HERE.parent)} is written")
    sys.exit(bool(found))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help=f"comma-separated parts: {', '.join(PARTS)}")
    parser.add_argument(
        "--trials", type=int, default=110, help="crash trials on SQLite; half as many on PostgreSQL"
    )
    parser.add_argument(
        "--others", type=int, default=30, help="trials of nodes, clock, and each file system"
    )
    parser.add_argument("--chains", type=int, default=32, help="trials of whole chains")
    parser.add_argument("--twins", type=int, default=3, help="trials of each twin")
    parser.add_argument("--limits", type=int, default=3, help="runs of each limit")
    parser.add_argument(
        "--inputs", type=int, default=1_000_000, help="inputs for all decoders together"
    )
    parser.add_argument("--reports", type=int, default=1_000_000, help="reports of the memory run")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="no new trial of a part after this; 0: no end"
    )
    parser.add_argument("--at-once", type=int, default=2, help="processes side by side")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first trial")
    parser.add_argument(
        "--kept", type=Path, default=None, help="the folder of earlier pieces, which are added"
    )
    wanted = parser.parse_args()
    unknown = set(filter(None, wanted.only.split(","))) - set(PARTS)
    if unknown:
        parser.error(f"--only: no such part: {', '.join(sorted(unknown))}")
    return wanted


def add_earlier(soaked: Soaked, part: str, folder: Path) -> None:
    """Add what earlier pieces of a part have seen, and keep the sum for later ones."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}.pickle"
    if path.exists():
        earlier: Soaked = pickle.loads(path.read_bytes())
        for kind, results in earlier.trials[part].items():
            soaked.trials[part][kind] = results + soaked.trials[part][kind]
        for name, outcomes in earlier.outcomes.items():
            soaked.outcomes[name] += outcomes
        soaked.limits += earlier.limits
        soaked.findings[part] = earlier.findings[part] + soaked.findings[part]
    whole = Soaked(outcomes=dict(soaked.outcomes), limits=soaked.limits)
    whole.trials = {part: dict(soaked.trials[part])}
    whole.findings = {part: soaked.findings[part]}
    path.write_bytes(pickle.dumps(whole))


# Trials


def crash(soaked: Soaked, wanted: argparse.Namespace) -> None:
    # A trial has one death or two: more than 150 on SQLite, and more than 70 on PostgreSQL.
    run_trials(soaked, wanted, "crash", {"sqlite": wanted.trials, "postgres": wanted.trials // 2})
    _find_missed_points(soaked, "crash")


def nodes(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "nodes", {"postgres": wanted.others})
    _find_missed_points(soaked, "nodes")


def alone(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "alone", {"postgres": wanted.others})


def database(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "database", {"postgres": wanted.others})


def workers(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "workers", {"sqlite": wanted.trials})


def clock(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "clock", {"sqlite": wanted.others})
    _find_missed_points(soaked, "clock")


def powercut(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "powercut", {"ext4": wanted.others, "xfs": wanted.others})
    _find_missed_points(soaked, "powercut")


def _find_missed_points(soaked: Soaked, part: str) -> None:
    """Tell of points at which no trial died although it was their turn."""
    for kind, results in soaked.trials[part].items():
        soaked.findings[part] += [
            f"{kind}: no trial reached the point `{point}` although it was to die there"
            for point in missed_points(results)
        ]


def shuffle(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "shuffle", {"sqlite": wanted.trials, "postgres": wanted.others})


def chain(soaked: Soaked, wanted: argparse.Namespace) -> None:
    run_trials(soaked, wanted, "chain", {"sqlite": wanted.chains, "postgres": wanted.chains // 4})


def chain_twins(soaked: Soaked, wanted: argparse.Namespace) -> None:
    """Run every chain with a mistake; what is wrong is one that was not found out."""
    run_trials(soaked, wanted, "chaintwins", dict.fromkeys(CHAIN_TWINS, wanted.twins))
    soaked.findings["chaintwins"] += missed_chain_twins(soaked.trials["chaintwins"])


def twins(soaked: Soaked, wanted: argparse.Namespace) -> None:
    """Run every twin; what is wrong is a twin that was not found out."""
    run_trials(soaked, wanted, "twins", dict.fromkeys(TWINS, wanted.twins))
    for name, results in soaked.trials["twins"].items():
        missed = [result.seed for result in results if not is_found_out(name, result)]
        soaked.findings["twins"] += [f"{name}, trial {seed}: not found out" for seed in missed]


def run_trials(
    soaked: Soaked, wanted: argparse.Namespace, part: str, counts: dict[str, int]
) -> None:
    """Run the trials of a part, some side by side, each process with a database server of its
    own.
    """
    told: Any = multiprocessing.Queue()
    until = time.monotonic() + 60 * wanted.minutes if wanted.minutes else float("inf")
    # Kinds take turns, so that a limit of time shortens all of them alike.
    jobs = [
        Job(part, kind, wanted.first + turn)
        for turn in range(max(counts.values()))
        for kind, count in counts.items()
        if turn < count
    ]
    shares = [jobs[index :: wanted.at_once] for index in range(wanted.at_once)]
    processes = [
        multiprocessing.Process(target=work, args=(share, until, told)) for share in shares if share
    ]
    for process in processes:
        process.start()
    left, done, findings = len(processes), 0, soaked.findings[part]
    while left:
        said = told.get()
        if isinstance(said, str):  # a process has ended, or could not go on
            left -= 1
            findings += [said] if said else []
            continue
        job, result = said
        done += 1
        soaked.trials[part][job.kind].append(result)
        if part not in ("twins", "chaintwins"):
            findings += [f"{job.kind}, trial {job.seed}: {one}" for one in result.findings]
        show(f"{part}: {done} of {len(jobs)} trials, {len(findings)} findings")
    show("", end=True)
    for process in processes:
        process.join()


def work(jobs: Sequence[Job], until: float, told: Any) -> None:
    """Run some trials and tell of each; at the end tell what stopped them, or nothing."""
    try:
        with ExitStack() as stack:
            databases = Databases(stack)
            for job in jobs:
                if time.monotonic() > until:
                    break
                told.put((job, trial(job, databases)))
        told.put("")
    except BaseException as error:  # pytest's skip is one
        told.put(f"{type(error).__name__}: {error}")


class Databases:
    """The databases of one process, on a server that is started when the first is needed."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self._server = stack, None

    def create(self, name: str) -> Database:
        from postgres_server import running

        if self._server is None:
            self._server = self._stack.enter_context(running())
        server: Any = self._server
        return Database(server.create(name), lambda: server.control("restart", "-m", "immediate"))


def trial(job: Job, databases: Databases) -> Result:
    """Run one trial in a folder of its own, which stays if there is something to look at."""
    folder = Path(tempfile.mkdtemp(prefix=f"sottovoce-soak-{job.part}-{job.seed}-"))
    if job.part == "twins":
        result = run_twin(job.kind, folder / "data", job.seed)
        shutil.rmtree(folder)
        return result
    if job.part == "chaintwins":
        found: Any = run_chain_twin(job.kind, folder, job.seed)
        shutil.rmtree(folder)
        return found
    result = run_sound(job, folder, databases)
    if result.findings:
        result.findings.append(f"see {folder}")
    else:
        shutil.rmtree(folder)
    return result


def run_sound(job: Job, folder: Path, databases: Databases) -> Result:
    """Run a trial of the collector, or of two shufflers, as they are."""
    if job.part == "shuffle":
        return run_hops(job, folder, databases)
    if job.part == "chain":
        return run_chain(job, folder, databases)
    dice = random.Random(f"kills {job.seed}")
    store = "postgres" if job.kind == "postgres" else "sqlite"
    scenario = random_scenario(dice, job.seed, store)
    place = NO_DATABASE
    if job.kind == "postgres":
        place = databases.create(f"soak_{job.part}_{job.seed}")
    if job.part == "nodes":
        scenario = replace(scenario, nodes=NODES)
    if job.part == "alone":
        scenario = replace(scenario, nodes=NODES, kills=node_kills(dice))
    if job.part == "database":
        scenario = replace(scenario, kills=database_kills(dice))
    if job.part == "workers":
        scenario = replace(scenario, workers=WORKERS, kills=worker_kills(dice))
    if job.part == "clock":
        scenario = replace(scenario, jumps=random_jumps(dice))
    if job.part == "powercut":
        with disk(job.kind, folder / "data") as made:
            return Trial(made.folder, job.seed, scenario, disk=made).run()
    return Trial(folder / "data", job.seed, scenario, place).run()


def run_hops(job: Job, folder: Path, databases: Databases) -> Any:
    urls = ["", ""]
    if job.kind == "postgres":
        urls = [databases.create(f"hop{hop}_{job.seed}").url for hop in range(2)]
    return HopTrial(folder, job.seed, urls).run()


def random_jumps(dice: random.Random) -> dict[int, int]:
    """Return by how much the clock is wrong from each round on."""
    return {number: dice.randint(-FURTHEST_JUMP, FURTHEST_JUMP) for number in range(ROUNDS)}


# The other parts


def limits(soaked: Soaked, wanted: argparse.Namespace) -> None:
    """Run the tests of each limit some times over."""
    for name, files in LIMITS.items():
        for _ in range(wanted.limits):
            command = [sys.executable, "-m", "pytest", "-q", "-rs", "--no-header", *files]
            done = subprocess.run(
                command, cwd=HERE.parent, capture_output=True, text=True, check=False
            )
            counts = pytest_counts(done.stdout)
            soaked.limits[f"{name}: tests passed"] += counts["passed"]
            soaked.limits[f"{name}: tests skipped"] += counts["skipped"]
            if done.returncode:
                soaked.findings["limits"].append(f"{name}: {done.stdout[-2000:]}")
            show(f"limits: {dict(soaked.limits)}, {len(soaked.findings['limits'])} findings")
    show("", end=True)


def pytest_counts(output: str) -> Counter[str]:
    """Return the numbers of the last line that pytest prints."""
    words = output.strip().splitlines()[-1].replace(",", "").split()
    numbers = {word: int(number) for number, word in pairwise(words) if number.isdigit()}
    return Counter(numbers)


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
            soaked.findings["fuzz"] += [finding] if finding else []
            done += outcomes.total()
            show(f"fuzzing: {done:,} inputs, {len(soaked.findings['fuzz'])} findings")
    show("", end=True)


def fuzz_piece(job: tuple[str, int, int]) -> tuple[str, Counter[str], str]:
    name, seed, count = job
    try:
        return name, fuzz(name, seed + 1, count), ""
    except Finding as finding:
        return name, Counter(), str(finding)


def remember(soaked: Soaked, wanted: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="sottovoce-memory-") as folder:
        soaked.memory = measure(Path(folder) / "data", wanted.reports, show)
    show("", end=True)
    soaked.findings["memory"] += soaked.memory.findings


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


# The page


def page(done: str, soaked: Soaked, before: str) -> str:
    """Return the page with the section of a part that is done; the others stay as before."""
    titles = _titles(before)
    kept = {
        name: _section(before, part.title) for name, part in PARTS.items() if part.title in titles
    }
    said = ", ".join(f"{what} {version}" for what, version in versions().items())
    ending = f"Findings: {len(soaked.findings[done])}. Run with {said}."
    found = [f"- {one.splitlines()[0]}" for one in soaked.findings[done] if "see /" not in one]
    lines = [f"## {PARTS[done].title}\n", *PARTS[done].section(soaked), f"\n{ending}"]
    lines += ["", *found] if found else []
    kept[done] = "\n".join(lines)
    head = (
        "# What a collector survives\n\n"
        "Written by `make soak` (`scripts/soak.py`), which fails if anything is lost, doubled, "
        "changed or not refused\n"
        "on purpose, or if a collector with a mistake is not found out. Each part can be run "
        "alone\n"
        "(`python scripts/soak.py --only powercut`) and then writes its own section.\n"
    )
    return "\n".join([head, *(kept[name].strip() + "\n" for name in PARTS if name in kept)])


def _titles(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


def _section(text: str, title: str) -> str:
    return f"## {title}\n" + text.split(f"## {title}\n")[1].split("\n## ")[0]


def crash_section(soaked: Soaked) -> list[str]:
    return [
        f"Each trial is one task of {ROUNDS} rounds whose questions depend on all reports before "
        f"them; {UPLOADERS}\n"
        "threads upload over connections that stay open, and replay; every second task asks for "
        "enrolment tokens.\n"
        f"A task has {QUOTA} users, or in every fourth trial {MANY} who upload one by one, which "
        "is more than the store\n"
        "reads at once.  Every second trial goes on until the time of retention is over and the "
        "reports are erased.\n"
        "The server gets SIGKILL up to three times, first at a named point of its own code or of "
        "its worker's (all points\n"
        "come in turn), then at random moments, and is started again.  Afterwards each "
        "acknowledged message must be in one\n"
        "sealed log once, and nothing else in any; counts, checksums, users, spent tokens, "
        "questions and the answer\n"
        "must be those that the messages give, bit for bit; no other file may be left; and the "
        "answer must outlive the\n"
        "reports.  A collector counts as stuck if it answers 20,000 requests and nothing changes, "
        "or leaves more than ten\n"
        "in a row without an answer for half a minute each.\n",
        *trial_table(soaked, "crash"),
    ]


def nodes_section(soaked: Soaked) -> list[str]:
    return [
        f"The same with {NODES} collectors on one PostgreSQL and one folder, which are killed at "
        "once and started again.\n",
        *trial_table(soaked, "nodes"),
    ]


def alone_section(soaked: Soaked) -> list[str]:
    results = [one for trials in soaked.trials["alone"].values() for one in trials]
    taken = sum(one.taken_without for one in results)
    return [
        f"{NODES} collectors on one PostgreSQL and one folder.  Two of three deaths are those of "
        "one of them, which is started\n"
        "again alone, up to half a second later; the others are those of all at once.  While a "
        f"node was away the others\nacknowledged {taken:,} messages.\n",
        *trial_table(soaked, "alone"),
    ]


def database_section(soaked: Soaked) -> list[str]:
    return [
        "One collector, and the server of its database is killed and started again, once to three "
        "times in a trial; the\n"
        "collector has to live on.\n",
        *trial_table(soaked, "database"),
    ]


def workers_section(soaked: Soaked) -> list[str]:
    return [
        f"The same with {WORKERS} workers at the door of one collector.  Two of three deaths are "
        "those of one worker, which\n"
        "the collector has to replace by itself; the others are those of the whole collector.\n",
        *trial_table(soaked, "workers"),
    ]


def clock_section(soaked: Soaked) -> list[str]:
    return [
        "The same while the collector's clock is set, half-way through each round, to be wrong by "
        "up to three days in\n"
        "either direction.\n",
        *trial_table(soaked, "clock"),
    ]


def powercut_section(soaked: Soaked) -> list[str]:
    return [
        "The same on a file system in an image of its own.  Whenever the collector dies, the "
        "kernel is told to abandon the\n"
        "file system without a flush (`EXT4_IOC_SHUTDOWN`, `XFS_IOC_GOINGDOWN`): what was not "
        "synced and had not been\n"
        "written by chance is gone, data and journal alike.  The image is mounted again, and "
        "everything that had been\n"
        "acknowledged must be there.  The image counts as a disk that keeps what it was given, in "
        "order: a disk that lies\n"
        "about a flush is not tried.\n",
        *trial_table(soaked, "powercut"),
    ]


def twins_section(soaked: Soaked) -> list[str]:
    lines = [
        "Collectors with one mistake each, in the trials above; a twin that is not found out is a "
        "finding.\n",
        "| mistake | trials | found out | for example |",
        "|---|---:|---:|---|",
    ]
    for name, results in soaked.trials["twins"].items():
        caught = [result for result in results if is_found_out(name, result)]
        example = next(
            (one for result in caught for one in result.findings if TWINS[name].word in one), ""
        )
        lines.append(f"| {name} | {len(results)} | {len(caught)} | {example[:90]} |")
    return lines


def limits_section(soaked: Soaked) -> list[str]:
    return [
        "A full disk under the embedded store, under the sealed logs and under PostgreSQL (for its "
        "tables, and for its\n"
        "journal); and a server under a memory limit below what sealing needs, killed, started "
        "again, and the\n"
        "limit lifted.\n",
        "| | |\n|---|---:|",
        *(f"| {name} | {count} |" for name, count in sorted(soaked.limits.items())),
    ]


def trial_table(soaked: Soaked, part: str) -> list[str]:
    """Return what the trials of a part did, in columns by kind."""
    trials = soaked.trials[part]
    head = f"| | {' | '.join(trials)} |\n|---|{'---:|' * len(trials)}"
    rows: dict[str, Callable[[Result], int]] = {
        "trials": lambda one: 1,
        "deaths of the collector": lambda one: one.kills.total() - one.kills["the database server"],
        "deaths of the database server": lambda one: one.kills["the database server"],
        "messages sent": lambda one: one.messages,
        "acknowledged": lambda one: one.acknowledged,
        "refused as too late, and not counted": lambda one: one.too_late,
        "sent again before they were acknowledged": lambda one: one.resent,
        "replayed after they were acknowledged": lambda one: one.replayed,
        "uploads turned away for a while": lambda one: one.turned_away,
        "acknowledged and lost": lambda one: sum("lost" in what for what in one.findings),
        "counted twice": lambda one: sum("doubled" in what for what in one.findings),
        "trials with any finding": lambda one: int(bool(one.findings)),
    }
    return [
        head,
        *(f"| {name} | {cells(trials, of)} |" for name, of in rows.items()),
        "\nIn which state the death left the task:\n",
        head,
        *histogram(trials, "states"),
        "\nWhat killed the collector:\n",
        head,
        *histogram(trials, "kills"),
    ]


def cells(trials: dict[str, list[Result]], of: Callable[[Result], int]) -> str:
    return " | ".join(f"{sum(of(one) for one in results):,}" for results in trials.values())


def histogram(trials: dict[str, list[Result]], name: str) -> list[str]:
    totals = [
        sum((getattr(one, name) for one in results), Counter[str]()) for results in trials.values()
    ]
    keys = sorted({key for total in totals for key in total})
    return [f"| {key} | {' | '.join(str(total[key]) for total in totals)} |" for key in keys]


def fuzz_section(soaked: Soaked) -> list[str]:
    total = sum(outcomes.total() for outcomes in soaked.outcomes.values())
    lines = [
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
    return lines


def memory_section(soaked: Soaked) -> list[str]:
    return soaked.memory.lines() if soaked.memory else []


def shuffle_section(soaked: Soaked) -> list[str]:
    trials: Any = soaked.trials["shuffle"]
    head = f"| | {' | '.join(trials)} |\n|---|{'---:|' * len(trials)}"
    rows: dict[str, Callable[[Any], int]] = {
        "trials": lambda one: 1,
        "deaths of shufflers": lambda one: one.kills.total(),
        "messages acknowledged": lambda one: one.messages,
        "sent again, and acknowledged as duplicates": lambda one: one.sent_again,
        "parts of batches sent again": lambda one: one.parts_again,
        "acknowledged and lost": lambda one: sum("lost" in what for what in one.findings),
        "arrived twice": lambda one: sum("doubled" in what for what in one.findings),
        "second orders sent": lambda one: sum("second order" in what for what in one.findings),
        "trials with any finding": lambda one: int(bool(one.findings)),
    }
    return [
        f"Each trial is a batch of {PEOPLE} people through two real shufflers, each of which adds "
        f"{FAKES} fakes, to a receiver\n"
        "that keeps every part it is ever sent.  Shufflers get SIGKILL at random moments and at "
        "named points of their own\n"
        "code, while they take, mix, deliver and erase, and are started again.  Afterwards every "
        "acknowledged message\n"
        "must have arrived once, one order may have been sent, and no sealed message, batch file "
        "or private key may be\n"
        "left in their folders.\n",
        head,
        *(f"| {name} | {cells(trials, of)} |" for name, of in rows.items()),
        "\nWhat killed a shuffler:\n",
        head,
        *histogram(trials, "kills"),
    ]


@dataclass(frozen=True)
class Part:
    """A part of the soak: what runs it, and what writes its section."""

    title: str
    run: Callable[[Soaked, argparse.Namespace], None]
    section: Callable[[Soaked], list[str]]


PARTS = {
    "crash": Part("Crashes", crash, crash_section),
    "nodes": Part("Several nodes", nodes, nodes_section),
    "alone": Part("One of several nodes", alone, alone_section),
    "database": Part("Deaths of the database server", database, database_section),
    "workers": Part("Workers at the door", workers, workers_section),
    "clock": Part("Clocks that jump", clock, clock_section),
    "powercut": Part("Power cuts", powercut, powercut_section),
    "twins": Part("Collectors with a mistake", twins, twins_section),
    "limits": Part("Full disks and too little memory", limits, limits_section),
    "fuzz": Part("Random bytes", fuzz_all, fuzz_section),
    "memory": Part("Memory", remember, memory_section),
    "shuffle": Part("Shufflers", shuffle, shuffle_section),
    "chain": Part("Whole chains", chain, lambda soaked: chain_section(soaked.trials["chain"])),
    "chaintwins": Part(
        "Chains with a mistake",
        chain_twins,
        lambda soaked: chain_twins_section(soaked.trials["chaintwins"]),
    ),
}


if __name__ == "__main__":
    main()
