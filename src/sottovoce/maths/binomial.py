"""Binomial probabilities in plain floats, with a relative error below 1e-12.

Devices need tails of the binomial distribution and have no SciPy.  Two methods are enough:

* The probability of one outcome follows Loader's saddle-point form.  With the error of Stirling's
  formula e(n) and the deviance D(x, y) = x ln(x / y) + y - x,

      P[X = k] = sqrt(n / (2 pi k (n - k)))
                 exp(e(n) - e(k) - e(n - k) - D(k, n p) - D(n - k, n (1 - p)))

  so that nothing large cancels.
* A tail is the probability of its first outcome times a continued fraction, that of the incomplete
  beta function, which converges beyond the mean.

Source: Loader 2000; Didonato and Morris 1992.
"""

from math import ceil, exp, factorial, floor, log, log1p, pi, sqrt

_LISTED_FACTORIALS = 16  # factorials below 2^53 are exact; beyond, Stirling's series is
_CONVERGED = 1e-15
_MAX_TERMS = 1_000_000
_FAR = 14  # standard deviations from the mean, beyond which few quantiles lie
_FEW = 100


def probability(count: int, trials: int, chance: float) -> float:
    """Return the probability of exactly this many successes.

    >>> round(probability(2, 4, 0.5), 15)
    0.375
    """
    return _probability(count, trials, chance, 1 - chance)


def at_least(count: int, trials: int, chance: float) -> float:
    """Return the probability of this many successes or more.

    >>> round(at_least(3, 4, 0.5), 15)
    0.3125
    """
    return _at_least(count, trials, chance, 1 - chance)


def fewer_than(count: int, trials: int, chance: float) -> float:
    """Return the probability of fewer successes than this.

    >>> round(fewer_than(3, 4, 0.5), 15)
    0.6875
    """
    return _at_least(trials - count + 1, trials, 1 - chance, chance)


def between(low: int, high: int, trials: int, chance: float) -> float:
    """Return the probability of at least ``low`` and fewer than ``high`` successes.

    The difference is taken on the side of the mean where both terms are small.
    """
    if low > trials * chance:
        return max(0.0, at_least(low, trials, chance) - at_least(high, trials, chance))
    return max(0.0, fewer_than(high, trials, chance) - fewer_than(low, trials, chance))


def lower_quantile(tail: float, trials: int, chance: float) -> int:
    """Return the largest count such that fewer successes have at most the probability ``tail``.

    >>> lower_quantile(0.1, 4, 0.5), lower_quantile(0.01, 4, 0.5)
    (1, 0)
    """
    low, high = _around(trials, chance)
    if tail >= 0.5 or fewer_than(low, trials, chance) > tail:
        low = 0
        high = trials
    while low < high:
        middle = (low + high + 1) // 2
        if fewer_than(middle, trials, chance) <= tail:
            low = middle
        else:
            high = middle - 1
    return low


def upper_quantile(tail: float, trials: int, chance: float) -> int:
    """Return the smallest count such that more successes have at most the probability ``tail``.

    >>> upper_quantile(0.1, 4, 0.5), upper_quantile(0.01, 4, 0.5)
    (3, 4)
    """
    failures = _around(trials, 1 - chance)
    low = trials - failures[1]
    high = trials - failures[0]
    if tail >= 0.5 or at_least(high + 1, trials, chance) > tail:
        low = 0
        high = trials
    while low < high:
        middle = (low + high) // 2
        if at_least(middle + 1, trials, chance) <= tail:
            high = middle
        else:
            low = middle + 1
    return low


def _around(trials: int, chance: float) -> tuple[int, int]:
    """Return counts between which every lower quantile below 1/2 lies that is not extremely low.

    The median is at most the mean rounded up.  Near the mean tails are slow to compute.
    """
    mean = trials * chance
    deviation = sqrt(mean * (1 - chance))
    low = max(0, floor(mean - _FAR * deviation) - _FEW)
    return low, min(trials, ceil(mean) + 1)


def fair_excess(trials: int, distance: float) -> float:
    """Return E[(X - trials / 2 - distance)+] of fair coins, for a distance of at least 0.

    Above the mean, sum of (k - n / 2) P[X = k] over k >= t is t P[X = t] / 2, so that

        excess = t P[X = t] / 2 - distance P[X >= t]        t = ceil(n / 2 + distance)

    >>> round(fair_excess(2, 0.0), 15)
    0.25
    """
    first = ceil(trials / 2 + distance)
    if first > trials or trials == 0:
        return 0.0
    start = probability(first, trials, 0.5)
    tail = start * 0.5 * _fraction(first, trials, 0.5, 0.5)
    return max(0.0, first / 2 * start - distance * tail)


# Below, a chance comes with its complement, so that neither is computed from a rounded other.


def _at_least(count: int, trials: int, chance: float, complement: float) -> float:
    if count <= 0:
        return 1.0
    if count > trials:
        return 0.0
    if count <= trials * chance:
        return 1 - _tail(trials - count + 1, trials, complement, chance)
    return _tail(count, trials, chance, complement)


def _tail(count: int, trials: int, chance: float, complement: float) -> float:
    """Return the probability of this many successes or more, for a count above the mean."""
    start = _probability(count, trials, chance, complement)
    if start == 0:
        return 0.0
    return start * complement * _fraction(count, trials, chance, complement)


def _probability(count: int, trials: int, chance: float, complement: float) -> float:
    if not 0 <= count <= trials:
        return 0.0
    if chance == 0 or complement == 0:
        return float(count == (trials if complement == 0 else 0))
    failures = trials - count
    if count == 0:
        return exp(trials * _log(complement, chance))
    if failures == 0:
        return exp(trials * _log(chance, complement))
    difference = count - trials * chance
    if complement < chance:
        difference = trials * complement - failures
    exponent = (
        _stirling_error(trials)
        - _stirling_error(count)
        - _stirling_error(failures)
        - _deviance(count, trials * chance, difference)
        - _deviance(failures, trials * complement, -difference)
    )
    return exp(exponent) * sqrt(trials / (2 * pi * count * failures))


def _log(chance: float, complement: float) -> float:
    """Return the logarithm of a chance, from its complement where that is more exact."""
    return log1p(-complement) if complement < 0.5 else log(chance)


def _fraction(count: int, trials: int, chance: float, complement: float) -> float:
    """Return P[X >= count] / (P[X = count] (1 - chance)) for a count above the mean.

    It is ``a r`` in the continued fraction of Didonato and Morris (their BFRAC), whose lambda is
    computed from the smaller one of the two chances.
    """
    a = float(count)
    b = float(trials - count + 1)
    distance = (a + b) * complement - b if a > b else a - (a + b) * chance
    c = distance + 1
    c0 = b / a
    c1 = 1 + 1 / a
    previous = 1.0  # p_n of the paper: 1 + (n - 1) / a
    step = a + 1
    numerators = (0.0, 1.0)
    denominators = (1.0, c / c1)
    ratio = c1 / c
    for term in range(1, _MAX_TERMS):
        share = term / a
        weight = term * (b - term) * chance
        scale = a / step
        alpha = previous * (previous + c0) * scale * scale * (weight * chance)
        beta = term + weight / step + (share + 1) / (c1 + 2 * share) * (c + term * (complement + 1))
        previous = share + 1
        step += 2
        numerator = alpha * numerators[0] + beta * numerators[1]
        denominator = alpha * denominators[0] + beta * denominators[1]
        last_ratio = ratio
        ratio = numerator / denominator
        if abs(ratio - last_ratio) <= _CONVERGED * ratio:
            break
        numerators = (numerators[1] / denominator, ratio)
        denominators = (denominators[1] / denominator, 1.0)
    return a * ratio


def _stirling_error(count: int) -> float:
    """Return ln(n!) - ln(sqrt(2 pi n) (n / e)^n)."""
    if count < _LISTED_FACTORIALS:
        return _LISTED_ERRORS[count]
    square = 1.0 / (float(count) * count)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return series / count


_LISTED_ERRORS = (
    0.0,
    *(
        log(factorial(count)) - (0.5 * log(2 * pi * count) + count * log(count) - count)
        for count in range(1, _LISTED_FACTORIALS)
    ),
)


def _deviance(count: float, mean: float, difference: float) -> float:
    """Return x ln(x / y) + y - x, without cancellation where x is near y.

    ``difference`` is x - y, which the caller knows better than two rounded numbers tell.
    """
    if abs(difference) >= 0.1 * (count + mean):
        return count * log(count / mean) - difference
    ratio = difference / (count + mean)
    total = difference * ratio
    term = 2 * count * ratio
    square = ratio * ratio
    for odd in range(3, 1000, 2):
        term *= square
        following = total + term / odd
        if following == total:
            break
        total = following
    return total
