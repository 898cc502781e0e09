"""Exponentials and logarithms to sixty digits, so that which way a threshold was rounded can be proved.

Floating-point ``exp`` may differ in its last bit between machines and languages; a privacy
promise must not.  The decimal module's functions are correctly rounded everywhere.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from sottovoce.errors import ParameterError

UNIT = 1 << 64  # thresholds are probabilities in units of 2^-64
LARGEST_EPSILON = 20.0

_SIXTY_DIGITS = Context(prec=60)


def check_epsilon(epsilon: float) -> float:
    """Return epsilon as a float, or refuse it."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)):
        raise ParameterError("epsilon must be a number")
    if not 0 < epsilon <= LARGEST_EPSILON:  # false for NaN as well
        raise ParameterError(f"epsilon must be above 0 and at most {LARGEST_EPSILON:g}")
    return float(epsilon)


def stated(epsilon: float) -> Decimal:
    """Return the number that the shortest decimal form of ``epsilon`` names: what a task document says."""
    return Decimal(repr(float(epsilon)))


def part(epsilon: float, count: int) -> float:
    """Return one of so many equal parts of epsilon, rounded down where their decimals would come to more.

    >>> part(0.3, 3), part(1.2, 2)
    (0.09999999999999999, 0.6)
    """
    share = epsilon / count
    while stated(share) * count > stated(epsilon):
        share = nextafter(share, 0.0)
    return share


def at_least(number: Decimal) -> float:
    """Return the smallest epsilon whose stated form is no less than a number."""
    found = float(number)
    while stated(found) < number:
        found = nextafter(found, inf)
    return found


def exp(exponent: float | Decimal) -> Decimal:
    """Return e to the stated exponent.

    >>> str(exp(1.0))[:40]
    '2.71828182845904523536028747135266249775'
    """
    power = exponent if isinstance(exponent, Decimal) else stated(exponent)
    return _SIXTY_DIGITS.exp(power)


def log(ratio: Fraction) -> Decimal:
    """Return the natural logarithm of an exact fraction."""
    quotient = _SIXTY_DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return _SIXTY_DIGITS.ln(quotient)


def divide(numerator: Decimal | int, denominator: Decimal | int) -> Decimal:
    """Return the quotient to sixty digits."""
    return _SIXTY_DIGITS.divide(Decimal(numerator), Decimal(denominator))


def scale(factor: Decimal | int, number: Decimal) -> Decimal:
    """Return the product to sixty digits."""
    return _SIXTY_DIGITS.multiply(Decimal(factor), number)


def add(left: Decimal | int, right: Decimal | int) -> Decimal:
    """Return the sum to sixty digits."""
    return _SIXTY_DIGITS.add(Decimal(left), Decimal(right))


def threshold_below(probability: Decimal) -> int:
    """Return the largest threshold whose probability is at most this one."""
    with localcontext(_SIXTY_DIGITS):
        return _inside(floor(probability * UNIT))


def threshold_above(probability: Decimal) -> int:
    """Return the smallest threshold whose probability is at least this one."""
    with localcontext(_SIXTY_DIGITS):
        return _inside(ceil(probability * UNIT))


def probability(threshold: int) -> Fraction:
    """Return the probability that a threshold realises.

    >>> probability(threshold_below(Decimal("0.25")))
    Fraction(1, 4)
    """
    return Fraction(threshold, UNIT)


def _inside(threshold: int) -> int:
    return min(max(threshold, 1), UNIT - 1)  # never certain, never impossible
