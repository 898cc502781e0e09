"""Stand-ins for the transactions of Wang 2021, section 5.4, with their users and items.

The data sets themselves do not travel with this code.  Everybody draws a geometric number of items
from a power law of the item's rank and keeps each once.  Means and exponents are a choice; the most
frequent item comes first in expectation.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sottovoce.maths.ragged import Baskets

Itemset = tuple[int, ...]


@dataclass(frozen=True)
class Transactions:
    """Numbers of users, items and mean draws, and a weight (rank + shift)^-exponent."""

    users: int
    items: int
    mean: float
    exponent: float
    shift: int = 0

    def baskets(self, seed: int = 0, users: int | None = None) -> Baskets:
        """Return what everybody has."""
        generator = np.random.default_rng(seed)
        sizes = generator.geometric(1 / self.mean, users or self.users)
        weights = (np.arange(1, self.items + 1) + self.shift) ** -self.exponent
        bounds = np.cumsum(weights / weights.sum())
        drawn = np.searchsorted(bounds, generator.random(sizes.sum())).clip(0, self.items - 1)
        return Baskets.of(sizes, drawn)


POS = Transactions(515_000, 1657, 6.5, 1.0)
KOSARAK = Transactions(990_002, 41_270, 8.1, 1.1)
ONLINE = Transactions(541_909, 2603, 8.0, 0.8, shift=2)


def top_items(baskets: Baskets, items: int, top: int) -> dict[Itemset, int]:
    """Return the most frequent items and how many people have each, most frequent first."""
    counts = baskets.counts(items)
    ranked = np.argsort(-counts, kind="stable")[:top].tolist()
    return {(item,): int(counts[item]) for item in ranked}


def top_itemsets(
    baskets: Baskets, items: int, top: int, among: int = 60, largest: int = 4
) -> dict[Itemset, int]:
    """Return the most frequent sets of items and how many people have each whole.

    All sets of the ``among`` most frequent items are counted.  A set is never more frequent than
    its rarest item, so no set with a rarer item belongs to the top as long as the last of the top
    is more frequent than the item after ``among``; that is checked, and so is the size.
    """
    counts = baskets.counts(items)
    ranked = np.argsort(-counts, kind="stable")
    holders = {item: np.packbits(baskets.holds(item)) for item in ranked[:among].tolist()}
    sets: Counter[Itemset] = Counter()
    level: dict[Itemset, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]
    level = {(item,): row for item, row in holders.items()}
    for _ in range(largest):
        sets.update({chosen: int(np.bitwise_count(row).sum()) for chosen, row in level.items()})
        last = sorted(sets.values(), reverse=True)[:top][-1]
        frequent = {chosen: row for chosen, row in level.items() if sets[chosen] >= last}
        level = {}
        for itemset, row in frequent.items():
            for item in holders:
                if item > itemset[-1]:
                    level[*itemset, item] = row & holders[item]
    best = dict(sorted(sets.items(), key=lambda pair: (-pair[1], pair[0]))[:top])
    assert min(best.values()) > counts[ranked[among]]
    assert max(map(len, best)) < largest
    return best
