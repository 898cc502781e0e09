"""Random matrix projection: the sign of the value in a random row of a public matrix of signs, randomised.

A baseline, equivalent to binary local hashing when rows are fresh.  Rows are never stored: the sign in row r and
column v is the top bit of xxh32(v) under seed r.  With a pool of m rows that all users share, the estimate of value i
has the extra variance sum over v != i of c_v (c_v - 1) / m, about c_v^2 / m for c_v users holding v: choose a
pool only to study that.

A report is a 32-bit row and a sign, 0 or 1.  Drawn in this order: the row, then what GRR draws.

Source: Wang 2021, section 3.1.3.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Floats, Reports, Words
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import below
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.olh import LISTED_SEEDS, LocalHashing


@dataclass(frozen=True)
class RMP(LocalHashing, kind="rmp"):
    """Report the sign of the value in one of ``rows`` rows; 0 draws a fresh row of 2^32 for every user.

    >>> round(RMP(epsilon=1.0, size=1_000_000).p, 3)
    0.731
    """

    epsilon: float
    size: int
    rows: int = 0
    keep: int = threshold()

    def prepare(self) -> None:
        if not isinstance(self.rows, int) or (self.rows and not LISTED_SEEDS <= self.rows <= 1 << 32):
            raise ParameterError(f"a pool has between {LISTED_SEEDS} and 2^32 rows, or 0 for fresh ones")
        super().prepare()

    @property
    def noise(self) -> IndependentNoise:
        plain = IndependentNoise.of(self.p, self.q)
        return PooledNoise(plain.unheld, plain.held, self.rows) if self.rows else plain

    @property
    def layout(self) -> npt.DTypeLike:
        return [("row", "<u4"), ("sign", "<u1")]

    def draw_seeds(self, rng: Rng, users: int) -> Words:
        return rng.integers(self.rows, users).astype(np.uint32) if self.rows else super().draw_seeds(rng, users)

    def unpack(self, data: bytes) -> Reports:
        reports = super().unpack(data)
        below(self.rows or 1 << 32, reports["row"])
        return reports


@dataclass(frozen=True)
class PooledNoise(IndependentNoise):
    """Users who drew the same row err together.

    Plugging in squares the noise of the votes: where most cells are noise, the law is stated too wide.  Holders of
    values that were not estimated are not seen.
    """

    rows: int

    def variances(self, votes: Floats, users: int) -> Floats:
        pairs = _pairs(np.clip(votes, 0, users))
        return np.asarray(super().variances(votes, users) + (pairs.sum() - pairs) / self.rows)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        # Over a random matrix two columns v != i meet in rows with variance 1/m: (a_i c_v + a_v c_i)^2 / m a pair.
        held, squares = np.clip(votes, 0, users), coefficients**2
        crossed = (coefficients @ held) ** 2 - squares @ held**2
        spread = squares.sum() * _pairs(held).sum() - squares @ _pairs(held)
        return super().linear(coefficients, votes, users) + float(crossed + spread) / self.rows


def _pairs(held: Floats) -> Floats:
    return held * np.maximum(held - 1, 0)
