"""Affine response: hash by a random affine map over GF(2), then randomise the bucket.  The default.

Every report supports a uniformly random affine subspace of the padded domain, which gives the accuracy
of subset selection at ten bytes a report; one Walsh-Hadamard transform decodes all values at once,
and any linear target scores a report with as many look-ups as there are buckets.  A public
permutation keeps ranges from being subspaces themselves.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import exp, inf, prod

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.noise import BalancedNoise, IndependentNoise
from sottovoce.core.packing import below, rows
from sottovoce.core.product_target import OuterProduct, ProductTarget
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact, hashing
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR

REPORT = np.dtype([("seed", "<u8"), ("bucket", "<u2")])
LONGEST_SPECTRUM = 28  # bits; beyond that only candidates are decoded


@dataclass(frozen=True)
class AffineResponse(PureMechanism, kind="affine"):
    """Report a seed and a bucket; ``groups`` are the widths of bit groups that are permuted apart.

    >>> AffineResponse(epsilon=1.0, size=1024).buckets
    4
    """

    epsilon: float
    size: int
    buckets: int = 0
    groups: tuple[int, ...] = ()
    keep: int = threshold()

    smallest = 3  # one bucket of two needs at least two bits of index
    largest = 1 << hashing.LONGEST
    permuted = True

    def prepare(self) -> None:
        self.settle("buckets", 1 << best_rank(self.epsilon, self.size))
        most = min(self.bits - 1, hashing.MAX_RANK)
        if self.buckets.bit_count() != 1 or not 2 <= self.buckets <= 1 << most:
            raise ParameterError(f"buckets of this domain are a power of two from 2 to {1 << most}")
        if self.groups and (min(self.groups) < 1 or sum(self.groups) != self.bits):
            raise ParameterError(f"the widths of groups must sum to {self.bits} bits")
        self.settle("keep", GRR(self.epsilon, self.buckets).keep)

    @property
    def bits(self) -> int:
        """Return the bits of an index: m."""
        return (self.size - 1).bit_length()

    @property
    def rank(self) -> int:
        """Return the bits of a bucket: k."""
        return self.buckets.bit_length() - 1

    @property
    def cells(self) -> int:
        """Return the size of the padded domain: D."""
        return 1 << self.bits

    @cached_property
    def response(self) -> GRR:
        """Return what randomises the bucket."""
        return GRR(self.epsilon, self.buckets, self.keep)

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return (self.cells // self.buckets - self.p) / (self.cells - 1)

    @property
    def worst_ratio(self) -> Fraction:
        return self.response.worst_ratio  # whatever the seed's law: it is drawn before the value is looked at

    @property
    def noise(self) -> BalancedNoise:
        return BalancedNoise.subsets(self.p, self.cells, self.cells // self.buckets)

    @property
    def width(self) -> int:
        return REPORT.itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        points = self.points(self.check(values))
        reports = np.empty(len(points), REPORT)
        reports["seed"] = rng.longs(len(points))
        hashed = hashing.affine_hash(reports["seed"], points, self.bits, self.rank)
        reports["bucket"] = self.response.privatize(hashed.astype(np.int64), rng)
        return reports

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, REPORT)
        below(self.buckets, reports["bucket"])
        return reports

    def points(self, values: Values) -> Values:
        """Return the values where the hash sees them: permuted, if this kind permutes."""
        return hashing.permute(values, self.bits, self.groups) if self.permuted else values

    def support(self, reports: Reports, candidates: Values) -> Bools:
        table = hashing.affine_hash_table(reports["seed"], self.points(candidates), self.bits, self.rank)
        return np.asarray(table == reports["bucket"][:, None])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels import affine

        seeds, buckets = _columns(reports)
        return affine.candidate_supports(seeds, buckets, self.points(candidates), self.bits, self.rank)

    def tally(self, reports: Reports) -> Tally:
        """Return the integer spectrum; its Walsh-Hadamard transform holds the support counts."""
        from sottovoce.kernels import affine

        self._check_decodable()
        seeds, buckets = _columns(reports)
        return Tally(self.key, len(reports), {"spectrum": affine.spectrum(seeds, buckets, self.bits, self.rank)})

    def supports(self, tally: Tally) -> Ints:
        from sottovoce.kernels import affine

        spectrum = self.check_tally(tally)["spectrum"]
        return affine.supports(
            spectrum, self.bits, self.rank, groups=self.groups, permuted=self.permuted, size=self.size
        )

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        from sottovoce.kernels import affine, walsh

        self._check_decodable()
        placed = affine.placed(coefficients, self.bits, self.groups, permuted=self.permuted)
        return self._read(reports, walsh.transform(placed))

    def score_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        if self.groups:
            scores = [self._score_groups(reports, term, target) for term in target.terms]
            return np.asarray(sum(scores))
        if len(target.terms) == 1:
            return self._score_outer(reports, target.terms[0])
        return self.score(reports, target.dense(self.size))

    def _score_outer(self, reports: Reports, term: OuterProduct) -> Floats:
        """Return ``score`` for one outer product, without listing its cells one by one."""
        from sottovoce.kernels import affine, walsh

        self._check_decodable()
        slow = term.weight * reduce(np.multiply.outer, term.factors[:-1], np.ones(1)).ravel()
        return self._read(reports, walsh.transform(affine.placed_product(slow, term.factors[-1], self.bits)))

    def _score_groups(self, reports: Reports, term: OuterProduct, target: ProductTarget) -> Floats:
        """Return the votes for one outer product where every axis takes whole groups of bits."""
        weight = term.weight
        tables = []
        for factor, radix in zip(term.factors, target.radices, strict=True):
            if radix == 1:
                weight *= float(factor[0])
                continue
            if id(factor) not in target.transformed:
                target.transformed[id(factor)] = factor_table(factor)
            tables.append(target.transformed[id(factor)])
        return weight * self.score_product(reports, tables[::-1])

    def _read(self, reports: Reports, transformed: Floats) -> Floats:
        from sottovoce.kernels import affine

        raw = affine.scores(*_columns(reports), transformed, self.bits, self.rank)
        return np.asarray((raw - self.q * transformed[0]) / (self.p - self.q))

    def score_product(self, reports: Reports, tables: Sequence[Floats]) -> Floats:
        """Return one vote per report for a target that is a product over the groups of bits, the lowest first.

        Of each factor its ``factor_table`` is given.
        """
        from sottovoce.kernels import affine

        raw = affine.factor_scores(*_columns(reports), tables, self.groups, self.bits, self.rank)
        whole = prod(float(table[0]) for table in tables)
        return np.asarray((raw - self.q * whole) / (self.p - self.q))

    def outcomes(self) -> Reports:
        seeds = np.array([0, 1, 1 << 32, 0x0123456789ABCDEF, (1 << 64) - 1], np.uint64)
        made = np.empty(len(seeds) * self.buckets, REPORT)
        made["seed"] = np.repeat(seeds, self.buckets)
        made["bucket"] = np.tile(np.arange(self.buckets), len(seeds))
        return made

    def likelihood(self, reports: Reports) -> Floats:
        lie = (1 - self.p) / (self.buckets - 1)
        return np.where(self.support(reports, np.arange(self.size)), self.p, lie)

    def _check_decodable(self) -> None:
        if self.bits > LONGEST_SPECTRUM:
            raise ParameterError(f"domains above 2^{LONGEST_SPECTRUM} are decoded for chosen candidates only")


def factor_table(factor: Floats) -> Floats:
    """Return a factor of a target where the hash sees it, transformed; nobody holds the padding."""
    from sottovoce.kernels import affine, walsh

    return walsh.transform(affine.placed(factor, (len(factor) - 1).bit_length()))


def best_rank(epsilon: float, size: int) -> int:
    """Return the k with the least variance averaged over the real cells; ties to the smaller.

    >>> [best_rank(epsilon, 1 << 16) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [1, 2, 3, 6]
    """
    bits = (size - 1).bit_length()
    ranks = range(1, max(1, min(bits - 1, hashing.MAX_RANK)) + 1)
    return min(ranks, key=lambda rank: (_cost(*_support_chances(epsilon, bits, rank), size), rank))


def _cost(p: float, q: float, size: int) -> float:
    """Return the variance, infinite for an epsilon so small that doubles do not tell p from q; thresholds refuse it."""
    return average_variance(p, q, size) if p > q else inf


def average_variance(p: float, q: float, size: int) -> float:
    """Return the exact variance per user averaged over a domain, whatever the population."""
    noise = IndependentNoise.of(p, q)
    return noise.unheld + noise.held / size


def _support_chances(epsilon: float, bits: int, rank: int) -> tuple[float, float]:
    buckets, cells = 1 << rank, 1 << bits
    p = exp(epsilon) / (exp(epsilon) + buckets - 1)
    return p, (cells // buckets - p) / (cells - 1)


def _columns(reports: Reports) -> tuple[Values, Values]:
    return np.ascontiguousarray(reports["seed"]), np.ascontiguousarray(reports["bucket"])
