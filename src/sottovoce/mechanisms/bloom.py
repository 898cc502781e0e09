"""RAPPOR with Bloom filters: hash the value to a few bits of a short vector, then flip every bit with the same chance.

A baseline.  Reports have one length whatever the domain and are decoded against any list of candidates, but collisions
put a floor under the error that no epsilon removes: hashing with a seed per user has less than a sixth of its variance
at epsilon 4.  Prefer more cohort bits than candidates; beyond, only frequent values are found, and they come out low.

The cohort is a public coin and part of the report, so chances are joint with it.  Epsilon is spent whole exactly where
two values of the domain set 2 ``hashes`` different bits in some cohort; without such a pair less is spent, never more.

Source: Erlingsson 2014; Wang 2021, section 3.1.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.core.packing import below, bit_rows, pack_bits, rows, unpack_bits
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import bucket, words_of, xxh32
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.base import Mechanism, threshold

_LIMITS = {"bits": (2, 1 << 16), "hashes": (1, 16), "cohorts": (1, 1 << 16)}
_LISTED = 12  # bits up to which all reports are listed
_BITS_AT_ONCE = 1 << 20  # coins of 8 bytes drawn together
_REPLICATES = 100
_STRAY = 0.05  # chance that any value nobody holds is selected, where there are more values than cohort bits
_UNPENALISED = 1e3  # a column this large needs so small a coefficient that the penalty does not see it
_RIDGE = 1e-9  # values with the same filters share their users equally


@dataclass(frozen=True)
class Bloom(Mechanism, kind="bloom"):
    """Report a cohort and the perturbed Bloom filter that its hash functions give the value.

    >>> Bloom(epsilon=4.0, size=60).width
    18
    """

    largest = 1 << 20  # decoding holds the filters of all values

    epsilon: float
    size: int
    bits: int = 128
    hashes: int = 2
    cohorts: int = 8
    flip: int = threshold()

    def prepare(self) -> None:
        for name, (least, most) in _LIMITS.items():
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
                raise ParameterError(f"{name} must be a whole number from {least} to {most}")
        if 2 * self.hashes > self.bits:
            raise ParameterError("a filter needs at least twice as many bits as hashes")
        odds = exact.exp(exact.divide(exact.stated(self.epsilon), 2 * self.hashes))
        self.settle("flip", exact.threshold_above(exact.divide(1, exact.add(odds, 1))))

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(exact.UNIT - self.flip, self.flip) ** (2 * self.hashes)  # two filters differ in no more bits

    @property
    def row(self) -> np.dtype[Any]:
        """Return the layout of a report."""
        return np.dtype([("cohort", "<u2"), ("bits", "u1", (-(-self.bits // 8),))])

    @property
    def width(self) -> int:
        return self.row.itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        reports = np.zeros(len(values), self.row)
        reports["cohort"] = rng.integers(self.cohorts, len(values))
        for part in _parts(len(values), self.bits):
            filters = self.filters(reports["cohort"][part], values[part])
            noise = rng.bernoulli(self.flip, filters.size).reshape(filters.shape)
            reports["bits"][part] = pack_bits(filters ^ noise)
        return reports

    def places(self, cohorts: Ints, values: Values) -> Ints:
        """Return (users, hashes): the bits that each value sets in its cohort; they may coincide."""
        seeds = cohorts.astype(np.int64)[:, None] * self.hashes + np.arange(self.hashes)
        return bucket(xxh32(words_of(values, 32)[:, None], seeds), self.bits).astype(np.int64)

    def filters(self, cohorts: Ints, values: Values) -> Bools:
        """Return (users, bits): the Bloom filter of each value in its cohort."""
        filters = np.zeros((len(values), self.bits), bool)
        np.put_along_axis(filters, self.places(cohorts, values), True, axis=1)
        return filters

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(self.row, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, self.row)
        below(self.cohorts, reports["cohort"])
        bit_rows(reports["bits"].tobytes(), self.bits)
        return reports

    def outcomes(self) -> Reports:
        if self.bits > _LISTED:
            raise ParameterError(f"reports are listed up to {_LISTED} bits")
        patterns = np.arange(1 << self.bits)[:, None] >> np.arange(self.bits) & 1
        listed = np.zeros((self.cohorts, len(patterns)), self.row)
        listed["cohort"] = np.arange(self.cohorts)[:, None]
        listed["bits"] = pack_bits(patterns.astype(bool))
        return listed.reshape(-1)

    def likelihood(self, reports: Reports) -> Floats:
        seen, flip = unpack_bits(reports["bits"], self.bits).astype(float), self.flip / exact.UNIT
        flipped = np.empty((len(reports), self.size))
        for cohort in np.unique(reports["cohort"]):
            mine = reports["cohort"] == cohort
            meant = self.filters(np.full(self.size, cohort), np.arange(self.size)).astype(float)
            flipped[mine] = seen[mine] @ (1 - meant).T + (1 - seen[mine]) @ meant.T
        return np.asarray(flip**flipped * (1 - flip) ** (self.bits - flipped) / self.cohorts)

    def tally(self, reports: Reports) -> Tally:
        from sottovoce.kernels.unary import bit_counts

        users = np.bincount(reports["cohort"], minlength=self.cohorts).astype(np.int64)
        order = np.argsort(reports["cohort"], kind="stable")
        apart = np.split(reports["bits"][order], np.cumsum(users)[:-1])
        bits = np.stack([bit_counts(one, self.bits) for one in apart])
        return Tally(self.key, len(reports), {"users": users, "bits": bits})

    def estimate(self, tally: Tally) -> Estimate:
        """Return totals for the whole domain, with the variance of 100 replicates seeded by the tally itself.

        A value that is not selected has the total 0, and ``penalty / hashes`` people can hide behind it: no standard
        error is stated below that.
        """
        users, bits = self.check_tally(tally)["users"], tally["bits"]
        generator = np.random.default_rng(np.append(users, bits))
        rates = bits / np.maximum(users, 1)[:, None]
        again = generator.binomial(users[:, None], rates, (_REPLICATES, *bits.shape))
        totals = self.decode(users, np.concatenate([bits[None], again]))
        noise = SampledNoise(totals[1:], floor=self.penalty(tally.users) / self.hashes)
        return Estimate(totals[0], noise, tally.users, self.epsilon, steps=("lasso",))

    def decode(self, users: Ints, bits: Ints) -> Floats:
        """Return (collections, size) totals from the (cohorts,) users and the (collections, cohorts, bits) counts.

        Rows are scaled by the root of their cohort's share of the users: then coefficients are totals, and the noise
        of every row has the same known variance.
        """
        flip, root = self.flip / exact.UNIT, np.sqrt(users / users.sum())[:, None]
        cleared = (bits - users[:, None] * flip) / (1 - 2 * flip)
        heard = (cleared / np.where(root > 0, root, 1)).reshape(len(bits), -1)
        design = self.design(np.repeat(root, self.bits))
        chosen = _selected(design, heard, self.penalty(int(users.sum())))
        return _least_squares(design, heard, chosen)[:, : self.size]

    def design(self, scales: Floats) -> Any:
        """Return the sparse (cohorts * bits, size) matrix of the bits that each value really sets, times row scales.

        With more values than rows the unselected ones would be credited to the others: a last column takes them in.
        """
        sparse, _ = _solvers()
        cohorts, values = np.divmod(np.arange(self.cohorts * self.size), self.size)
        lines = cohorts[:, None] * self.bits + self.places(cohorts, values)
        lines, columns = np.divmod(np.unique(lines * self.size + values[:, None]), self.size)
        matrix = sparse.csc_matrix((scales[lines], (lines, columns)), (len(scales), self.size))
        return matrix if self._determined else sparse.hstack([matrix, _UNPENALISED * scales[:, None]], "csc")

    def penalty(self, users: int) -> float:
        """Return the correlation with the residual from which a value is selected.

        Among fewer values than rows least squares is safe, and one standard error keeps the rare ones; beyond, a value
        must stand out of all the others.
        """
        flip = self.flip / exact.UNIT
        reach = 1.0 if self._determined else upper_quantile(_STRAY / self.size)
        return reach * sqrt(users * self.hashes * flip * (1 - flip)) / (1 - 2 * flip)

    @property
    def _determined(self) -> bool:
        return self.size < self.cohorts * self.bits


def _selected(design: Any, heard: Floats, penalty: float) -> Bools:
    """Return (collections, columns): where the non-negative lasso has a coefficient."""
    _, lasso = _solvers()
    solver = lasso(penalty / len(heard[0]), positive=True, fit_intercept=False, tol=1e-6, max_iter=100_000)
    coefficients = solver.fit(design, heard.T).coef_.reshape(len(heard), -1)
    return np.asarray(coefficients > 0)


def _least_squares(design: Any, heard: Floats, chosen: Bools) -> Floats:
    """Return (collections, columns): the coefficients of each collection's chosen columns, and 0 for the others."""
    ever = np.flatnonzero(chosen.any(axis=0))
    columns, coefficients = design[:, ever], np.zeros(chosen.shape)
    gram = (columns.T @ columns).toarray() + _RIDGE * np.eye(len(ever))
    sides = (columns.T @ heard.T).T
    for row, side, here in zip(coefficients, sides, chosen[:, ever], strict=True):
        row[ever[here]] = np.linalg.solve(gram[np.ix_(here, here)], side[here])
    return coefficients


def _solvers() -> tuple[Any, Any]:
    try:
        from scipy import sparse
        from sklearn.linear_model import Lasso
    except ImportError as missing:
        raise MissingExtraError("decoding filters needs scikit-learn: pip install 'sottovoce[server]'") from missing
    return sparse, Lasso


def _parts(users: int, bits: int) -> Iterator[slice]:
    step = max(1, _BITS_AT_ONCE // bits)
    return (slice(start, start + step) for start in range(0, users, step))
