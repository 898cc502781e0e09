"""Frequencies of items, and sets of people who have items independently of each other.

Source: Du 2025, section 5.4.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths.ragged import Baskets

_RANKS = np.arange(1, 101)
_MIDDLES = (_RANKS - 0.5) / 100
_BETA_DENSITY = _MIDDLES * (1 - _MIDDLES) ** 4  # of Beta(2, 5), but for a constant

LINEAR = 0.3 * _RANKS / 100
LINEAR45 = _RANKS / 100
BETA = 0.3 * _BETA_DENSITY / _BETA_DENSITY.max()
WORDS = np.array(
    [
        *(
            0.566,
            0.454,
            0.438,
            0.416,
            0.413,
            0.402,
            0.401,
            0.397,
            0.356,
            0.282,
            0.227,
            0.182,
            0.175,
        ),
        *(0.161, 0.159, 0.136, 0.13, 0.101, 0.084, 0.083, 0.062, 0.026, 0.018, 0.013, 0.012, 0.012),
    ]
)
KOSARAK = 0.6 * np.arange(1, 41_271.0) ** -0.96
LAPLACE = 0.95 * np.exp(-np.arange(9883) / 61)


def independent_baskets(frequencies: Floats, users: int, generator: np.random.Generator) -> Baskets:
    """Return the sets of people who have each item with its frequency, independently."""
    has = generator.random((users, len(frequencies))) < frequencies
    return Baskets.of(has.sum(axis=1), np.nonzero(has)[1])
