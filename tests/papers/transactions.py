"""Stand-ins for the transactions of Wang 2021, section 5.4: as many users and items as were published.

The data sets themselves do not travel with this code.  Everybody draws a geometric number of items from a power law of
the item's rank and keeps each once.  Means and exponents are a choice; the most frequent item comes first in
expectation.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sottovoce.maths.ragged import Baskets


@dataclass(frozen=True)
class Shop:
    """Numbers of users and items, the mean number of draws, and a weight (rank + shift)^-exponent."""

    users: int
    items: int
    mean: float
    exponent: float
    shift: int = 0

    def baskets(self, seed=0, users=None):
        """What everybody has."""
        rng = np.random.default_rng(seed)
        sizes = rng.geometric(1 / self.mean, users or self.users)
        weights = (np.arange(1, self.items + 1) + self.shift) ** -self.exponent
        bounds = np.cumsum(weights / weights.sum())
        drawn = np.searchsorted(bounds, rng.random(sizes.sum())).clip(0, self.items - 1)
        return Baskets.of(sizes, drawn)


POS = Shop(515_000, 1657, 6.5, 1.0)
KOSARAK = Shop(990_002, 41_270, 8.1, 1.1)
ONLINE = Shop(541_909, 2603, 8.0, 0.8, shift=2)


def top_items(baskets, items, top):
    """The most frequent items and how many people have each, most frequent first."""
    counts = baskets.counts(items)
    return {(item,): int(counts[item]) for item in np.argsort(-counts, kind="stable")[:top].tolist()}


def top_itemsets(baskets, items, top, among=60, largest=4):
    """The most frequent sets of items and how many people have each whole: every set of the most frequent items.

    A set is never more frequent than its rarest item, so no set with an item beyond ``among`` can belong to the top as
    long as the last of the top is more frequent than the item after them; that is checked, and so is the size.
    """
    counts = baskets.counts(items)
    ranked = np.argsort(-counts, kind="stable")
    rows = {item: np.packbits(baskets.holds(item)) for item in ranked[:among].tolist()}
    found, level = Counter(), {(item,): row for item, row in rows.items()}
    for _ in range(largest):
        found.update({chosen: int(np.bitwise_count(row).sum()) for chosen, row in level.items()})
        last = sorted(found.values(), reverse=True)[:top][-1]
        level = {
            (*chosen, item): row & rows[item]
            for chosen, row in level.items()
            if found[chosen] >= last
            for item in rows
            if item > chosen[-1]
        }
    best = dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:top])
    assert min(best.values()) > counts[ranked[among]]
    assert max(map(len, best)) < largest
    return best
