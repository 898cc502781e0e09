"""How far an outcome is from the truth: F1, normalised cumulative rank, errors, divergence.

Source: Wang 2021, section 4.4.1.
"""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from sottovoce.arrays import Floats


def f1(truth: Sequence[Any], returned: Sequence[Any]) -> float:
    """Return the harmonic mean of precision and recall.

    >>> f1("abcd", "acxy")
    0.5
    """
    common = len(set(truth) & set(returned))
    return 2 * common / (len(truth) + len(returned)) if common else 0.0


def ncr(truth: Sequence[Any], returned: Sequence[Any]) -> float:
    """Return the normalised cumulative rank: the most frequent of k is worth k, the last one 1.

    >>> ncr("abcd", "acxy")
    0.6
    """
    worth = {value: len(truth) - rank for rank, value in enumerate(truth)}
    return sum(worth.get(value, 0) for value in set(returned)) / sum(worth.values())


def squared_error(truth: Mapping[Any, float], returned: Mapping[Any, float]) -> float:
    """Return the mean squared error over values that were rightly found; NaN if there are none.

    >>> squared_error({"a": 10, "b": 5}, {"a": 12, "x": 3})
    4.0
    """
    common = set(truth) & set(returned)
    return (
        sum((truth[value] - returned[value]) ** 2 for value in common) / len(common)
        if common
        else nan
    )


def top_error(truth: Mapping[Any, float], returned: Mapping[Any, float]) -> float:
    """Return the mean squared error over all values sought; a missed one has an estimate of 0.

    >>> top_error({"a": 10, "b": 5}, {"a": 12, "x": 3})
    14.5
    """
    return sum((share - returned.get(value, 0.0)) ** 2 for value, share in truth.items()) / len(
        truth
    )


def jensen_shannon(first: Floats, second: Floats) -> float:
    """Return the Jensen-Shannon divergence of two distributions, in nats: 0 to ln 2.

    It is the mean of the Kullback-Leibler divergences from their average.

    >>> round(jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 6)
    0.693147
    """
    middle = (first + second) / 2
    return (_divergence(first, middle) + _divergence(second, middle)) / 2


def _divergence(shares: Floats, base: Floats) -> float:
    held = shares > 0
    return float(shares[held] @ np.log(shares[held] / base[held]))
