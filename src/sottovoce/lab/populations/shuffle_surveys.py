"""Stand-ins for the three data sets of Wang 2021, chapter 9, which do not travel with this code.

| population | people | values | shape |
|---|---|---|---|
| cities, for IPUMS | 602,325 | 915 | shares fall as 1 / rank |
| pages, for Kosarak | 990,002 | 42,178 | shares fall as 1 / rank^1.1 |
| queries, for AOL | 500,000 | 120,000 texts of 48 bits | one each, and draws by a power law |

The dissertation does not say how many people the Kosarak set has; its row of buckets allows 989,205
to 990,609, and 990,002 is the number of rows of the public file.  The shape does not matter for the
mean squared error, which depends only on how many people and values there are.

Source: Wang 2021, section 9.6.1.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.arrays import Ints, Longs
from sottovoce.lab.populations.zipf import zipf

CITIES = 915
CITIZENS = 602_325
PAGES = 42_178
VISITORS = 990_002
QUERIES = 120_000
SEARCHERS = 500_000
LETTERS = 6  # of a query; one byte each


def cities() -> Ints:
    """Return how many people live in each city."""
    return zipf(CITIES, CITIZENS, exponent=1.0)


def pages() -> Ints:
    """Return how many people name each page."""
    return zipf(PAGES, VISITORS, exponent=1.1)


@dataclass(frozen=True)
class LongValues:
    """Values of 48 bits and how many people hold each, the most frequent first."""

    codes: Longs
    counts: Ints

    def most_frequent(self, top: int) -> list[int]:
        """Return the codes of the values that most people hold."""
        return [int(code) for code in self.codes[:top]]


@cache
def queries(exponent: float = 1.3, seed: int = 9) -> LongValues:
    """Return random texts of six small letters as numbers of 48 bits."""
    generator = np.random.default_rng(seed)
    letters = generator.integers(ord("a"), ord("z") + 1, (2 * QUERIES, LETTERS), dtype=np.uint64)
    codes = np.zeros(len(letters), np.uint64)
    for column in letters.T:
        codes = (codes << np.uint64(8)) | column
    distinct = np.array(list(dict.fromkeys(codes.tolist()))[:QUERIES], np.uint64)
    weights = np.arange(1.0, QUERIES + 1) ** -exponent
    drawn = generator.multinomial(SEARCHERS - QUERIES, weights / weights.sum())
    return LongValues(distinct, 1 + np.sort(drawn)[::-1])
