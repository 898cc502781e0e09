"""RAPPOR with Bloom filters: hash the value to a few bits of a short vector, then flip every bit.

A baseline.  Reports have one length whatever the domain and are decoded against any list of
candidates.  But collisions put a floor under the error that no epsilon removes: at epsilon 4
hashing with a seed per user has less than a sixth of its variance.  Prefer more cohort bits than
candidates; beyond that only frequent values are found, and they are underestimated.

A value sets ``hashes`` bits, so two filters differ in at most 2 hashes bits.  Every bit is flipped
with probability f:

    f = 1 / (e^(epsilon / (2 hashes)) + 1)        worst ratio = ((1 - f) / f)^(2 hashes)

For a question that is asked again and again, a device remembers this *permanent* response and sends
*instantaneous* responses to it: a permanent 1 is sent as 1 with probability ``second_keep``, a
permanent 0 with ``second_flip``.  A reported bit is then 1 with

    p = (1 - f) second_keep + f second_flip        q = f second_keep + (1 - f) second_flip

However many reports are averaged, they reveal the permanent response and nothing more, so that
epsilon is that of the permanent response.

The cohort is the public seed and part of the report.  Epsilon is spent whole where two values of
the domain set 2 hashes different bits in some cohort; without such a pair less is spent, never
more.

Decoding is a non-negative lasso that selects values, then least squares on the selected ones.

Source: Erlingsson 2014; Wang 2021, section 3.1.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.core.packing import below, bit_rows, pack_bits, rows, unpack_bits
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import bucket, words_of, xxh32
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.base import second_threshold, threshold
from sottovoce.mechanisms.seeded import SeededMechanism

MAX_BITS = 1 << 16
MAX_HASHES = 16
MAX_COHORTS = 1 << 16

_MAX_LISTED_BITS = 12  # of reports that can all be listed
_MAX_BLOCK_COINS = 1 << 20  # coins of 8 bytes that are drawn together
_MAX_RATIOS = 1 << 24  # probabilities of values under the filters of others
_REPLICATES = 100
_FALSE_SELECTION = 0.05  # probability that any unheld value is selected, if values exceed rows
_UNPENALISED = 1e3  # a column this large has so small a coefficient that the penalty ignores it
_RIDGE = 1e-9  # values with the same filters share their users equally


@dataclass(frozen=True)
class Bloom(SeededMechanism, kind="bloom"):
    """Report a cohort and the value's Bloom filter under the hashes of the cohort, bits flipped.

    >>> Bloom(epsilon=4.0, size=60).width
    18
    """

    max_size = 1 << 20  # decoding holds the filters of all values

    epsilon: float
    size: int
    bits: int = 128
    hashes: int = 2
    cohorts: int = 8
    flip: int = threshold()
    second_keep: int = second_threshold()
    second_flip: int = second_threshold()

    def prepare(self) -> None:
        settings.whole("bits", self.bits, 2, MAX_BITS)
        settings.whole("hashes", self.hashes, 1, MAX_HASHES)
        settings.whole("cohorts", self.cohorts, 1, MAX_COHORTS)
        if 2 * self.hashes > self.bits:
            raise ParameterError(
                f"`bits` must be at least twice `hashes`, {2 * self.hashes}, not {self.bits}"
            )
        # f = 1 / (e^(epsilon / (2 hashes)) + 1); a larger f reveals less
        odds = exact.exp(exact.stated(self.epsilon) / (2 * self.hashes))
        self.set_default("flip", exact.threshold_above(1 / (odds + 1)))
        if not self.second_keep and not self.second_flip:
            return
        if not 0 < self.second_flip < self.second_keep:
            raise ParameterError(
                "`second_flip` must be above 0 and below `second_keep`:"
                " an instantaneous response sets a permanent 1 more often than a 0"
            )

    @property
    def reported(self) -> tuple[Fraction, Fraction]:
        """Return the probabilities that a bit of the filter, and any other bit, is reported as 1.

        Both responses are counted.
        """
        flip = exact.probability(self.flip)
        if not self.second_keep:
            return 1 - flip, flip
        keep = exact.probability(self.second_keep)
        again = exact.probability(self.second_flip)
        return (1 - flip) * keep + flip * again, flip * keep + (1 - flip) * again

    @property
    def epsilon_once(self) -> float | None:
        # Two filters differ in at most ``hashes`` bits of each.
        if not self.second_keep:
            return None
        p, q = self.reported
        return float(exact.log((p * (1 - q) / (q * (1 - p))) ** self.hashes))

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(exact.UNIT - self.flip, self.flip) ** (2 * self.hashes)

    @property
    def row(self) -> np.dtype[Any]:
        """Return the layout of a report."""
        return np.dtype([("cohort", "<u2"), ("bits", "u1", (-(-self.bits // 8),))])

    @property
    def width(self) -> int:
        return self.row.itemsize

    @property
    def seed_count(self) -> int:
        return self.cohorts

    def draw_seeds(self, rng: Rng, users: int) -> Ints:
        return rng.integers(self.cohorts, users)

    def seeds_of(self, reports: Reports) -> Ints:
        return np.asarray(reports["cohort"])

    def respond(self, values: Values, seeds: Ints, rng: Rng) -> Reports:
        return self.instantaneous(self._first_response(values, seeds, rng), rng)

    def permanent(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        return self._first_response(values, self.draw_seeds(rng, len(values)), rng)

    def instantaneous(self, reports: Reports, rng: Rng) -> Reports:
        """Return fresh responses to permanent ones; one word per bit is drawn, user by user."""
        if not self.second_keep:
            return reports
        sent = reports.copy()
        for block in _blocks(len(reports), self.bits):
            permanent = unpack_bits(reports["bits"][block], self.bits)
            words = rng.longs(permanent.size).reshape(permanent.shape)
            # second_flip is below second_keep, so that this also holds for permanent ones.
            set_anyway = words < np.uint64(self.second_flip)
            kept_ones = (words < np.uint64(self.second_keep)) & permanent.astype(bool)
            sent["bits"][block] = pack_bits(kept_ones | set_anyway)
        return sent

    def _first_response(self, values: Values, seeds: Ints, rng: Rng) -> Reports:
        reports = np.zeros(len(values), self.row)
        reports["cohort"] = seeds
        for block in _blocks(len(values), self.bits):
            filters = self.filters(reports["cohort"][block], values[block])
            flips = rng.bernoulli(self.flip, filters.size).reshape(filters.shape)
            reports["bits"][block] = pack_bits(filters ^ flips)
        return reports

    def draw_uniform(self, count: int, rng: Rng) -> Reports:
        reports = np.zeros(count, self.row)
        reports["cohort"] = rng.integers(self.cohorts, count)
        for block in _blocks(count, self.bits):
            users = len(reports["cohort"][block])
            coins = rng.bernoulli(exact.UNIT // 2, users * self.bits)
            reports["bits"][block] = pack_bits(coins.reshape(users, self.bits))
        return reports

    def filter_bits(self, cohorts: Ints, values: Values) -> Ints:
        """Return (users, hashes): the bits that each value sets in its cohort; some coincide."""
        seeds = cohorts.astype(np.int64)[:, None] * self.hashes + np.arange(self.hashes)
        return bucket(xxh32(words_of(values, 32)[:, None], seeds), self.bits).astype(np.int64)

    def filters(self, cohorts: Ints, values: Values) -> Bools:
        """Return (users, bits): the Bloom filter of each value in its cohort."""
        filters = np.zeros((len(values), self.bits), bool)
        np.put_along_axis(filters, self.filter_bits(cohorts, values), True, axis=1)
        return filters

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(self.row, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, self.row)
        below(self.cohorts, reports["cohort"])
        bit_rows(reports["bits"].tobytes(), self.bits)
        return reports

    def outcomes(self) -> Reports:
        if self.bits > _MAX_LISTED_BITS:
            raise ParameterError(f"reports can be listed up to {_MAX_LISTED_BITS} bits")
        patterns = np.arange(1 << self.bits)[:, None] >> np.arange(self.bits) & 1
        reports = np.zeros((self.cohorts, len(patterns)), self.row)
        reports["cohort"] = np.arange(self.cohorts)[:, None]
        reports["bits"] = pack_bits(patterns.astype(bool))
        return reports.reshape(-1)

    def telling_reports(self) -> Reports | None:
        """Return the filters of all values in all cohorts, as if no bit were flipped.

        Bits are flipped independently, so that the report that tells two values apart best has
        each of the bits in which they differ as one of the two has it.
        """
        if self.cohorts * self.size**2 > _MAX_RATIOS:
            return None
        cohorts, values = np.divmod(np.arange(self.cohorts * self.size), self.size)
        reports = np.zeros(len(values), self.row)
        reports["cohort"] = cohorts
        for block in _blocks(len(values), self.bits):
            reports["bits"][block] = pack_bits(self.filters(cohorts[block], values[block]))
        return reports

    def likelihood(self, reports: Reports) -> Floats:
        """Return (reports, size): the probability of each report, its cohort included."""
        reported = unpack_bits(reports["bits"], self.bits).astype(float)
        p, q = (float(chance) for chance in self.reported)
        logs = np.empty((len(reports), self.size))
        for cohort in np.unique(reports["cohort"]):
            members = reports["cohort"] == cohort
            filters = self.filters(np.full(self.size, cohort), np.arange(self.size)).astype(float)
            ones = reported[members]
            own_ones = ones @ filters.T  # ones at bits of the filter
            other_ones = ones.sum(axis=1, keepdims=True) - own_ones
            own_zeros = filters.sum(axis=1) - own_ones
            other_zeros = self.bits - own_ones - other_ones - own_zeros
            logs[members] = own_ones * log(p) + own_zeros * log(1 - p)
            logs[members] += other_ones * log(q) + other_zeros * log(1 - q)
        return np.asarray(np.exp(logs) / self.cohorts)

    def tally(self, reports: Reports) -> Tally:
        from sottovoce.kernels.unary import bit_counts

        users = np.bincount(reports["cohort"], minlength=self.cohorts).astype(np.int64)
        order = np.argsort(reports["cohort"], kind="stable")
        by_cohort = np.split(reports["bits"][order], np.cumsum(users)[:-1])
        bits = np.stack([bit_counts(cohort_bits, self.bits) for cohort_bits in by_cohort])
        return Tally(self.key, len(reports), {"users": users, "bits": bits})

    def estimate(self, tally: Tally) -> Estimate:
        """Return totals for the whole domain, with the variance of 100 bootstrap replicates.

        Replicates are seeded by the tally itself.  A value that is not selected has the total 0,
        and ``penalty / hashes`` people can hide behind it: no standard error is stated below that.
        """
        users = self.check_tally(tally)["users"]
        bits = tally["bits"]
        generator = np.random.default_rng(np.append(users, bits))
        rates = bits / np.maximum(users, 1)[:, None]
        redrawn = generator.binomial(users[:, None], rates, (_REPLICATES, *bits.shape))
        totals = self.decode(users, np.concatenate([bits[None], redrawn]))
        noise = SampledNoise(totals[1:], floor=self.penalty(tally.users) / self.hashes)
        return Estimate(totals[0], noise, tally.users, self.epsilon, steps=("lasso",))

    def decode(self, users: Ints, bits: Ints) -> Floats:
        """Return (collections, size): totals from (collections, cohorts, bits) counts of ones.

        ``users`` are those of each cohort.  Rows are scaled by the root of their cohort's share of
        the users.  Then coefficients are totals, and the noise of every row has the same known
        variance.
        """
        p, q = (float(chance) for chance in self.reported)
        root_share = np.sqrt(users / users.sum())[:, None]
        true_bits = (bits - users[:, None] * q) / (p - q)
        observed = (true_bits / np.where(root_share > 0, root_share, 1)).reshape(len(bits), -1)
        design = self.design(np.repeat(root_share, self.bits))
        selected = _selected(design, observed, self.penalty(int(users.sum())))
        return _least_squares(design, observed, selected)[:, : self.size]

    def design(self, scales: Floats) -> Any:
        """Return the sparse (cohorts * bits, size) matrix of the bits that each value sets, scaled.

        With more values than rows, the users of unselected values would be credited to others: a
        last column takes them in.
        """
        sparse, _ = _solvers()
        cohorts, values = np.divmod(np.arange(self.cohorts * self.size), self.size)
        set_rows = cohorts[:, None] * self.bits + self.filter_bits(cohorts, values)
        entries = np.unique(set_rows * self.size + values[:, None])  # some bits coincide
        row_indices, columns = np.divmod(entries, self.size)
        shape = (len(scales), self.size)
        matrix = sparse.csc_matrix((scales[row_indices], (row_indices, columns)), shape)
        if self.is_determined:
            return matrix
        return sparse.hstack([matrix, _UNPENALISED * scales[:, None]], "csc")

    def penalty(self, users: int) -> float:
        """Return the correlation with the residual from which a value is selected.

        With fewer values than rows least squares is safe, and one standard error keeps the rare
        values.  Otherwise a value must stand out of all the others.
        """
        p, q = (float(chance) for chance in self.reported)
        sigmas = 1.0 if self.is_determined else upper_quantile(_FALSE_SELECTION / self.size)
        return sigmas * sqrt(users * self.hashes * q * (1 - q)) / (p - q)

    @property
    def is_determined(self) -> bool:
        """Return whether there are fewer values than bits of all cohorts to tell them apart."""
        return self.size < self.cohorts * self.bits


def _selected(design: Any, observed: Floats, penalty: float) -> Bools:
    """Return (collections, columns): where the non-negative lasso has a coefficient."""
    _, lasso = _solvers()
    alpha = penalty / len(observed[0])
    solver = lasso(alpha, positive=True, fit_intercept=False, tol=1e-6, max_iter=100_000)
    coefficients = solver.fit(design, observed.T).coef_.reshape(len(observed), -1)
    return np.asarray(coefficients > 0)


def _least_squares(design: Any, observed: Floats, selected: Bools) -> Floats:
    """Return (collections, columns): least squares on the selected columns, and 0 elsewhere."""
    used = np.flatnonzero(selected.any(axis=0))
    columns = design[:, used]
    gram = (columns.T @ columns).toarray() + _RIDGE * np.eye(len(used))
    sides = (columns.T @ observed.T).T
    coefficients = np.zeros(selected.shape)
    for row, side, mine in zip(coefficients, sides, selected[:, used], strict=True):
        row[used[mine]] = np.linalg.solve(gram[np.ix_(mine, mine)], side[mine])
    return coefficients


def _solvers() -> tuple[Any, Any]:
    try:
        from scipy import sparse
        from sklearn.linear_model import Lasso
    except ImportError as missing:
        raise MissingExtraError(
            "decoding filters needs scikit-learn: pip install 'sottovoce[server]'"
        ) from missing
    return sparse, Lasso


def _blocks(users: int, bits: int) -> Iterator[slice]:
    """Yield slices of users whose bits are drawn together."""
    step = max(1, _MAX_BLOCK_COINS // bits)
    return (slice(start, start + step) for start in range(0, users, step))
