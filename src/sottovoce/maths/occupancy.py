"""How full the fullest of several bins is, if balls fall into them independently and uniformly.

The number of ways to place r numbered balls into g bins with at most L in each is

    r! [x^r] (1 + x + x^2 / 2! + ... + x^L / L!)^g

and each way has the probability g^-r.  The mean of the largest number of balls in a bin is the sum
over L from 0 to r - 1 of the probability that some bin has more than L.  All of it is computed in
fractions, so it is exact up to the last rounding.
"""

from fractions import Fraction
from functools import cache
from math import factorial

Polynomial = list[Fraction]  # coefficients, that of x^0 first


@cache
def mean_largest(balls: int, bins: int) -> float:
    """Return the mean number of balls in the fullest bin.

    >>> mean_largest(2, 4), mean_largest(10, 1), mean_largest(0, 4)
    (1.25, 10.0, 0.0)
    """
    return float(sum(1 - _at_most(limit, balls, bins) for limit in range(balls)))


def _at_most(limit: int, balls: int, bins: int) -> Fraction:
    """Return the probability that no bin has more than ``limit`` balls."""
    one_bin = [Fraction(1, factorial(count)) for count in range(min(limit, balls) + 1)]
    ways = _power(one_bin, bins, balls)
    coefficient = ways[balls] if balls < len(ways) else Fraction(0)
    return coefficient * Fraction(factorial(balls), bins**balls)


def _power(base: Polynomial, exponent: int, degree: int) -> Polynomial:
    """Return a power of a polynomial up to a degree, by squaring."""
    result = [Fraction(1)]
    while exponent:
        if exponent % 2:
            result = _product(result, base, degree)
        base = _product(base, base, degree)
        exponent //= 2
    return result


def _product(left: Polynomial, right: Polynomial, degree: int) -> Polynomial:
    product = [Fraction(0)] * min(len(left) + len(right) - 1, degree + 1)
    for i, left_factor in enumerate(left):
        for j, right_factor in enumerate(right[: len(product) - i]):
            product[i + j] += left_factor * right_factor
    return product
