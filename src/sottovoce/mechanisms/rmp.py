"""Random matrix projection: the sign of the value in a random row of a public matrix, randomised.

A baseline, equivalent to binary local hashing if every user draws a fresh row.  Rows are never
stored: the sign in row r and column v is the top bit of xxh32(v) under seed r.  If all users share
a pool of m rows, the estimate of value i has the extra variance

    sum over v != i of c_v (c_v - 1) / m        c_v users hold v

Choose a pool only to study that.  A report is a 32-bit row and a sign, 0 or 1.  The row is drawn
first, then what GRR draws.

Source: Wang 2021, section 3.1.3.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Floats, Reports, Values, Words
from sottovoce.core import settings
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.fake_votes import FakeVotes
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import below
from sottovoce.core.plausibility import FALSE_ALARM, PairLaw, PlausibilityTest, PublicHash
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.olh import LISTED_SEEDS, MAX_SEEDS, LocalHashing

MAX_ROWS = MAX_SEEDS


@dataclass(frozen=True)
class RMP(LocalHashing, kind="rmp"):
    """Report the sign of the value in one of ``rows`` rows; with 0 each user draws one of 2^32.

    >>> round(RMP(epsilon=1.0, size=1_000_000).p, 3)
    0.731
    """

    epsilon: float
    size: int
    rows: int = 0
    keep: int = threshold()

    def prepare(self) -> None:
        settings.whole("rows", self.rows, 0, MAX_ROWS)
        if 0 < self.rows < LISTED_SEEDS:
            raise ParameterError(f"`rows` must be 0 or at least {LISTED_SEEDS}, not {self.rows}")
        super().prepare()

    @property
    def noise(self) -> IndependentNoise:
        fresh_rows = IndependentNoise.of(self.p, self.q)
        if not self.rows:
            return fresh_rows
        return PooledNoise(fresh_rows.unheld, fresh_rows.held, self.rows)

    @property
    def overlap(self) -> float:
        # In a small pool of rows two values may have opposite signs in every row.
        return 0.0 if self.rows else super().overlap

    def fake_votes(self, count: FakeCount) -> FakeVotes:
        # Over all matrices two signs agree half the time, whatever the pool.
        return FakeVotes.of(count, (self.p, self.q), self.share, self.share)

    @property
    def seed_count(self) -> int:
        return self.rows or MAX_ROWS

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        # In a pool of rows the sign of a value is not fair: it is fixed by the rows.
        return () if self.rows else super().plausibility(evidence, fakes=fakes, alpha=alpha)

    @property
    def pair_law(self) -> PairLaw | None:
        return None if self.rows else super().pair_law

    def public_hash(self, reports: Reports, candidates: Values) -> PublicHash | None:
        return None if self.rows else super().public_hash(reports, candidates)

    @property
    def layout(self) -> npt.DTypeLike:
        return [("row", "<u4"), ("sign", f"<u{self.bucket_bytes}")]

    @cached_property
    def bucket_bytes(self) -> int:
        return 1

    def draw_seeds(self, rng: Rng, users: int) -> Words:
        if not self.rows:
            return super().draw_seeds(rng, users)
        return rng.integers(self.rows, users).astype(np.uint32)

    def draw_seed(self, rng: Rng) -> int:
        return rng.integer(self.rows) if self.rows else super().draw_seed(rng)

    def unpack(self, data: bytes) -> Reports:
        reports = super().unpack(data)
        below(self.seed_count, reports["row"])
        return reports


@dataclass(frozen=True)
class PooledNoise(IndependentNoise):
    """The noise of a pool of rows: users who drew the same row err together.

    Plugging in the estimate squares the noise of the votes, so the stated variance is too large
    where most cells are noise.  Holders of values that were not estimated are not seen.
    """

    rows: int

    @property
    def supports(self) -> None:
        return None  # reports of one row are not independent

    def unheld_variances(self, votes: Floats, users: int) -> Floats:
        pairs = _pairs(np.clip(votes, 0, users)).sum()
        return np.full(len(votes), users * self.unheld + pairs / self.rows)

    def variances(self, votes: Floats, users: int) -> Floats:
        pairs = _pairs(np.clip(votes, 0, users))
        return np.asarray(super().variances(votes, users) + (pairs.sum() - pairs) / self.rows)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        # Over a random matrix the product of two columns v != i has the mean 0 and the variance
        # 1/m, so that each pair of values adds (a_i c_v + a_v c_i)^2 / m for coefficients a.
        held = np.clip(votes, 0, users)
        squares = coefficients**2
        crossed = (coefficients @ held) ** 2 - squares @ held**2
        spread = squares.sum() * _pairs(held).sum() - squares @ _pairs(held)
        return super().linear(coefficients, votes, users) + float(crossed + spread) / self.rows


def _pairs(held: Floats) -> Floats:
    """Return c (c - 1), the ordered pairs of users who hold each value."""
    return held * np.maximum(held - 1, 0)
