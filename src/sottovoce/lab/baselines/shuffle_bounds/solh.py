"""Shuffler-optimal local hashing (SOLH) and its rivals, as they were published.

Given a central target, m = central^2 (n - 1) / (14 ln(2/delta)) and

    buckets = (m + 2) / 3        e^local = m - buckets + 1

minimise the variance under the bound of Balle et al.  Without amplification (m <= buckets, or a
local epsilon below the central one) the reports are those of plain local hashing with the central
epsilon. The mean squared error over a domain of d values is that of any pure mechanism,

    MSE = q (1 - q) / (n (p - q)^2) + (1 - p - q) / (n d (p - q))

whose second term the published propositions leave out.

Source: Wang 2021, chapter 9.
"""

from dataclasses import dataclass
from math import exp, floor, log, sqrt

from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.closed_forms import MAX_DELTA

ROUNDINGS = ("nearest", "floor")
MIN_M = 4  # below, the optimum has fewer than two buckets


@dataclass(frozen=True)
class PublishedTarget:
    """A central (epsilon, delta) of n users under the published bounds, which hold up to 1."""

    central: float
    users: int
    delta: float

    def __post_init__(self) -> None:
        settings.positive("central", self.central, 1.0)
        settings.whole("users", self.users, 2)
        if not 0 < self.delta < MAX_DELTA:
            raise ParameterError(
                f"`delta` must be above 0 and below {MAX_DELTA}, not {self.delta!r}"
            )

    @property
    def m(self) -> float:
        """Return central^2 (n - 1) / (14 ln(2/delta)), the paper's m."""
        return self.central**2 * (self.users - 1) / (14 * log(2 / self.delta))


@dataclass(frozen=True)
class PublishedOracle:
    """A pure mechanism that was configured by a published rule: p, q and the local epsilon."""

    local: float
    p: float
    q: float
    users: int

    @property
    def variance(self) -> float:
        """Return the variance of a share that nobody holds."""
        return self.q * (1 - self.q) / (self.users * (self.p - self.q) ** 2)

    def mse(self, size: int) -> float:
        """Return the exact mean squared error over a domain of ``size`` values."""
        own = (1 - self.p - self.q) / (self.users * size * (self.p - self.q))
        return self.variance + own


def best_buckets(target: PublishedTarget, rounding: str = "nearest", fakes: int = 0) -> int:
    """Return the number of buckets with the least variance: (m + 2) / 3, with fakes in m."""
    settings.choice("rounding", rounding, ROUNDINGS)
    exact = optimal_buckets(target, fakes)
    return floor(exact) if rounding == "floor" else round(exact)


def optimal_buckets(target: PublishedTarget, fakes: int = 0) -> float:
    """Return the optimum before rounding.  Fakes raise it; the published sign is wrong."""
    return target.central**2 * (target.users - 1 + fakes) / (42 * log(2 / target.delta)) + 2 / 3


def local_hashing(target: PublishedTarget, buckets: int = 0) -> PublishedOracle:
    """Return shuffled local hashing, into the best number of buckets unless another is given."""
    amplifies = target.m >= MIN_M or buckets > 0
    buckets = buckets or best_buckets(target)
    odds = target.m - buckets + 1
    if not amplifies or odds <= exp(target.central):
        return _hashing(target.central, round(exp(target.central) + 1), target.users)
    return _hashing(log(odds), buckets, target.users)


def direct_response(target: PublishedTarget, size: int) -> PublishedOracle:
    """Return shuffled direct response (SH)."""
    odds = max(target.m - size + 1, exp(target.central))
    total = odds + size - 1
    return PublishedOracle(log(odds), odds / total, 1 / total, target.users)


def removal_unary(target: PublishedTarget) -> PublishedOracle:
    """Return unary encoding whose bits are shuffled one by one, against removal (RAP_R)."""
    return PublishedOracle(log(target.m - 1), 1 - 1 / target.m, 1 / target.m, target.users)


def _hashing(local: float, buckets: int, users: int) -> PublishedOracle:
    odds = exp(local)
    return PublishedOracle(local, odds / (odds + buckets - 1), 1 / buckets, users)


def against_users(buckets: int, fakes: int, delta: float) -> float:
    """Return the published epsilon if all other users collude: sqrt(14 ln(2/delta) D / fakes)."""
    return sqrt(14 * log(2 / delta) * buckets / fakes)


def with_fakes(oracle: tuple[float, int], users: int, fakes: int, delta: float) -> float:
    """Return the published central epsilon with fakes; ``oracle`` is (local epsilon, buckets)."""
    local, buckets = oracle
    blanket = (users - 1) / (exp(local) + buckets - 1) + fakes / buckets
    return sqrt(14 * log(2 / delta) / blanket)
