"""Tests of public seeds, pooled over all addresses whose seeds have one law, and the seed filter.

Honest seeds are drawn before the value is looked at.  So their law is known whatever people hold,
and leaving out reports by their seeds alone biases nothing: honest reports that are lost this way
are a random sample.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sottovoce.arrays import Bools, Ints, Reports
from sottovoce.core.plausibility import (
    FALSE_ALARM,
    MIN_SEED_COUNT,
    BinomialCounts,
    PlausibilityTest,
    equal_seeds,
    largest_of,
)
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.seed_pairs import SeedPairs
from sottovoce.mechanisms.base import Mechanism

SPECTRUM = "seed spectrum"
PAIRS = "seed pairs"
BYTES_AT_ONCE = 1 << 24  # of reports whose evidence is summed up together
FRESH_SEEDS = 1 << 17  # drawn to learn the distribution of the number of marks of honest seeds
TOO_OFTEN = 2.0  # times as often as honest seeds: such a number of marks is left out


@dataclass
class Pool:
    """The evidence of addresses whose reports have one law, and their public seeds."""

    mechanism: Mechanism
    evidence: Tally
    seeds: SeedPairs = field(default_factory=SeedPairs)

    def tests(self, fakes: int, alpha: float = FALSE_ALARM) -> list[PlausibilityTest]:
        """Return the tests that the mechanism makes, and that of equal seeds."""
        tests = list(self.mechanism.plausibility(self.evidence, fakes=fakes, alpha=alpha))
        if self.seeds.count:
            pairs = self.seeds.equal()
            seed_count = self.mechanism.seed_count
            tests.append(equal_seeds(pairs, self.seeds.count, seed_count, alpha))
        return tests

    def add(self, evidence: Tally, reports: Reports) -> None:
        """Add the evidence of some more reports."""
        self.evidence = self.evidence + evidence
        if self.mechanism.seed_count >= MIN_SEED_COUNT:
            self.seeds.add(self.mechanism.seeds_of(reports))


def pooled(parts: Iterable[tuple[Mechanism, Reports]]) -> dict[str, Pool]:
    """Return the evidence of batches of reports by its key.

    A round may have thousands of addresses, and evidence is as long as a domain.  Small batches of
    equal mechanisms are therefore joined first.
    """
    pools: dict[str, Pool] = {}
    for mechanism, reports in _put_together(parts):
        evidence = mechanism.evidence(reports)
        if evidence.key not in pools:
            pools[evidence.key] = Pool(mechanism, mechanism.evidence(reports[:0]))
        pools[evidence.key].add(evidence, reports)
    return pools


def _put_together(
    parts: Iterable[tuple[Mechanism, Reports]],
) -> Iterator[tuple[Mechanism, Reports]]:
    """Yield joined reports of equal mechanisms, in batches of bounded size."""
    waiting: dict[Mechanism, list[Reports]] = {}
    size = 0
    for mechanism, reports in parts:
        waiting.setdefault(mechanism, []).append(reports)
        size += reports.nbytes
        if size >= BYTES_AT_ONCE:
            yield from _joined(waiting)
            waiting = {}
            size = 0
    yield from _joined(waiting)


def _joined(waiting: dict[Mechanism, list[Reports]]) -> Iterator[tuple[Mechanism, Reports]]:
    for mechanism, parts in waiting.items():
        yield mechanism, np.concatenate(parts) if len(parts) > 1 else parts[0]


def seed_pairs(candidates: Candidates, alpha: float = FALSE_ALARM) -> PlausibilityTest | None:
    """Return the test of how often seeds put two candidates into one bucket.

    It stands in for the spectrum where a domain is too large for it.  Candidates were found in the
    same reports, so that all pairs of the domain are counted, or all differences.
    """
    hashed = candidates.hashed
    if hashed is None or len(candidates) < 2:
        return None
    most = 0
    for first in range(len(candidates) - 1):
        shared = hashed.table[:, first + 1 :] == hashed.table[:, first : first + 1]
        most = max(most, int(np.count_nonzero(shared, axis=0).max()))
    size = candidates.mechanism.size
    compared = hashed.points - 1 if hashed.points else size * (size - 1) // 2
    law = BinomialCounts(candidates.mechanism.overlap, candidates.users, compared)
    return largest_of(PAIRS, most, law, alpha)


def fresh_reports(mechanism: Mechanism, rng: Rng) -> Reports:
    """Return reports with honest seeds, to compare with."""
    return mechanism.draw_blanket(FRESH_SEEDS, rng)


def plausible_seeds(pool: Pool, reports: Reports, fresh: Reports) -> Bools:
    """Return for every report whether the seed filter keeps it.

    A seed gets one mark for every implausible relation that it has.  The filter removes reports
    whose number of marks occurs more than twice as often as among ``fresh`` reports.
    """
    marks = pool.mechanism.seed_marks(reports, pool.evidence)
    if not marks.any():
        return np.ones(len(reports), bool)
    expected = pool.mechanism.seed_marks(fresh, pool.evidence)
    return np.asarray(~_too_often(marks, expected)[marks])


def _too_often(marks: Ints, expected: Ints) -> Bools:
    """Return for every number of marks whether it occurs too often."""
    count = int(max(marks.max(), expected.max())) + 1
    observed = np.bincount(marks, minlength=count) / len(marks)
    honest = np.bincount(expected, minlength=count) / len(expected)
    return np.asarray(observed > TOO_OFTEN * honest)
