"""Local hashing: a public seed folds the domain into g buckets, and GRR randomises the bucket.

    p = e^epsilon / (e^epsilon + g - 1)        q = 1 / g

A report is a 32-bit seed and a bucket.  It supports every value that its hash puts into that
bucket.  The seed is drawn first, then what GRR draws.

A report has a few bytes whatever the domain, up to 2^63 values, and the accuracy of optimised unary
encoding with g = e^epsilon + 1 buckets.  Counting costs one hash per report and candidate.  Prefer
GRR below about 3 e^epsilon values.  Affine response is more accurate and faster to count.

Source: Wang 2021, section 3.3.5.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values, Words
from sottovoce.core import settings
from sottovoce.core.packing import below, index_bytes, rows
from sottovoce.core.plausibility import (
    FALSE_ALARM,
    PairLaw,
    PlausibilityTest,
    PublicHash,
    largest_count,
)
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact, integer_hashing, occupancy
from sottovoce.maths.hashing import bucket, words_of, xxh32
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.seed_search import SeedSearch
from sottovoce.mechanisms.seeded import SeededMechanism

MAX_BUCKETS = 1 << 20
MAX_TALLY = 1 << 26  # values whose supports are counted all together
MAX_SEEDS = 1 << 32
LISTED_SEEDS = 8  # of all seeds: those among the outcomes


class LocalHashing(SeededMechanism, PureMechanism):
    """Randomise the bucket of a value under a seed that everybody may see."""

    keep: int

    max_size = 1 << 63

    @property
    def buckets(self) -> int:
        """Return the range of the hash."""
        return 2

    def prepare(self) -> None:
        self.set_default("keep", GRR(self.epsilon, self.buckets).keep)

    @cached_property
    def response(self) -> GRR:
        """Return the mechanism that randomises the bucket."""
        return GRR(self.epsilon, self.buckets, self.keep)

    @property
    def p(self) -> float:
        return self.response.p

    @property
    def q(self) -> float:
        # Over the seeds, the hash puts another value into the reported bucket with this
        # probability.
        return 1 / self.buckets

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
        # Over the seeds, two values share a bucket with this probability.
        return 1 / self.buckets

    def mean_supported(self, chosen: int) -> float:
        # Over the seeds, values fall into buckets independently.
        return occupancy.mean_largest(chosen, self.buckets)

    @property
    def seed_count(self) -> int:
        return MAX_SEEDS

    @property
    def layout(self) -> npt.DTypeLike:
        """Return the fields of a packed report: its seed, then its bucket."""
        return [("seed", "<u4"), ("bucket", f"<u{self.bucket_bytes}")]

    @cached_property
    def bucket_bytes(self) -> int:
        """Return the bytes of a packed bucket."""
        return index_bytes(max(self.buckets, 1 << 16))

    @property
    def width(self) -> int:
        return np.dtype(self.layout).itemsize

    def draw_seeds(self, rng: Rng, users: int) -> Words:
        return rng.words(users)

    def draw_seed(self, rng: Rng) -> int:
        """Return a random seed for one user."""
        return rng.word()

    def seeds_of(self, reports: Reports) -> Words:
        return _columns(reports)[0]

    def respond(self, values: Values, seeds: Values, rng: Rng) -> Reports:
        return self._join(seeds, self.response.privatize(self.hash(values, seeds), rng))

    def hash_one(self, value: int, seed: int) -> int:
        """Return the bucket of one value under one seed."""
        return integer_hashing.xxh32(value, self._word_count, seed) * self.buckets >> 32

    @cached_property
    def _word_count(self) -> int:
        return max(1, -(-(self.size - 1).bit_length() // 32))

    def report(self, value: int, rng: Rng) -> bytes:
        value = self.check_value(value)
        return self._report_under(self.draw_seed(rng), value, rng)

    def report_seeded(self, value: int, draw: int, rng: Rng) -> bytes:
        return self._report_under(draw % self.seed_count, self.check_value(value), rng)

    def _report_under(self, seed: int, value: int, rng: Rng) -> bytes:
        response = self.response.response_to(self.hash_one(value, seed), rng)
        return seed.to_bytes(4, "little") + response.to_bytes(self.bucket_bytes, "little")

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        return self.draw_blanket_under(self.draw_seeds(rng, count), rng)

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        count = wanted.shape[1]

        def hashed(seeds: Values, rows: Ints) -> Values:
            return self.hash(wanted[rows].ravel(), seeds.repeat(count)).reshape(-1, count)

        search = SeedSearch(len(wanted), count, lambda users: self.draw_seeds(rng, users), hashed)
        seeds = search.best(tries)
        return self._join(seeds, search.fullest_buckets(seeds, rng))

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        seeds, buckets = _columns(reports)
        return np.asarray(self.hash(values, seeds) == buckets)

    def draw_blanket_under(self, seeds: Values, rng: Rng) -> Reports:
        return self._join(seeds, self.response.draw_blanket(len(seeds), rng))

    def hash(self, values: Values, seeds: Values) -> Words:
        """Return the buckets of the values under the seeds; shapes are broadcast."""
        return bucket(xxh32(self._words(values), seeds), self.buckets)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(self.layout, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, self.layout)
        below(self.buckets, _columns(reports)[1])
        return reports

    def support(self, reports: Reports, candidates: Values) -> Bools:
        seeds, buckets = _columns(reports)
        return np.asarray(self.hash(candidates, seeds[:, None]) == buckets[:, None])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels.olh import support_counts

        return support_counts(*_columns(reports), self._words(candidates), self.buckets)

    def tally(self, reports: Reports) -> Tally:
        if self.size > MAX_TALLY:
            raise ParameterError(
                f"a domain of more than {MAX_TALLY} values is too large to count:"
                " use estimate_among with candidates"
            )
        return super().tally(reports)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        candidates = np.flatnonzero(coefficients)
        return self.score_among(reports, candidates, coefficients[candidates])

    def score_among(self, reports: Reports, candidates: Values, coefficients: Floats) -> Floats:
        from sottovoce.kernels.olh import weighted_scores

        words = self._words(candidates)
        sums = weighted_scores(*_columns(reports), words, coefficients, self.buckets)
        return np.asarray((sums - self.q * coefficients.sum()) / (self.p - self.q))

    # --- whether reports can be honest ---

    @property
    def pair_law(self) -> PairLaw | None:
        # The hash puts any other value into the named bucket with probability 1 / g.
        return PairLaw(self.p / self.buckets, 1 / self.buckets**2)

    def public_hash(self, reports: Reports, candidates: Values) -> PublicHash | None:
        seeds, buckets = _columns(reports)
        table = self.hash(candidates, seeds[:, None])
        return PublicHash(table, buckets, self.buckets, self.p, self.q)

    def evidence(self, reports: Reports) -> Tally:
        """Return how often each bucket was named.

        xxh32 of one or two words is a bijection of the seed: over the seeds, the bucket of a value
        is uniform, and so is the named one.
        """
        named = np.bincount(_columns(reports)[1], minlength=self.buckets).astype(np.int64)
        return Tally(f"hashing({self.buckets})", len(reports), {"buckets": named})

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        named = evidence["buckets"]
        chance = 1 / self.buckets
        return (largest_count("buckets", named, chance, evidence.users, alpha=alpha),)

    def outcomes(self) -> Reports:
        seeds = np.arange(LISTED_SEEDS).repeat(self.buckets)
        return self._join(seeds, np.tile(np.arange(self.buckets), LISTED_SEEDS))

    def likelihood(self, reports: Reports) -> Floats:
        supports = self.support(reports, np.arange(self.size))
        return np.where(supports, self.p, self.response.q)

    def _words(self, values: Values) -> Words:
        return words_of(values, (self.size - 1).bit_length())

    def _join(self, seeds: Values, buckets: Values) -> Reports:
        reports = np.empty(len(seeds), self.layout)
        for column, entries in zip(_columns(reports), (seeds, buckets), strict=True):
            column[:] = entries
        return reports


@dataclass(frozen=True)
class OLH(LocalHashing, kind="olh"):
    """Hash into the number of buckets with the least variance: the integer nearest e^epsilon + 1.

    >>> OLH(epsilon=1.0, size=1_000_000).buckets
    4
    """

    epsilon: float
    size: int
    buckets: int = 0
    keep: int = threshold()

    def prepare(self) -> None:
        # g = e^epsilon + 1
        best = round(exact.exp(self.epsilon) + 1)
        self.set_default("buckets", min(max(2, best), MAX_BUCKETS))
        settings.whole("buckets", self.buckets, 2, MAX_BUCKETS)
        super().prepare()


def _columns(reports: Reports) -> tuple[Words, Words]:
    """Return the seeds and the randomised buckets, whatever the layout calls them."""
    coin, answer = reports.dtype.names or ()
    return reports[coin], reports[answer]
