"""How sure a top k is: the chance that items stand on the wrong side, and whether pruning can find them at all.

The chances are indicators, not guarantees: comparisons are treated as independent, and the pair at the boundary
counts twice.

Source: Du 2025, sections 5.2 and 5.3.
"""

from math import erfc, exp, expm1, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.adaptive_sampling import Asked


def p_values(asked: Asked) -> Floats:
    """Return, from the highest item on, the chance of its lead over the other side if there were none (Welch).

    The top is compared with the best of the rest, the rest with the last of the top.
    """
    rates, times = asked.rates[asked.order], asked.times[asked.order]
    spread = np.where(times > 0, rates * (1 - rates) / np.maximum(times, 1), inf)
    last, first = asked.sought - 1, asked.sought
    other = np.where(np.arange(len(rates)) < asked.sought, first, last)
    leads, errors = np.abs(rates - rates[other]), np.sqrt(spread + spread[other])
    scores = np.divide(leads, errors, out=np.where(leads > 0, inf, 0.0), where=errors > 0)
    return np.array([erfc(score / sqrt(2)) / 2 for score in scores.tolist()])


def doubt(asked: Asked) -> float:
    """Return -log10(1 - Delta), Delta the chance that any item stands on the wrong side: 0 without any doubt.

    >>> round(doubt(Asked(np.array([400, 400, 400]), np.array([300, 200, 100]), 1)), 9)
    0.0
    """
    return abs(float(np.log1p(-p_values(asked)).sum())) / log(10)


def misplaced(asked: Asked) -> float:
    """Return Delta, the chance that any item stands on the wrong side; it saturates near 1, ``doubt`` does not."""
    return 1 - 10 ** -doubt(asked)


def overtaken(times: int, high: float, low: float) -> float:
    """Return the chance that of two items asked about equally often the one with the lower rate has as many ones.

    >>> round(overtaken(50, 0.6, 0.5), 8)
    0.18150672
    """
    if times < 1 or not (0 <= low <= 1 and 0 <= high <= 1):
        raise ParameterError("rates are from 0 to 1, of items that were asked about")
    return float(_binomial(times, low) @ np.cumsum(_binomial(times, high)))


def worst_misplaced(users: int, items: int, sought: int, rate: float, gap: float) -> float:
    """Return the largest Delta of even sampling where the k-th item has this rate and no other is nearer than a gap."""
    if not 1 <= sought < items <= users or not 0 <= rate - gap <= rate + gap <= 1:
        raise ParameterError("there are users for all items, some are not sought, and rates are from 0 to 1")
    times = users // items
    top, rest = overtaken(times, rate + gap, rate - gap), overtaken(times, rate, rate - gap)
    return 1 - (1 - top) ** sought * (1 - rest) ** (items - sought)


def survives(users: int, epsilon: float, chance: float, kept: float) -> tuple[float, float, float]:
    """Return the count, the error and the needed lead over it of an item that is reported with this chance.

    So many users are asked for one item of their set, and the share ``kept`` of all items goes on; the item is
    likely to be among them if its count exceeds its error times the lead.
    """
    error = sqrt(users * 4 * exp(epsilon)) / expm1(epsilon)
    return users * chance, error, NormalDist().inv_cdf(1 - kept) + 1


def _binomial(times: int, rate: float) -> Floats:
    """Return the chance of every number of ones, from logarithms: a coefficient of thousands is no float."""
    if rate in (0, 1):
        return np.asarray(np.arange(times + 1) == rate * times, np.float64)
    ways = [lgamma(times + 1) - lgamma(ones + 1) - lgamma(times - ones + 1) for ones in range(times + 1)]
    ones = np.arange(times + 1)
    return np.asarray(np.exp(np.array(ways) + ones * log(rate) + (times - ones) * log1p(-rate)))
