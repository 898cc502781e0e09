"""Arithmetic to sixty digits, so that the direction in which a threshold is rounded can be proved.

A probability is realised as an integer ``threshold`` out of 2^64: a random 64-bit word below it
means yes.  Privacy needs each threshold rounded in the direction that reveals less, and
floating-point ``exp`` may differ in its last bit between machines and languages.  Python's decimals
are correctly rounded everywhere.  Their operators round to 28 digits by default, so use them like
this:

    with exact.sixty_digits():
        odds = exact.exp(epsilon)
        keep = odds / (odds + size - 1)
    threshold = exact.threshold_below(keep)
"""

from contextlib import AbstractContextManager
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, nextafter

UNIT = 1 << 64  # thresholds are probabilities in units of 2^-64

_SIXTY_DIGITS = Context(prec=60)


def sixty_digits() -> AbstractContextManager[Context]:
    """Return a context manager in which decimal operators round to sixty digits.

    >>> with sixty_digits():
    ...     print(1 / Decimal(3))
    0.333333333333333333333333333333333333333333333333333333333333
    """
    return localcontext(_SIXTY_DIGITS)


def stated(number: float) -> Decimal:
    """Return the decimal of the shortest form of a float, as a task document writes it.

    >>> stated(0.1)
    Decimal('0.1')
    """
    return Decimal(repr(float(number)))


def part(whole: float, count: int) -> float:
    """Return one of ``count`` equal parts, rounded down if their decimals would exceed the whole.

    >>> part(0.3, 3), part(1.2, 2)
    (0.09999999999999999, 0.6)
    """
    share = whole / count
    while stated(share) * count > stated(whole):
        share = nextafter(share, 0.0)
    return share


def at_least(number: Decimal) -> float:
    """Return the smallest float whose stated form is not below a number."""
    result = float(number)
    while stated(result) < number:
        result = nextafter(result, inf)
    return result


def exp(exponent: float | Decimal) -> Decimal:
    """Return e to the stated exponent.

    >>> str(exp(1.0))[:40]
    '2.71828182845904523536028747135266249775'
    """
    power = exponent if isinstance(exponent, Decimal) else stated(exponent)
    return _SIXTY_DIGITS.exp(power)


@lru_cache(maxsize=1024)  # every mechanism, question and round asks for that of one ratio again
def log(ratio: Fraction) -> Decimal:
    """Return the natural logarithm of an exact fraction."""
    quotient = _SIXTY_DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return _SIXTY_DIGITS.ln(quotient)


def threshold_below(probability: Decimal) -> int:
    """Return the largest threshold whose probability is at most this one."""
    with sixty_digits():
        return _neither_never_nor_always(floor(probability * UNIT))


def threshold_above(probability: Decimal) -> int:
    """Return the smallest threshold whose probability is at least this one."""
    with sixty_digits():
        return _neither_never_nor_always(ceil(probability * UNIT))


def probability(threshold: int) -> Fraction:
    """Return the probability that a threshold realises.

    >>> probability(threshold_below(Decimal("0.25")))
    Fraction(1, 4)
    """
    return Fraction(threshold, UNIT)


def _neither_never_nor_always(threshold: int) -> int:
    """Return the threshold, moved by one where its probability would be 0 or 1."""
    return min(max(threshold, 1), UNIT - 1)
