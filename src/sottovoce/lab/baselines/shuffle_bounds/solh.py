"""Shuffler-optimal local hashing (SOLH) and its rivals, as they were published.

Given a central target, m = central^2 (n - 1) / (14 ln(2/delta)) and

    buckets = (m + 2) / 3        e^local = m - buckets + 1

minimise the variance under the bound of Balle et al.  Direct response over d values has
e^local = m - d + 1, unary encoding against removal e^local = m - 1, and unary encoding against
replacement e^(local / 2) = m' - 1 with m' = central^2 (n - 1) / (56 ln(4/delta)).  Without
amplification (a local epsilon that is not above the central one) the reports are those of the
plain local mechanism with the central epsilon.  The mean squared error over a domain of d values is
that of any pure mechanism,

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

    @property
    def unary_m(self) -> float:
        """Return central^2 (n - 1) / (56 ln(4/delta)): m for two bits that share the guarantee."""
        return self.central**2 * (self.users - 1) / (56 * log(4 / self.delta))

    def amplified(self, odds: float, fallback: bool = True) -> float:
        """Return the local epsilon ln(odds), or the central one where nothing is amplified.

        Without the ``fallback`` such a target is refused.
        """
        if odds > exp(self.central):
            return log(odds)
        if not fallback:
            raise ParameterError(
                "`central` must be larger for these reports to be amplified, or set `fallback`"
            )
        return self.central


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


@dataclass(frozen=True)
class HashingSettings:
    """The local epsilon and the number of buckets of published local hashing."""

    local: float
    buckets: int


def hashing_settings(
    target: PublishedTarget, buckets: int = 0, rounding: str = "nearest", *, fallback: bool = True
) -> HashingSettings:
    """Return the settings for a target; ``buckets`` of 0 stands for the best number.

    >>> hashing_settings(PublishedTarget(0.2, 990_002, 1e-9)).buckets
    45
    """
    too_few_users = buckets == 0 and target.m < MIN_M
    buckets = buckets or best_buckets(target, rounding)
    odds = 0.0 if too_few_users else target.m - buckets + 1
    local = target.amplified(odds, fallback)
    if local > target.central:
        return HashingSettings(local, buckets)
    return HashingSettings(local, round(exp(local) + 1))


def local_hashing(target: PublishedTarget, buckets: int = 0) -> PublishedOracle:
    """Return shuffled local hashing, into the best number of buckets unless another is given."""
    chosen = hashing_settings(target, buckets)
    return _hashing(chosen.local, chosen.buckets, target.users)


def direct_response(target: PublishedTarget, size: int) -> PublishedOracle:
    """Return shuffled direct response (SH)."""
    local = target.amplified(target.m - size + 1)
    total = exp(local) + size - 1
    return PublishedOracle(local, exp(local) / total, 1 / total, target.users)


def unary(target: PublishedTarget) -> PublishedOracle:
    """Return unary encoding whose bits are shuffled one by one (RAP)."""
    # e^(local / 2) = m' - 1
    local = target.amplified(max(target.unary_m - 1, 0.0) ** 2)
    return _unary(local, exp(local / 2), target.users)


def removal_unary(target: PublishedTarget) -> PublishedOracle:
    """Return unary encoding whose bits are shuffled one by one, against removal (RAP_R)."""
    local = target.amplified(target.m - 1)
    return _unary(local, exp(local), target.users)


def _unary(local: float, bit_odds: float, users: int) -> PublishedOracle:
    return PublishedOracle(local, bit_odds / (bit_odds + 1), 1 / (bit_odds + 1), users)


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
