"""How often intervals of quantiles and of ranges contain the truth, and how long they are.

``python -m sottovoce.lab.experiments.quantiles`` prints the page that is kept in
``docs/evidence/quantiles.md``.

Two kinds of intervals read the same reports of Square Wave: those of the likelihood, which are the
product's, and those of a bootstrap of the smoothed decoding (EMS), which the source suggests.  The
truth is that of the people who reported.  Whether an interval of the likelihood contains the truth
is asked directly, without its ends; lengths, and the bootstrap, are taken from fewer collections.

Source: Li et al. 2020.
"""

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.cumulative_band import CumulativeBand
from sottovoce.core.tally import Tally
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
from sottovoce.lab.populations.number_shapes import number_shapes
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.distribution import DistributionAnswer
from sottovoce.plans.numbers.likelihood_intervals import LikelihoodIntervals

BUCKETS = 64
USERS = (1_000, 10_000, 100_000)
EPSILONS = (0.5, 1.0, 2.0)
RUNS = 40
LENGTH_RUNS = 2
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

    @property
    def wave(self) -> SquareWave:
        """Return the mechanism."""
        return SquareWave(self.epsilon, self.buckets)


@dataclass
class IntervalRecord:
    """How many intervals were tried, how many contained the truth, and the length of some."""

    intervals: int = 0
    covered: int = 0
    measured: int = 0
    length: float = 0.0

    def hit(self, is_covered: bool) -> None:
        """Count an interval."""
        self.intervals += 1
        self.covered += bool(is_covered)

    def measure(self, length: float) -> None:
        """Count the length of an interval."""
        self.measured += 1
        self.length += length

    @property
    def coverage(self) -> float:
        """Return the share of intervals that contained the truth."""
        return self.covered / self.intervals

    @property
    def mean_length(self) -> float:
        """Return the mean length."""
        return self.length / self.measured

    def __add__(self, other: "IntervalRecord") -> "IntervalRecord":
        return IntervalRecord(
            self.intervals + other.intervals,
            self.covered + other.covered,
            self.measured + other.measured,
            self.length + other.length,
        )


class IntervalRecords(dict[str, IntervalRecord]):
    """IntervalRecords by method and number, as in "likelihood 0.5"."""

    def __missing__(self, name: str) -> IntervalRecord:
        return self.setdefault(name, IntervalRecord())


@dataclass(frozen=True, eq=False)
class Drawing:
    """One collection: how many people are in each bucket, and how often each output came."""

    people: Ints
    counts: Ints

    def quantile(self, share: float) -> tuple[int, float]:
        """Return the bucket in which a share is reached, and where in the range.

        Within a bucket numbers are taken as evenly spread.
        """
        below = np.concatenate([[0.0], self.people.cumsum() / self.people.sum()])
        bucket = int(np.searchsorted(below, share - 1e-12)) - 1
        part = (share - below[bucket]) / (below[bucket + 1] - below[bucket])
        return bucket, float((bucket + part) / len(self.people))

    @property
    def parts(self) -> list[tuple[Ints, float]]:
        """Return the buckets of every part of the range, and the share of people in it."""
        places = np.array_split(np.arange(len(self.people)), PARTS)
        return [(part, float(self.people[part].sum() / self.people.sum())) for part in places]


def drawn(case: NumberCase, seed: int) -> Drawing:
    """Return a collection; outputs are drawn from their law, given what people hold."""
    generator = np.random.default_rng(seed)
    people = generator.multinomial(case.users, number_shapes(case.buckets)[case.shape])
    chances = case.wave.sliding.forward(np.eye(case.buckets))
    chances /= chances.sum(axis=1, keepdims=True)
    return Drawing(people, generator.multinomial(people, chances).sum(axis=0))


def answered(case: NumberCase, drawing: Drawing) -> DistributionAnswer:
    """Return the answer of a collection."""
    wave = case.wave
    key = wave.tally(np.zeros(1, np.int64)).key
    estimate = wave.estimate(Tally(key, case.users, {"outputs": drawing.counts}))
    counts = drawing.counts.astype(np.float64)
    band = CumulativeBand(counts, wave.inside, wave.outside, wave.window)
    labels = tuple(map(str, range(case.buckets)))
    edges = np.linspace(0, 1, case.buckets + 1)
    return DistributionAnswer("number", labels, estimate, wave.kind, edges=edges, band=band)


def measured(case: NumberCase, runs: int = RUNS, length_runs: int = LENGTH_RUNS) -> IntervalRecords:
    """Return the intervals of quantiles and ranges over seeded collections."""
    records = IntervalRecords()
    for seed in range(runs):
        drawing = drawn(case, seed)
        _add_hits(records, case, drawing)
        if seed < length_runs:
            answer = answered(case, drawing)
            _add_lengths(records, METHODS[0], answer, drawing)
            _add_lengths(records, METHODS[1], replace(answer, band=None), drawing)
    return records


def _add_hits(records: IntervalRecords, case: NumberCase, drawing: Drawing) -> None:
    """Count which true numbers the likelihood allows."""
    method = METHODS[0]
    found = LikelihoodIntervals(drawing.counts.astype(np.float64), case.wave.sliding)
    for share in SHARES:
        bucket, _ = drawing.quantile(share)
        records[f"{method} {share:g}"].hit(found.allows_quantile(share, bucket, LEVEL))
    for places, held in drawing.parts:
        inside = np.isin(np.arange(case.buckets), places)
        records[f"{method} ranges"].hit(found.allows_share(inside, held, LEVEL))


def _add_lengths(
    records: IntervalRecords, method: str, answer: DistributionAnswer, drawing: Drawing
) -> None:
    """Measure intervals, and count which of the bootstrap contain the truth."""
    users = float(drawing.people.sum())
    for share in SHARES:
        low, high = answer.quantile(share).interval(LEVEL)
        record = records[f"{method} {share:g}"]
        record.measure(high - low)
        if method == METHODS[1]:
            record.hit(low <= drawing.quantile(share)[1] <= high)
    for places, held in drawing.parts:
        low, high = answer.sum([answer.labels[place] for place in places]).interval(LEVEL)
        record = records[f"{method} ranges"]
        record.measure((high - low) / users)
        if method == METHODS[1]:
            record.hit(low <= users * held <= high)


def pooled(records: IntervalRecords, method: str) -> IntervalRecord:
    """Return the intervals of all quantiles together."""
    return sum((records[f"{method} {share:g}"] for share in SHARES), IntervalRecord())


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


def _records(pieces: MeasuredOnce, case: NumberCase) -> IntervalRecords:
    def measure() -> dict[str, Any]:
        return {name: asdict(record) for name, record in measured(case).items()}

    content = pieces.piece(str(case), measure)
    return IntervalRecords({name: IntervalRecord(**record) for name, record in content.items()})


def _below(records: IntervalRecords) -> bool:
    return pooled(records, METHODS[0]).coverage < LEAST


def _line(case: NumberCase, records: IntervalRecords) -> str:
    cells = [case.shape, f"{case.users:,}", f"{case.epsilon:g}"]
    for method in METHODS:
        quantiles, ranges = pooled(records, method), records[f"{method} ranges"]
        mark = " **below**" if method == METHODS[0] and _below(records) else ""
        cells.append(f"{quantiles.coverage:.3f}{mark} / {quantiles.mean_length:.3f}")
        cells.append(f"{ranges.coverage:.3f} / {ranges.mean_length:.3f}")
    return f"| {' | '.join(cells)} |"


def _by_quantile(found: list[IntervalRecords]) -> list[str]:
    lines = [
        "Every quantile by itself, over all cases.",
        "",
        "| quantile | likelihood | of its lowest case | bootstrap |",
        "|---|---:|---:|---:|",
    ]
    for share in SHARES:
        likelihood, bootstrap = (
            [records[f"{method} {share:g}"] for records in found] for method in METHODS
        )
        lowest = min(record.coverage for record in likelihood)
        together = [sum(each, IntervalRecord()).coverage for each in (likelihood, bootstrap)]
        lines.append(f"| {share:g} | {together[0]:.3f} | {lowest:.3f} | {together[1]:.3f} |")
    return lines


_HEAD = f"""# Intervals of quantiles and ranges

Printed by `python -m sottovoce.lab.experiments.quantiles`.
People hold a number in one of {BUCKETS} buckets and report by Square Wave.  Shares of {LEVEL:.0%}
intervals that contain the truth about these people, and their mean length in parts of the range,
or of all people: quantiles ({", ".join(f"{share:g}" for share in SHARES)} together), then ranges
(the quarters of the range).  *likelihood* are the intervals of the product, over {RUNS} seeded
collections of each case; *bootstrap* those of a bootstrap of the smoothed decoding (EMS), as
published, over {LENGTH_RUNS}, which is too few for one line and enough for all together.  A
coverage of {LEVEL:g} of {RUNS * len(SHARES)} quantiles has a standard error of
{(LEVEL * (1 - LEVEL) / (RUNS * len(SHARES))) ** 0.5:.3f}.

| shape | people | epsilon | likelihood: quantiles | ranges | bootstrap: quantiles | ranges |
|---|---:|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    print(page(from_arguments(__doc__)), end="")
