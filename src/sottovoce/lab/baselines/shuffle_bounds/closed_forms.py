"""The closed forms of the literature: a central epsilon for a local one, n users and a delta.

| function | holds for | central epsilon |
|---|---|---|
| erlingsson | any mechanism, local < 1/2 | sqrt(144 ln(1/delta) local^2 / n) |
| cheu | binary randomised response | sqrt(32 ln(4/delta) (E + 1) / n) |
| balle | direct response over d values | sqrt(14 ln(2/delta) (E + d - 1) / (n - 1)) |
| local_hashing | local hashing into d buckets | the same |
| unary | unary encoding, shuffled bit by bit | 2 sqrt(14 ln(4/delta) (sqrt(E) + 1) / (n - 1)) |
| removal | unary encoding, removal of a person | sqrt(14 ln(2/delta) (E + 1) / (n - 1)) |
| binomial_mechanism | Bin(N, chance) noise in each cell | sqrt(14 ln(2/delta) / (N chance)) |
| clones | any mechanism | ln(1 + (E-1)/(E+1) (8 sqrt(E ln(4/delta)/n) + 8 E/n)) |
| stronger_clones | any mechanism | ln(1 + (E-1) (4 sqrt(2 ln(4/delta)/((E+1) n)) + 4/n)) |

E is e^local.  Shuffling never makes things worse, so that the smaller one of the result and the
local epsilon holds.  Outside its range a formula can be false, and is refused.

Source: Wang 2021, chapter 9; Erlingsson et al. 2019; Cheu et al. 2019; Balle et al. 2019; Feldman,
McMillan and Talwar 2021; Feldman, McMillan and Talwar 2023.
"""

from math import exp, log, sqrt

from sottovoce.core import settings
from sottovoce.errors import ParameterError

MAX_DELTA = 0.29  # the proofs of Wang 2021, chapter 9, need a smaller delta
SHUFFLED_BITS = "bits"
SHUFFLED_VECTORS = "vectors"


def erlingsson(local: float, users: int, delta: float) -> float:
    """Return the bound of Erlingsson et al. (EFMRTT), for a local epsilon below 1/2."""
    _check(users, delta)
    if not 0 < local < 0.5:
        raise ParameterError(f"`local` must be above 0 and below 0.5 for this bound, not {local!r}")
    return sqrt(144 * log(1 / delta) * local**2 / users)


def cheu(local: float, users: int, delta: float) -> float:
    """Return the bound of Cheu et al. (CSUZZ) for binary randomised response."""
    _check(users, delta)
    central = sqrt(32 * log(4 / delta) * (exp(local) + 1) / users)
    if central <= sqrt(192 * log(4 / delta) / users):
        raise ParameterError("`local` is too small for this bound: it must be above ln 5")
    return _up_to_one(central)


def balle(local: float, size: int, users: int, delta: float) -> float:
    """Return the bound of Balle et al. (BBGN) for direct response over ``size`` values."""
    _check(users, delta)
    return _up_to_one(sqrt(14 * log(2 / delta) * (exp(local) + size - 1) / (users - 1)))


def local_hashing(local: float, buckets: int, users: int, delta: float) -> float:
    """Return the bound of theorem 9.3.2 (SOLH): that of direct response over the buckets."""
    return balle(local, buckets, users, delta)


def unary(local: float, users: int, delta: float, shuffled: str = SHUFFLED_BITS) -> float:
    """Return the bound of theorem 9.3.1 for unary encoding (RAP).

    It holds if every bit is a message of its own.  Whole vectors can be told apart by their other
    bits, so that the theorem is false for them.
    """
    check_fragmented(shuffled)
    _check(users, delta)
    per_bit = sqrt(14 * log(4 / delta) * (exp(local / 2) + 1) / (users - 1))
    return 2 * _up_to_one(per_bit)


def removal(local: float, users: int, delta: float, shuffled: str = SHUFFLED_BITS) -> float:
    """Return the bound of unary encoding against the removal of a person (RAP_R), bit by bit."""
    check_fragmented(shuffled)
    _check(users, delta)
    return _up_to_one(sqrt(14 * log(2 / delta) * (exp(local) + 1) / (users - 1)))


def binomial_mechanism(trials: int, chance: float, delta: float) -> float:
    """Return the bound of theorem 9.2.1: binomial noise is added to every cell of a histogram."""
    _check(2, delta)
    return _up_to_one(sqrt(14 * log(2 / delta) / (trials * chance)))


def clones(local: float, users: int, delta: float) -> float:
    """Return the closed form of Feldman, McMillan and Talwar 2021, theorem III.1."""
    settings.open_share("delta", delta)
    if local > log(users / (16 * log(2 / delta))):
        raise ParameterError(
            "`local` is too large for this bound: at most ln(n / (16 ln(2/delta)))"
        )
    odds = exp(local)
    spread = 8 * sqrt(odds * log(4 / delta) / users) + 8 * odds / users
    return log(1 + (odds - 1) / (odds + 1) * spread)


def stronger_clones(local: float, users: int, delta: float) -> float:
    """Return the closed form of Feldman, McMillan and Talwar 2023."""
    settings.open_share("delta", delta)
    if local > log(users / (8 * log(2 / delta)) - 1):
        raise ParameterError(
            "`local` is too large for this bound: at most ln(n / (8 ln(2/delta)) - 1)"
        )
    odds = exp(local)
    spread = 4 * sqrt(2 * log(4 / delta) / ((odds + 1) * users)) + 4 / users
    return log(1 + (odds - 1) * spread)


def check_fragmented(shuffled: str) -> None:
    """Refuse unary vectors that are shuffled whole: their other bits tell the vectors apart."""
    settings.choice("shuffled", shuffled, (SHUFFLED_BITS, SHUFFLED_VECTORS))
    if shuffled == SHUFFLED_VECTORS:
        raise ParameterError("`shuffled` must be 'bits': the bound is false for whole vectors")


def _check(users: int, delta: float) -> None:
    settings.whole("users", users, 2)
    if not 0 < delta < MAX_DELTA:
        raise ParameterError(f"`delta` must be above 0 and below {MAX_DELTA}, not {delta!r}")


def _up_to_one(central: float) -> float:
    """Return the bound, or refuse one above 1, where the proof no longer holds."""
    if central > 1:
        raise ParameterError(
            "this bound holds up to a central epsilon of 1, which is exceeded here"
        )
    return central
