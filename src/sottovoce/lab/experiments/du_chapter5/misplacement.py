"""Delta, the chance that any item of a top k stands on the wrong side, and its largest value.

Source: Du 2025, section 5.2.
"""

from math import lgamma, log, log1p

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.settings import share, whole
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports
from sottovoce.plans.itemsets.confidence import doubt


def misplaced(reports: ItemReports) -> float:
    """Return Delta, the chance that any item stands on the wrong side.

    It saturates near 1, where ``doubt`` does not.
    """
    return 1 - 10 ** -doubt(reports)


def overtaken(times: int, high: float, low: float) -> float:
    """Return the chance that the item with the lower rate has at least as many ones.

    Both items are asked about equally often.

    >>> round(overtaken(50, 0.6, 0.5), 8)
    0.18150672
    """
    whole("times", times, 1)
    share("high", high)
    share("low", low)
    return float(_binomial(times, low) @ np.cumsum(_binomial(times, high)))


def worst_misplaced(users: int, items: int, sought: int, rate: float, gap: float) -> float:
    """Return the largest Delta of even sampling.

    The k-th item has this rate, and no item is nearer to it than the gap.
    """
    whole("sought", sought, 1, items - 1)
    whole("users", users, items)
    if not 0 <= rate - gap <= rate + gap <= 1:
        raise ParameterError("`rate` and `gap` must leave rates from 0 to 1")
    times = users // items
    of_top = overtaken(times, rate + gap, rate - gap)
    of_rest = overtaken(times, rate, rate - gap)
    return 1 - (1 - of_top) ** sought * (1 - of_rest) ** (items - sought)


def _binomial(times: int, rate: float) -> Floats:
    """Return the chance of every number of ones.

    It is computed from logarithms, because a coefficient of thousands is too large for a float.
    """
    ones = np.arange(times + 1)
    if rate in (0, 1):
        return np.asarray(ones == rate * times, np.float64)
    ways = [
        lgamma(times + 1) - lgamma(count + 1) - lgamma(times - count + 1) for count in ones.tolist()
    ]
    return np.asarray(np.exp(np.array(ways) + ones * log(rate) + (times - ones) * log1p(-rate)))
