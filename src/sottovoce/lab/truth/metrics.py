"""How well a search found what is frequent: F1, normalised cumulative rank, and errors of counts.

Source: Wang 2021, section 4.4.1.
"""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any


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
