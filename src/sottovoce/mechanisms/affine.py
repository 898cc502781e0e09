"""Affine response: hash by a random affine map over GF(2), then randomise the bucket.

The default for domains of more than 80 values.

A value x of m bits is hashed into g = 2^k buckets by k random linearly independent masks.  GRR over
g buckets then randomises the bucket:

    p = e^epsilon / (e^epsilon + g - 1)        q = (D / g - p) / (D - 1)        D = 2^m

Every report supports a uniformly random affine subspace of D / g points of the padded domain.  That
gives the accuracy of subset selection with ten bytes a report.  One Walsh-Hadamard transform
decodes all values at once, and any linear target scores a report with g look-ups.  A public
permutation keeps ranges of values from being subspaces themselves.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import exp, inf, prod
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Longs, Reports, Values
from sottovoce.core import settings
from sottovoce.core.influence import SizedSetInfluence
from sottovoce.core.noise import BalancedNoise, IndependentNoise
from sottovoce.core.packing import below, rows
from sottovoce.core.plausibility import (
    FALSE_ALARM,
    PairLaw,
    PlausibilityTest,
    PublicHash,
    largest_count,
)
from sottovoce.core.product_target import OuterProduct, ProductTarget
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import binomial, exact, hashing, integer_hashing, occupancy
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.seed_search import SeedSearch
from sottovoce.mechanisms.seeded import SeededMechanism

if TYPE_CHECKING:
    from sottovoce.kernels.affine import AffineReports, PointLayout

REPORT = np.dtype([("seed", "<u8"), ("bucket", "<u2")])
# The largest k that is derived from epsilon.  Documents of tables and sets do not state k: it is
# derived again whenever they are read.
MAX_DERIVED_RANK = 12
MAX_SPECTRUM_BITS = 28  # in larger domains only chosen candidates are decoded
MAX_TESTED_BITS = 22  # in larger domains not all differences of values are tested
MAX_TERM_TABLE = 1 << 20  # entries of a group of bits for several products at once
MAX_RELATIONS = 64  # implausible differences by which seeds are marked, the largest first


@dataclass(frozen=True)
class AffineResponse(SeededMechanism, PureMechanism, kind="affine"):
    """Report a seed and a bucket.

    ``groups`` are the widths of bit groups that are permuted separately, the lowest bits first;
    left out, all bits are permuted together.

    >>> AffineResponse(epsilon=1.0, size=1024).buckets
    4
    """

    epsilon: float
    size: int
    buckets: int = 0
    groups: tuple[int, ...] = ()
    keep: int = threshold()

    min_size = 3  # two buckets need at least two bits of index
    max_size = 1 << hashing.MAX_INTEGER_BITS
    permuted = True

    def prepare(self) -> None:
        self.set_default("buckets", 1 << best_rank(self.epsilon, self.size))
        max_rank = min(self.bits - 1, hashing.MAX_RANK)
        settings.power_of_two("buckets", self.buckets, 2, 1 << max_rank)
        if self.groups:
            settings.wholes("groups", self.groups, 1)
            hashing.check_groups(self.groups, self.bits)
        self.set_default("keep", GRR(self.epsilon, self.buckets).keep)

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
        """Return the mechanism that randomises the bucket."""
        return GRR(self.epsilon, self.buckets, self.keep)

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        # A report supports D / g points, so that p + (D - 1) q = D / g.
        return (self.cells // self.buckets - self.p) / (self.cells - 1)

    @property
    def worst_ratio(self) -> Fraction:
        # It holds for every seed, and the seed is drawn before the value is looked at.
        return self.response.worst_ratio

    @property
    def share(self) -> float:
        # Whatever the seed, the bucket of a blanket draw is uniform.
        return 1 / self.buckets

    @property
    def overlap(self) -> float:
        # A report supports D / g points: another one of the D - 1 is among the D / g - 1 others.
        return (self.cells // self.buckets - 1) / (self.cells - 1)

    @property
    def noise(self) -> BalancedNoise:
        return BalancedNoise.subsets(self.p, self.cells, self.cells // self.buckets)

    @property
    def influence_law(self) -> SizedSetInfluence:
        return SizedSetInfluence(self.p, self.q, self.cells // self.buckets, self.cells)

    @property
    def max_supported(self) -> int:
        # A report supports an affine subspace of dimension m - k.  It holds at most m - k + 1
        # affinely independent points, and any so many points span a subspace of that dimension.
        return self.bits - self.rank + 1

    def mean_supported(self, chosen: int) -> float:
        # Without the rule that masks are independent, values in general position fall into buckets
        # independently.  A map of smaller rank joins buckets of one of full rank, so that the rule
        # can only make the fullest bucket emptier: this is a bound, and nearly exact for g << D.
        return min(occupancy.mean_largest(chosen, self.buckets), float(self.max_supported))

    @property
    def seed_count(self) -> int:
        return 1 << 64

    @property
    def width(self) -> int:
        return REPORT.itemsize

    def draw_seeds(self, rng: Rng, users: int) -> Longs:
        return rng.longs(users)

    def seeds_of(self, reports: Reports) -> Longs:
        return np.asarray(reports["seed"])

    def respond(self, values: Values, seeds: Longs, rng: Rng) -> Reports:
        hashed = hashing.affine_hash(seeds, self.points(values), self.bits, self.rank)
        return self._join(seeds, self.response.privatize(hashed.astype(np.int64), rng))

    def report(self, value: int, rng: Rng) -> bytes:
        value = self.check_value(value)
        return self._report_under(rng.long(), value, rng)

    def report_seeded(self, value: int, draw: int, rng: Rng) -> bytes:
        return self._report_under(draw, self.check_value(value), rng)

    def _report_under(self, seed: int, value: int, rng: Rng) -> bytes:
        point = integer_hashing.permute(value, self.bits, self.groups) if self.permuted else value
        hashed = integer_hashing.affine_bucket(seed, point, self.bits, self.rank)
        response = self.response.response_to(hashed, rng)
        return seed.to_bytes(8, "little") + response.to_bytes(2, "little")

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        return self.draw_blanket_under(self.draw_seeds(rng, count), rng)

    def draw_blanket_under(self, seeds: Longs, rng: Rng) -> Reports:
        return self._join(seeds, self.response.draw_blanket(len(seeds), rng))

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        points = self.points(wanted)

        def hashed(seeds: Values, rows: Ints) -> Values:
            return hashing.affine_hash_rows(seeds, points[rows], self.bits, self.rank)

        search = SeedSearch(len(wanted), wanted.shape[1], rng.longs, hashed)
        reports = np.empty(len(wanted), REPORT)
        reports["seed"] = search.best(tries)
        reports["bucket"] = search.fullest_buckets(reports["seed"], rng)
        return reports

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        points = self.points(values)
        hashed = hashing.affine_hash(reports["seed"], points, self.bits, self.rank)
        return np.asarray(hashed == reports["bucket"])

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, REPORT)
        below(self.buckets, reports["bucket"])
        return reports

    def points(self, values: Values) -> Values:
        """Return the points that are hashed: the values, permuted if this kind permutes."""
        if not self.permuted:
            return values
        return hashing.permute(values, self.bits, self.groups)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        points = self.points(candidates)
        table = hashing.affine_hash_table(reports["seed"], points, self.bits, self.rank)
        return np.asarray(table == reports["bucket"][:, None])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels import affine

        return affine.candidate_supports(self._decodable(reports), self.points(candidates))

    def tally(self, reports: Reports) -> Tally:
        """Return the integer spectrum; its Walsh-Hadamard transform holds the support counts."""
        from sottovoce.kernels import affine

        self._check_decodable()
        spectrum = affine.spectrum(self._decodable(reports))
        return Tally(self.key, len(reports), {"spectrum": spectrum})

    def supports(self, tally: Tally) -> Ints:
        from sottovoce.kernels import affine

        spectrum = self.check_tally(tally)["spectrum"]
        return affine.supports(spectrum, self._layout(), self.rank, self.size)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        from sottovoce.kernels import affine, walsh

        self._check_decodable()
        target = affine.placed(coefficients, self._layout())
        return self._votes_for(reports, walsh.transform(target))

    def score_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        if self.groups:
            return self._score_groups(reports, target)
        if len(target.terms) == 1:
            return self._score_outer(reports, target.terms[0])
        if target.is_padded or target.size < self.size:
            return self.score(reports, target.dense(self.size))
        return self._score_outer_terms(reports, target)

    def _score_outer(self, reports: Reports, term: OuterProduct) -> Floats:
        """Return ``score`` for one outer product, without listing its cells one by one."""
        from sottovoce.kernels import affine, walsh

        self._check_decodable()
        slow = term.weight * reduce(np.multiply.outer, term.factors[:-1], np.ones(1)).ravel()
        return self._votes_for(
            reports, walsh.transform(affine.placed_product(slow, term.factors[-1], self.bits))
        )

    def _score_outer_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        """Return ``score`` for several outer products with one transform."""
        from sottovoce.kernels import affine, walsh

        self._check_decodable()
        first_fast = _even_split(target.radices)
        slow = np.stack(
            [term.weight * _outer_vector(term.factors[:first_fast]) for term in target.terms]
        )
        fast = np.stack([_outer_vector(term.factors[first_fast:]) for term in target.terms])
        return self._votes_for(reports, walsh.transform(affine.placed_terms(slow, fast, self.bits)))

    def _score_groups(self, reports: Reports, target: ProductTarget) -> Floats:
        """Return the votes for outer products where every axis takes whole groups of bits."""
        axes = [axis for axis, radix in enumerate(target.radices) if radix > 1]
        single = [axis for axis, radix in enumerate(target.radices) if radix == 1]
        weights = [
            term.weight * prod(float(term.factors[axis][0]) for axis in single)
            for term in target.terms
        ]
        # The lowest bits first, which are those of the last axis.
        tables = [
            [_table_of(term.factors[axis], target) for axis in axes[::-1]] for term in target.terms
        ]
        if len(weights) > 1 and len(weights) << max(self.groups) <= MAX_TERM_TABLE:
            return np.asarray(self._score_term_tables(reports, tables) @ np.array(weights))
        scores = [
            weight * self.score_product(reports, factors)
            for weight, factors in zip(weights, tables, strict=True)
        ]
        return np.asarray(sum(scores))

    def _score_term_tables(self, reports: Reports, tables: Sequence[Sequence[Floats]]) -> Floats:
        """Return (reports, terms): ``score_product`` of the tables of every term."""
        from sottovoce.kernels import affine

        factors = [np.stack(group, axis=1) for group in zip(*tables, strict=True)]
        sums = affine.term_scores(self._decodable(reports), factors, self.groups)
        whole = np.array([prod(float(table[0]) for table in term) for term in tables])
        return np.asarray((sums - self.q * whole) / (self.p - self.q))

    def _votes_for(self, reports: Reports, transformed: Floats) -> Floats:
        """Return one unbiased vote per report for a transformed target."""
        from sottovoce.kernels import affine

        sums = affine.scores(self._decodable(reports), transformed)
        # Entry 0 of a transform is the sum over all cells.
        return np.asarray((sums - self.q * transformed[0]) / (self.p - self.q))

    def score_product(self, reports: Reports, tables: Sequence[Floats]) -> Floats:
        """Return one vote per report for a target that is a product over the groups of bits.

        ``tables`` are the ``factor_table`` of each factor, that of the lowest bits first.
        """
        from sottovoce.kernels import affine

        sums = affine.factor_scores(self._decodable(reports), tables, self.groups)
        whole = prod(float(table[0]) for table in tables)
        return np.asarray((sums - self.q * whole) / (self.p - self.q))

    # --- whether reports can be honest ---

    @property
    def pair_law(self) -> PairLaw:
        # E[1_t 1_u] = p (s - 1) / (D - 1)                    t held, u not
        # E[1_u 1_v] = (s - 1)(s - 2 p) / ((D - 1)(D - 2))    neither held
        cells = self.cells
        supported = cells // self.buckets
        one_held = self.p * (supported - 1) / (cells - 1)
        none_held = (supported - 1) * (supported - 2 * self.p) / ((cells - 1) * (cells - 2))
        return PairLaw(one_held, none_held)

    def unrelated(self, candidates: Values) -> Values:
        # Seeds treat all pairs with the same difference equally: each difference may occur once.
        points = hashing.numbers_of(self.points(np.asarray(candidates)))
        chosen: list[int] = []
        differences: set[int] = set()
        for index, point in enumerate(points):
            new = {point ^ points[earlier] for earlier in chosen}
            if not new & differences:
                chosen.append(index)
                differences |= new
        return np.asarray(candidates)[chosen]

    def public_hash(self, reports: Reports, candidates: Values) -> PublicHash:
        points = self.points(np.asarray(candidates))
        table = hashing.affine_hash_table(reports["seed"], points, self.bits, self.rank)
        return PublicHash(table, reports["bucket"], self.buckets, self.p, self.q, self.cells)

    def evidence(self, reports: Reports) -> Tally:
        """Return how often each bucket was named, and the spectrum of the seeds.

        The spectrum is that of reports which name the bucket of point 0: a report supports the
        point w then if its masks annihilate w, so that all points w + x and x share a bucket.
        """
        named = np.bincount(reports["bucket"], minlength=self.buckets).astype(np.int64)
        sums = {"buckets": named}
        if self.has_seed_spectrum:
            sums["seeds"] = self._seed_spectrum(reports)
        return Tally(f"affine seeds({self.bits},{self.rank})", len(reports), sums)

    @property
    def has_seed_spectrum(self) -> bool:
        return self.bits <= MAX_TESTED_BITS

    def _seed_spectrum(self, reports: Reports) -> Ints:
        from sottovoce.kernels import affine

        zeros = np.zeros(len(reports), np.uint64)
        buckets = hashing.affine_hash(reports["seed"], zeros, self.bits, self.rank)
        return affine.spectrum(affine.AffineReports(reports["seed"], buckets, self.bits, self.rank))

    def _annihilations(self, evidence: Tally) -> Ints:
        """Return how many seeds annihilate each difference but 0, the difference 1 first."""
        from sottovoce.kernels import affine

        layout = affine.PointLayout(self.bits, permuted=False)
        return affine.supports(evidence["seeds"], layout, self.rank, self.cells)[1:]

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        # The offset of a seed makes the named bucket uniform, whatever the value.
        tests = [
            largest_count(
                "buckets", evidence["buckets"], 1 / self.buckets, evidence.users, alpha=alpha
            )
        ]
        if self.has_seed_spectrum:
            # Masks annihilate a difference with the chance that two points share a bucket.
            tests.append(
                largest_count(
                    "seed spectrum",
                    self._annihilations(evidence),
                    self.overlap,
                    evidence.users,
                    alpha=alpha,
                )
            )
        return tuple(tests)

    def seed_marks(self, reports: Reports, evidence: Tally) -> Ints:
        if not self.has_seed_spectrum:
            return super().seed_marks(reports, evidence)
        counts = self._annihilations(evidence)
        limit = binomial.upper_quantile(FALSE_ALARM / len(counts), evidence.users, self.overlap)
        largest = np.argsort(-counts, kind="stable")[:MAX_RELATIONS]
        differences = largest[counts[largest] > limit] + 1
        points = np.concatenate([[0], differences]).astype(np.uint64)
        table = hashing.affine_hash_table(reports["seed"], points, self.bits, self.rank)
        return np.asarray(np.count_nonzero(table[:, 1:] == table[:, :1], axis=1), np.int64)

    def outcomes(self) -> Reports:
        seeds = np.array([0, 1, 1 << 32, 0x0123456789ABCDEF, (1 << 64) - 1], np.uint64)
        reports = np.empty(len(seeds) * self.buckets, REPORT)
        reports["seed"] = np.repeat(seeds, self.buckets)
        reports["bucket"] = np.tile(np.arange(self.buckets), len(seeds))
        return reports

    def likelihood(self, reports: Reports) -> Floats:
        supports = self.support(reports, np.arange(self.size))
        return np.where(supports, self.p, (1 - self.p) / (self.buckets - 1))

    def _join(self, seeds: Longs, buckets: Values) -> Reports:
        reports = np.empty(len(seeds), REPORT)
        reports["seed"] = seeds
        reports["bucket"] = buckets
        return reports

    def _decodable(self, reports: Reports) -> "AffineReports":
        """Return the reports as the compiled loops take them."""
        from sottovoce.kernels.affine import AffineReports

        return AffineReports(reports["seed"], reports["bucket"], self.bits, self.rank)

    def _layout(self) -> "PointLayout":
        """Return the layout of the points of the values."""
        from sottovoce.kernels.affine import PointLayout

        return PointLayout(self.bits, self.groups, self.permuted)

    def _check_decodable(self) -> None:
        if self.bits > MAX_SPECTRUM_BITS:
            raise ParameterError(
                f"a domain of more than 2^{MAX_SPECTRUM_BITS} values is too large to decode whole:"
                " use estimate_among with candidates"
            )


def _table_of(factor: Floats, target: ProductTarget) -> Floats:
    """Return ``factor_table`` of a factor, kept with the target."""
    if id(factor) not in target.transformed:
        target.transformed[id(factor)] = factor_table(factor)
    return target.transformed[id(factor)]


def _outer_vector(factors: Sequence[Floats]) -> Floats:
    return np.asarray(reduce(np.multiply.outer, factors, np.ones(1))).ravel()


def _even_split(radices: Sequence[int]) -> int:
    """Return how many axes to take together so that they and the others have few cells.

    >>> _even_split((100, 2, 50))
    1
    """
    splits = range(len(radices) + 1)
    return min(splits, key=lambda split: prod(radices[:split]) + prod(radices[split:]))


def factor_table(factor: Floats) -> Floats:
    """Return one factor of a target where the hash sees it, transformed; padding has the mean."""
    from sottovoce.kernels import affine, walsh

    layout = affine.PointLayout((len(factor) - 1).bit_length())
    return walsh.transform(affine.placed(factor, layout))


def best_rank(epsilon: float, size: int, max_rank: int = MAX_DERIVED_RANK) -> int:
    """Return the k with the least variance averaged over the real cells; ties go to the smaller.

    >>> [best_rank(epsilon, 1 << 16) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [1, 2, 3, 6]
    """
    bits = (size - 1).bit_length()
    last = max(1, min(bits - 1, max_rank))
    return min(range(1, last + 1), key=lambda rank: (_variance(epsilon, rank, size), rank))


def average_variance(p: float, q: float, size: int) -> float:
    """Return the exact variance per user averaged over a domain, whatever the population."""
    noise = IndependentNoise.of(p, q)
    return noise.unheld + noise.held / size


def _variance(epsilon: float, rank: int, size: int) -> float:
    """Return the average variance of a rank, or infinity if doubles cannot tell p from q.

    The latter happens for a tiny epsilon, which the thresholds then refuse.
    """
    cells = 1 << (size - 1).bit_length()
    buckets = 1 << rank
    p = exp(epsilon) / (exp(epsilon) + buckets - 1)
    q = (cells // buckets - p) / (cells - 1)
    return average_variance(p, q, size) if p > q else inf
