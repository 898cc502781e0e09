"""Tests of whether reports can be honest, and what mechanisms contribute to them.

An honest device draws part of its report independently of the value, such as a seed, a mask or a
coin.  The law of that part is known exactly, and does not depend on the values that people hold.  A
test compares the law with the reports.  It detects implausible reports, but not who sent them or
why: a broken random number generator of an honest app looks the same as an attack.

Every test alarms on honest reports with a probability of at most ``FALSE_ALARM``.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

from sottovoce.arrays import Ints, Values
from sottovoce.maths import binomial

FALSE_ALARM = 1e-6  # of one test of one round
MIN_SEED_COUNT = 1 << 32  # of mechanisms whose seeds hardly ever agree


@dataclass(frozen=True)
class PlausibilityTest:
    """One test of the reports of a round; it alarms if the statistic exceeds the threshold.

    ``p_value`` bounds the probability of such a statistic if all reports are honest.  A multiple
    comparison within the test, such as that over all values, is counted in both.
    """

    name: str
    statistic: float
    threshold: float
    p_value: float
    reports: int

    @property
    def alarm(self) -> bool:
        """Return whether honest reports would hardly ever look like this."""
        return self.statistic > self.threshold


@dataclass(frozen=True)
class PairLaw:
    """How likely a report supports two given values: one of which its user holds, or neither.

    ``spread`` bounds how much more a sum over pairs varies than one of independent pairs.
    """

    one_held: float
    none_held: float
    spread: float = 1.0


@dataclass(frozen=True, eq=False)
class PublicHash:
    """Where public hashes put some candidates, and which bucket each report names.

    A report names the bucket of its user's value with probability ``p``, and any other bucket with
    equal probability.  ``points`` is how many points the hash deals evenly to its buckets; 0 if it
    deals every point by itself.
    """

    table: Values  # (reports, candidates)
    answers: Values
    buckets: int
    p: float
    q: float
    points: int = 0

    @property
    def gap(self) -> float:
        """Return by how much the true bucket is more likely than another one."""
        return self.p - (1 - self.p) / (self.buckets - 1)

    def every(self, step: int) -> "PublicHash":
        """Return one in ``step`` reports."""
        return replace(self, table=self.table[::step], answers=self.answers[::step])


def largest_count(
    name: str, counts: Ints, chance: float, trials: int, *, alpha: float = FALSE_ALARM
) -> PlausibilityTest:
    """Return the test of the largest of some counts, each binomial with one chance.

    The counts may depend on each other.
    """
    return largest_of(name, int(counts.max()), BinomialCounts(chance, trials, len(counts)), alpha)


@dataclass(frozen=True)
class BinomialCounts:
    """The law of several binomial counts with the same number of trials and the same chance."""

    chance: float
    trials: int
    compared: int


def largest_of(
    name: str, count: int, law: BinomialCounts, alpha: float = FALSE_ALARM
) -> PlausibilityTest:
    """Return the test of the largest of several counts."""
    chance, trials = law.chance, law.trials
    tail = alpha / law.compared
    limit = binomial.upper_quantile(tail, trials, chance)
    deviation = sqrt(trials * chance * (1 - chance)) or 1.0
    p_value = min(1.0, law.compared * binomial.at_least(count, trials, chance))
    mean = trials * chance
    return PlausibilityTest(
        name, (count - mean) / deviation, (limit - mean) / deviation, p_value, trials
    )


def equal_seeds(
    pairs: int, reports: int, seed_count: int, alpha: float = FALSE_ALARM
) -> PlausibilityTest:
    """Return the test of how many pairs of reports have equal seeds.

    Each seed is one of ``seed_count`` at random.
    Pairs of independent reports agree with the chance 1 / seed_count, and any two pairs
    independently.  Of ``MIN_SEED_COUNT`` seeds or more, so few of so many pairs agree that their
    number has the law of independent trials.
    """
    compared = reports * (reports - 1) // 2
    limit = binomial.upper_quantile(alpha, compared, 1 / seed_count)
    p_value = binomial.at_least(pairs, compared, 1 / seed_count)
    return PlausibilityTest("equal seeds", float(pairs), float(limit), p_value, reports)


def weakest(tests: list[PlausibilityTest]) -> PlausibilityTest:
    """Return the test with the least p-value, with it multiplied by the number of tests."""
    chosen = min(tests, key=lambda test: (test.p_value, -_excess(test)))
    p_value = min(1.0, len(tests) * chosen.p_value)
    return PlausibilityTest(
        chosen.name, chosen.statistic, chosen.threshold, p_value, chosen.reports
    )


def _excess(test: PlausibilityTest) -> float:
    return test.statistic / test.threshold if test.threshold > 0 else inf
