"""How often intervals of quantiles and of ranges contain the truth, and how long they are.

``python -m sottovoce.lab.experiments.quantiles`` prints the page that is kept in
``docs/evidence/quantiles.md``.

Two kinds of intervals read the same reports of Square Wave: those of the likelihood, which are the
product's, and those of a bootstrap of the smoothed decoding (EMS), which the source suggests.  The
truth is that of the people who reported.

Source: Li et al. 2020.
"""

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.cumulative_band import CumulativeBand
from sottovoce.core.tally import Tally
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
from sottovoce.lab.populations.number_shapes import number_shapes
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.distribution import DistributionAnswer

BUCKETS = 64
USERS = (1_000, 10_000, 100_000)
EPSILONS = (0.5, 1.0, 2.0)
RUNS = 25
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
PARTS = 4  # ranges: the quarters of the range
LEVEL = 0.95
LEAST = 0.93  # of quantiles that each case should cover
METHODS = ("likelihood", "bootstrap")


@dataclass(frozen=True)
class NumberCase:
    """A shape, how many people have it, and the epsilon of their reports."""

    shape: str
    users: int
    epsilon: float
    buckets: int = BUCKETS


@dataclass
class IntervalRecord:
    """How many intervals were made, how many contained the truth, and their length together."""

    intervals: int = 0
    covered: int = 0
    length: float = 0.0

    def add(self, interval: tuple[float, float], truth: float, whole: float) -> None:
        """Count an interval; its length is taken in parts of the ``whole``."""
        low, high = interval
        self.intervals += 1
        self.covered += bool(low <= truth <= high)
        self.length += (high - low) / whole

    @property
    def coverage(self) -> float:
        """Return the share of intervals that contained the truth."""
        return self.covered / self.intervals

    @property
    def mean_length(self) -> float:
        """Return the mean length."""
        return self.length / self.intervals


Records = dict[str, IntervalRecord]  # by method and number, as in "likelihood 0.5"


def drawn(case: NumberCase, seed: int) -> tuple[DistributionAnswer, Ints]:
    """Return the answer of one collection and how many people are in each bucket.

    The counts of outputs are drawn from their law, given what people hold.
    """
    generator = np.random.default_rng(seed)
    wave = SquareWave(case.epsilon, case.buckets)
    people = generator.multinomial(case.users, number_shapes(case.buckets)[case.shape])
    chances = wave.sliding.forward(np.eye(case.buckets))
    chances /= chances.sum(axis=1, keepdims=True)
    counts = generator.multinomial(people, chances).sum(axis=0)
    key = wave.tally(np.zeros(1, np.int64)).key
    estimate = wave.estimate(Tally(key, case.users, {"outputs": counts}))
    band = CumulativeBand(counts.astype(np.float64), wave.inside, wave.outside, wave.window)
    labels = tuple(map(str, range(case.buckets)))
    edges = np.linspace(0, 1, case.buckets + 1)
    answer = DistributionAnswer("number", labels, estimate, wave.kind, edges=edges, band=band)
    return answer, people


def measured(case: NumberCase, runs: int = RUNS) -> Records:
    """Return the intervals of quantiles and ranges over seeded collections."""
    records: Records = {}
    for seed in range(runs):
        answer, people = drawn(case, seed)
        for method, read in zip(METHODS, (answer, replace(answer, band=None)), strict=True):
            _add_quantiles(records, method, read, people)
            _add_ranges(records, method, read, people)
    return records


def _add_quantiles(records: Records, method: str, answer: DistributionAnswer, people: Ints) -> None:
    below = np.concatenate([[0.0], people.cumsum() / people.sum()])
    for share in SHARES:
        # The bucket in which the share is reached; within it numbers are taken as evenly spread.
        bucket = int(np.searchsorted(below, share - 1e-12)) - 1
        part = (share - below[bucket]) / (below[bucket + 1] - below[bucket])
        truth = (bucket + part) / len(people)
        record = records.setdefault(f"{method} {share:g}", IntervalRecord())
        record.add(answer.quantile(share).interval(LEVEL), truth, 1.0)


def _add_ranges(records: Records, method: str, answer: DistributionAnswer, people: Ints) -> None:
    users = float(people.sum())
    for labels, held in zip(
        np.array_split(answer.labels, PARTS), np.array_split(people, PARTS), strict=True
    ):
        record = records.setdefault(f"{method} ranges", IntervalRecord())
        interval = answer.sum(labels.tolist()).interval(LEVEL)
        record.add(interval, float(held.sum()), users)


def pooled(records: Records, method: str) -> IntervalRecord:
    """Return the intervals of all quantiles together."""
    listed = [records[f"{method} {share:g}"] for share in SHARES]
    return IntervalRecord(
        sum(record.intervals for record in listed),
        sum(record.covered for record in listed),
        sum(record.length for record in listed),
    )


def cases() -> list[NumberCase]:
    """Return every case of the page."""
    settings = product(number_shapes(BUCKETS), USERS, EPSILONS)
    return [NumberCase(shape, users, epsilon) for shape, users, epsilon in settings]


# --- the page ------------------------------------------------------------------------------------


def page(pieces: MeasuredOnce | None = None) -> str:
    """Return the page as Markdown."""
    pieces = pieces or MeasuredOnce()
    found = {case: _records(pieces, case) for case in cases()}
    lines = [_HEAD]
    for case, records in found.items():
        lines.append(_line(case, records))
    below = [case for case, records in found.items() if _below(records)]
    lines += ["", f"{len(found) - len(below)} of {len(found)} cases cover {LEAST:.0%} or more."]
    return "\n".join([*lines, "", *_by_quantile(list(found.values()))]) + "\n"


def _records(pieces: MeasuredOnce, case: NumberCase) -> Records:
    def measure() -> dict[str, Any]:
        return {name: asdict(record) for name, record in measured(case).items()}

    content = pieces.piece(str(case), measure)
    return {name: IntervalRecord(**record) for name, record in content.items()}


def _below(records: Records) -> bool:
    return pooled(records, METHODS[0]).coverage < LEAST


def _line(case: NumberCase, records: Records) -> str:
    cells = [case.shape, f"{case.users:,}", f"{case.epsilon:g}"]
    for method in METHODS:
        quantiles, ranges = pooled(records, method), records[f"{method} ranges"]
        mark = " **below**" if method == METHODS[0] and _below(records) else ""
        cells.append(f"{quantiles.coverage:.3f}{mark} / {quantiles.mean_length:.3f}")
        cells.append(f"{ranges.coverage:.3f} / {ranges.mean_length:.3f}")
    return f"| {' | '.join(cells)} |"


def _by_quantile(found: list[Records]) -> list[str]:
    lines = [
        "Every quantile by itself, over all cases; the lowest case is the one with the fewest.",
        "",
        "| quantile | likelihood | lowest case | bootstrap | lowest case |",
        "|---|---:|---:|---:|---:|",
    ]
    for share in SHARES:
        cells = [f"{share:g}"]
        for method in METHODS:
            coverages: Floats = np.array(
                [records[f"{method} {share:g}"].coverage for records in found]
            )
            cells += [f"{coverages.mean():.3f}", f"{coverages.min():.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


_HEAD = f"""# Intervals of quantiles and ranges

Printed by `python -m sottovoce.lab.experiments.quantiles`.
People hold a number in one of {BUCKETS} buckets and report by Square Wave; {RUNS} seeded
collections of each case.  Shares of {LEVEL:.0%} intervals that contain the truth about these
people, and their mean length in parts of the range, or of all people: quantiles
({", ".join(f"{share:g}" for share in SHARES)} together), then ranges (the quarters of the range).
*likelihood* are the intervals of the product, *bootstrap* those of a bootstrap of the smoothed
decoding (EMS), as published.  A coverage of {LEVEL:g} of {RUNS * len(SHARES)} quantiles has a
standard error of {(LEVEL * (1 - LEVEL) / (RUNS * len(SHARES))) ** 0.5:.3f}.

| shape | people | epsilon | likelihood: quantiles | ranges | bootstrap: quantiles | ranges |
|---|---:|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(from_arguments(__doc__)), end="")
