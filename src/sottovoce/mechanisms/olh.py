"""Local hashing: a public seed folds the domain into a few buckets, and the bucket is randomised.

A report is a few bytes whatever the domain, up to 2^63 values, and its accuracy is that of optimised unary encoding.
Counting costs one hash per report and candidate.  Below about 3 exp(epsilon) values, and so whenever the buckets are
as many as the values, the chooser prefers GRR; affine response is more accurate and faster to count.

A report is a 32-bit seed and a bucket.  Drawn in this order: a 32-bit word for the seed, then what GRR draws.

Source: Wang 2021, section 3.3.5.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values, Words
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import bucket, words_of, xxh32
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR

MOST_BUCKETS = 1 << 20
LARGEST_TALLY = 1 << 26  # values whose supports are counted all together
LISTED_SEEDS = 8  # of 2^32: the public coins among the outcomes


class LocalHashing(PureMechanism):
    """Randomise the bucket of a value under a seed that everybody may see."""

    keep: int

    @property
    def buckets(self) -> int:
        """Return the range of the hash."""
        return 2

    largest = 1 << 63

    def prepare(self) -> None:
        self.settle("keep", GRR(self.epsilon, self.buckets).keep)
        if not exact.UNIT < self.keep * self.buckets < exact.UNIT * self.buckets:
            raise ParameterError("a bucket must be kept more often than by chance, and not always")

    @cached_property
    def response(self) -> GRR:
        """Return the mechanism that randomises the bucket."""
        return GRR(self.epsilon, self.buckets, self.keep)

    @property
    def p(self) -> float:
        return self.response.p

    @property
    def q(self) -> float:
        return 1 / self.buckets  # other values meet the reported bucket by chance of the seed, however it was drawn

    @property
    def worst_ratio(self) -> Fraction:
        return self.response.worst_ratio  # given any seed, which is drawn before the value is looked at

    @property
    def layout(self) -> npt.DTypeLike:
        """Return the fields of a packed report: its public coin, then its bucket."""
        return [("seed", "<u4"), ("bucket", unsigned(max(self.buckets, 1 << 16)))]

    @property
    def width(self) -> int:
        return np.dtype(self.layout).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        seeds = self.draw_seeds(rng, len(values))
        return self._join(seeds, self.response.privatize(self.hash(values, seeds), rng))

    def draw_seeds(self, rng: Rng, users: int) -> Words:
        """Return a public coin for every user."""
        return rng.words(users)

    def hash(self, values: Values, seeds: Words) -> Words:
        """Return the buckets of the values, shapes broadcast."""
        return bucket(xxh32(self._words(values), seeds), self.buckets)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(self.layout, copy=False).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, self.layout)
        below(self.buckets, _parts(reports)[1])
        return reports

    def support(self, reports: Reports, candidates: Values) -> Bools:
        seeds, reported = _parts(reports)
        return np.asarray(self.hash(candidates, seeds[:, None]) == reported[:, None])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels.olh import support_counts

        return support_counts(*_parts(reports), self._words(candidates), self.buckets)

    def tally(self, reports: Reports) -> Tally:
        if self.size > LARGEST_TALLY:
            raise ParameterError(
                f"beyond {LARGEST_TALLY} values only chosen candidates are counted: use estimate_among"
            )
        return super().tally(reports)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        asked = np.flatnonzero(coefficients)
        return self.score_among(reports, asked, coefficients[asked])

    def score_among(self, reports: Reports, candidates: Values, coefficients: Floats) -> Floats:
        from sottovoce.kernels.olh import weighted_scores

        raw = weighted_scores(*_parts(reports), self._words(candidates), coefficients, self.buckets)
        return np.asarray((raw - self.q * coefficients.sum()) / (self.p - self.q))

    def outcomes(self) -> Reports:
        seeds = np.arange(LISTED_SEEDS).repeat(self.buckets)
        return self._join(seeds, np.tile(np.arange(self.buckets), LISTED_SEEDS))

    def likelihood(self, reports: Reports) -> Floats:
        return np.where(self.support(reports, np.arange(self.size)), self.p, self.response.q)

    def _words(self, values: Values) -> Words:
        return words_of(values, (self.size - 1).bit_length())

    def _join(self, seeds: Values, reported: Values) -> Reports:
        reports = np.empty(len(seeds), self.layout)
        for field, column in zip(_parts(reports), (seeds, reported), strict=True):
            field[:] = column
        return reports


@dataclass(frozen=True)
class OLH(LocalHashing, kind="olh"):
    """Hash into as many buckets as make the variance least, the integer nearest to exp(epsilon) + 1.

    >>> OLH(epsilon=1.0, size=1_000_000).buckets
    4
    """

    epsilon: float
    size: int
    buckets: int = 0
    keep: int = threshold()

    def prepare(self) -> None:
        best = round(exact.add(exact.exp(self.epsilon), 1))
        self.settle("buckets", min(max(2, best), MOST_BUCKETS))
        if not isinstance(self.buckets, int) or not 2 <= self.buckets <= MOST_BUCKETS:
            raise ParameterError(f"local hashing needs between 2 and {MOST_BUCKETS} buckets")
        super().prepare()


def _parts(reports: Reports) -> tuple[Words, Words]:
    coin, answer = reports.dtype.names or ()
    return reports[coin], reports[answer]
