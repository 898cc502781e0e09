"""Shapes of numbers in [0, 1], as shares of equal buckets: smooth ones, and ones that are not.

Decoders that smooth do well on the first kind; people's real numbers are often of the second:
heaped on round values, at an end of the range, or all the same.
"""

import numpy as np

from sottovoce.arrays import Floats

_ROUND = (0.1, 0.2, 0.25, 0.5, 0.75)  # where the spiky population has its spikes


def number_shapes(size: int) -> dict[str, Floats]:
    """Return the share of people in each of ``size`` buckets, by the name of the shape.

    >>> shapes = number_shapes(64)
    >>> len(shapes), float(shapes["two spikes"].max())
    (13, 0.6)
    """
    middles = (np.arange(size) + 0.5) / size
    left, right = (np.exp(-0.5 * ((middles - centre) / 0.075) ** 2) for centre in (0.25, 0.75))
    ages = np.interp(100 * middles, (0, 20, 35, 60, 75, 90, 100), (11, 12, 14, 13, 8, 2.5, 0))
    incomes = _in_proportion(np.exp(-0.5 * (np.log(middles / 0.2) / 0.6) ** 2) / middles)
    every_fifth = np.where((100 * middles).astype(np.int64) % 5 == 0, 3, 1)
    return {
        "smooth": _in_proportion(middles * (1 - middles) ** 4),
        "mirrored": _in_proportion(middles**4 * (1 - middles)),
        "bimodal": _in_proportion(left + right),
        "flat": np.full(size, 1 / size),
        "edge": _in_proportion(np.exp(-20 * middles)),
        "ages": _in_proportion(ages),
        "heaped ages": _in_proportion(ages * every_fifth),
        "incomes": incomes,
        "incomes and zeros": 0.7 * incomes + _spikes(size, {0.0: 0.3}),
        "spiky": 0.2 / size + _spikes(size, dict.fromkeys(_ROUND, 0.8 / len(_ROUND))),
        "two spikes": _spikes(size, {0.3: 0.6, 0.7: 0.4}),
        "both ends": _spikes(size, {0.0: 0.6, 1.0: 0.4}),
        "constant": _spikes(size, {0.5: 1.0}),
    }


def _in_proportion(amounts: Floats) -> Floats:
    return np.asarray(amounts / amounts.sum())


def _spikes(size: int, shares: dict[float, float]) -> Floats:
    spikes = np.zeros(size)
    for place, share in shares.items():
        spikes[min(int(place * size), size - 1)] += share
    return spikes
