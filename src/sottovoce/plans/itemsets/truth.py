"""The items and sets of items that really are most frequent, for people whose sets are known."""

from heapq import heappush, heappushpop
from typing import Any

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.domains.sets import JOINT, Sets


def most_frequent_items(domain: Sets, values: Any, top: int) -> dict[str, int]:
    """Return the ``top`` items that most people have, most frequent first."""
    counts = domain.counts(domain.indices(values))
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    return dict(ranked[:top])


def most_frequent_sets(domain: Sets, values: Any, top: int) -> dict[str, int]:
    """Return the ``top`` sets of items that most people have whole, most frequent first.

    The items of these sets are all among the ``top`` single items, and a set is never more frequent
    than a part of it, so the search can stop early.
    """
    baskets = domain.indices(values)
    singles = np.argsort(-baskets.counts(domain.items.size), kind="stable")[:top].tolist()
    columns = [baskets.holds(item) for item in singles]
    # A heap; ties: the smaller set, then earlier ranks.
    best: list[tuple[int, int, tuple[int, ...]]] = []

    def extend(ranks: tuple[int, ...], holders: Bools) -> None:
        for rank in range(-ranks[-1] + 1 if ranks else 0, len(singles)):
            both = holders & columns[rank]
            entry = (int(np.count_nonzero(both)), -len(ranks), (*ranks, -rank))
            if not entry[0] or (len(best) == top and entry[0] < best[0][0]):
                continue  # no set that contains this one is more frequent
            if len(best) < top:
                heappush(best, entry)
            else:
                heappushpop(best, entry)
            extend(entry[2], both)

    extend((), np.ones(len(baskets), bool))
    labels = domain.labels
    return {
        JOINT.join(labels[item] for item in sorted(singles[-rank] for rank in ranks)): count
        for count, _, ranks in sorted(best, reverse=True)
    }
