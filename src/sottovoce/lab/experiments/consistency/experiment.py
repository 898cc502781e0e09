"""Collections by OLH drawn at once, and the errors of every method of post-processing.

With an ideal hash the supports of different values in a report are independent, so a collection of
OLH is two binomial draws for each value.

Source: Wang et al. 2020, section V.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.lab.populations.zipf import rounded_power_law
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.postprocess.apply import apply, methods, rule_of
from sottovoce.postprocess.post_pos import answered
from sottovoce.postprocess.select import membership, select

METHODS = methods()
POST_POS = "post-pos"
ZIPF = rounded_power_law(1024, 1_000_000, 1.5)
EMOJI_VALUES = 1573
EMOJI_USERS = 884_427
EMOJI = rounded_power_law(EMOJI_VALUES, EMOJI_USERS, 1.5)
Z_95 = 1.959964


@dataclass(frozen=True, eq=False)
class ConsistencyExperiment:
    """Collections of one population, and what every method computes from the same draws."""

    truth: Ints
    epsilon: float
    runs: int
    seed: int

    @property
    def users(self) -> int:
        """Return the number of users."""
        return int(self.truth.sum())

    @property
    def mechanism(self) -> OLH:
        """Return the mechanism."""
        return OLH(self.epsilon, len(self.truth))

    @property
    def noise(self) -> IndependentNoise:
        """Return the law of the raw errors."""
        return IndependentNoise.of(self.mechanism.p, self.mechanism.q)

    @property
    def shares(self) -> Floats:
        """Return the true shares."""
        return self.truth / self.users

    @property
    def expected(self) -> float:
        """Return the expected mean squared error of raw shares: the average variance of a share."""
        variances = self.noise.variances(self.truth.astype(float), self.users)
        return float(variances.mean()) / self.users**2

    @cached_property
    def raw(self) -> Floats:
        """Return (runs, size): raw shares."""
        generator = np.random.default_rng(self.seed)
        p = self.mechanism.p
        q = self.mechanism.q
        shape = (self.runs, len(self.truth))
        counts = generator.binomial(self.truth, p, shape)
        counts = counts + generator.binomial(self.users - self.truth, q, shape)
        return np.asarray((counts / self.users - q) / (p - q))

    def estimate(self, run: int) -> Estimate:
        """Return the estimate of one collection."""
        return Estimate(self.raw[run] * self.users, self.noise, self.users, self.epsilon)

    @cached_property
    def _processed(self) -> dict[str, Floats]:
        return {}

    def processed(self, method: str) -> Floats:
        """Return (runs, size): shares after a method."""
        if method not in self._processed:
            self._processed[method] = rule_of(self.estimate(0), method)(self.raw)
        return self._processed[method]

    def full_error(self, method: str) -> float:
        """Return the mean squared error over the whole domain."""
        return float(((self.processed(method) - self.shares) ** 2).mean())

    def frequent_error(self, method: str, count: int) -> float:
        """Return the mean squared error over the truly most frequent values."""
        top = np.argsort(-self.truth, kind="stable")[:count]
        return float(((self.processed(method) - self.shares)[:, top] ** 2).mean())

    def set_error(self, method: str, sets: Floats) -> float:
        """Return the mean squared error over (sets, size) memberships."""
        return float(((self._set_answers(method, sets) - sets @ self.shares) ** 2).mean())

    def _set_answers(self, method: str, sets: Floats) -> Floats:
        if method == POST_POS:
            return answered(self.raw, sets)
        return np.asarray(self.processed(method) @ sets.T)


def random_sets(size: int, percent: float, count: int, seed: int) -> Floats:
    """Return (count, size): random sets of that percentage of the values."""
    generator = np.random.default_rng(seed)
    length = round(percent / 100 * size)
    return membership([generator.permutation(size)[:length] for _ in range(count)], size)


def flat_two_hundred(seed: int = 0) -> tuple[Ints, list[Ints]]:
    """Return a population on which PowerNS is not best, and 68 sets.

    200 values are equally frequent, the rest is rare.
    """
    weights = np.where(np.arange(EMOJI_VALUES) < 200, 1.0, 1e-4)
    truth = np.rint(EMOJI_USERS * weights / weights.sum()).astype(np.int64)
    truth[0] += EMOJI_USERS - truth.sum()
    generator = np.random.default_rng(seed)
    sizes = np.maximum(generator.poisson(10.4, 68), 1)
    return truth, [generator.permutation(707)[:size] for size in sizes]


class Selections(NamedTuple):
    """The method selected in each repetition, and the true error of every method."""

    methods: list[str]
    errors: dict[str, float]


def selections(epsilon: float, repetitions: int, seed: int) -> Selections:
    """Return which methods ``select`` takes for the sets of ``flat_two_hundred``."""
    truth, sets = flat_two_hundred()
    experiment = ConsistencyExperiment(truth, epsilon, 30, seed)
    members = membership(sets, len(truth))
    errors = {method: experiment.set_error(method, members) for method in (*METHODS, POST_POS)}
    selected = [
        select(experiment.estimate(run), sets, repetitions=10).method for run in range(repetitions)
    ]
    return Selections(selected, errors)


class CoverageSetting(NamedTuple):
    """The size of a domain, the users of a collection and their epsilon."""

    size: int
    users: int
    epsilon: float


COVERAGE_SETTINGS = (
    CoverageSetting(32, 4_000, 1.0),
    CoverageSetting(64, 4_000, 1.0),
    CoverageSetting(200, 20_000, 3.0),
    CoverageSetting(1024, 100_000, 1.0),
)


class Coverage(NamedTuple):
    """Shares of 95 % intervals that contain the truth, and their widths relative to raw intervals.

    Both have five entries: for a common, a middling and a rare value, for a range in the middle,
    and for the first half of the domain.
    """

    hits: Floats
    widths: Floats


def coverage(
    setting: CoverageSetting, method: str, errors: str, collections: int = 2_000
) -> Coverage:
    """Return the coverage of a method with one kind of errors; without it, of raw shares."""
    size, users, epsilon = setting
    truth = rounded_power_law(size, users, 1.1)
    mechanism = OUE(epsilon, size)
    generator = np.random.default_rng(size)
    cells = [0, 4, size // 2]
    ranges = [np.arange(size // 5, size - size // 7), np.arange(size // 2)]
    true_totals = np.append(truth[cells], [truth[chosen].sum() for chosen in ranges])
    hits = np.zeros(5)
    widths = np.zeros(5)
    for _ in range(collections):
        counts = generator.binomial(truth, mechanism.p)
        counts = counts + generator.binomial(users - truth, mechanism.q)
        raw = mechanism.estimate_counts(counts, users)
        processed = apply(raw, method, errors=errors) if errors else raw
        totals, reach = _totals_and_errors(processed, cells, ranges)
        hits += np.abs(totals - true_totals) <= Z_95 * reach
        widths += reach / _totals_and_errors(raw, cells, ranges)[1]
    return Coverage(hits / collections, widths / collections)


def _totals_and_errors(
    estimate: Estimate, cells: Sequence[int], ranges: Sequence[Ints]
) -> tuple[Floats, Floats]:
    sums = [estimate.sum(chosen) for chosen in ranges]
    totals = np.append(estimate.totals[list(cells)], [each.total for each in sums])
    errors = np.append(estimate.errors[list(cells)], [each.error for each in sums])
    return totals, errors
