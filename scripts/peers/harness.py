"""What every adapter shares: the same people for everybody, CPU time per user, and the error of the
estimate.

Standard library only, since it runs in each library's own environment.  An adapter maps the name of
an oracle to a function of (epsilon, size) that returns a ``Job``; it is called as

    python for_library.py ORACLE SIZE USERS REPEATS EPSILON

and prints one JSON object.
"""

import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import accumulate
from time import process_time
from typing import Any


@dataclass
class Job:
    """The two halves of an oracle: values to reports, and reports to the estimated number of people
    per value.
    """

    client: Callable[[Sequence[int]], Any]
    server: Callable[[Any], Iterable[float]]
    bytes: Callable[[Any], float]  # of one report, given all of them
    single: Callable[[int], Any] | None = (
        None  # the client for one person, where ``client`` takes all at once
    )
    theory: float = (
        0.0  # variance per user of an unbiased estimate averaged over the domain, where it is known
    )
    note: str = ""
    warm_up: int = 2000  # people of the run that compiles, before the clock starts


def main(oracles: dict[str, Callable[[float, int], Job]], *packages: str) -> None:
    """Run the oracle that the command line names and print what it took."""
    oracle, size, users, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    job = oracles[oracle](float(sys.argv[5]), size)
    job.server(job.client(people(job.warm_up, size, 0)))
    runs = [_once(job, size, people(users, size, seed)) for seed in range(1, repeats + 1)]
    client, server, weight, squares, top = zip(*runs, strict=True)
    result = {
        "client": min(client),
        "server": min(server),
        "bytes": weight[0],
        "single": _single(job, size),
    }
    result |= {
        "mse": sum(squares) / repeats,
        "theory": job.theory,
        "top": sum(top) / repeats,
        "note": job.note,
    }
    print(json.dumps(result | {"versions": _versions(packages)}))


def people(users: int, size: int, seed: int) -> list[int]:
    """Return values that follow Zipf's law, alike in every process."""
    weights = list(accumulate(1 / rank for rank in range(1, size + 1)))
    return random.Random(seed).choices(range(size), cum_weights=weights, k=users)


def memory(report: Any) -> float:
    """Return the bytes of a report as its library returns it: arrays as they lie in memory, a
    number as eight.
    """
    if isinstance(report, (bytes, bytearray)):
        return len(report)
    if hasattr(report, "nbytes"):
        return float(report.nbytes)
    return sum(map(memory, report)) if isinstance(report, (tuple, list)) else 8


def _once(job: Job, size: int, values: list[int]) -> tuple[float, float, float, float, float]:
    """Return microseconds per user of both halves, bytes per report, squared error per user, share
    of the top found.
    """
    start = process_time()
    reports = job.client(values)
    middle = process_time()
    weight = job.bytes(reports)
    begun = process_time()
    totals = [float(total) for total in job.server(reports)]
    ended = process_time()
    truth = [0] * size
    for value in values:
        truth[value] += 1
    error = (
        sum((total - true) ** 2 for total, true in zip(totals, truth, strict=True))
        / size
        / len(values)
    )
    client, server = (1e6 * seconds / len(values) for seconds in (middle - start, ended - begun))
    return client, server, weight, error, totals[0] / truth[0]


def _single(job: Job, size: int) -> float | None:
    """Return microseconds per user where each is a call of its own."""
    if job.single is None:
        return None
    values = people(200, size, 0)
    start = process_time()
    for value in values:
        job.single(value)
    return 1e6 * (process_time() - start) / len(values)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    return {"python": sys.version.split()[0], **{package: version(package) for package in packages}}
