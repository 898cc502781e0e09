"""What really is frequent among people whose values are known: values, items and sets of items, with true counts."""

from collections.abc import Iterable
from heapq import heappush, heappushpop
from typing import Any

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.domains.bits import Bits
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets.itemsets import Itemsets
from sottovoce.tasks.plan import Plan

JOINT = " + "  # between the items of a set

Counts = dict[str, int]


def searches(plan: Plan) -> bool:
    """Return whether a plan looks for what is frequent, instead of asking about every value."""
    return isinstance(plan.domain, (Bits, Strings, Sets))


def sought(plan: Any, held: Any) -> Counts:
    """Return what a search should have found, most frequent first, and how many people hold each."""
    if isinstance(plan, Itemsets):
        return _sets(held, plan.domain, plan.top)
    everything = _items(held, plan.domain) if isinstance(plan.domain, Sets) else _values(held, plan.domain)
    ranked = sorted(everything.items(), key=lambda entry: -entry[1])
    threshold = getattr(plan, "threshold", 0.0)
    if threshold:
        return {label: count for label, count in ranked if count > threshold * len(held)}
    return dict(ranked[: plan.top])


def counted(plan: Any, held: Any, labels: Iterable[str]) -> Counts:
    """Return how many people really hold each of what a search has found."""
    if not isinstance(plan, Itemsets):
        everything = _items(held, plan.domain) if isinstance(plan.domain, Sets) else _values(held, plan.domain)
        return {label: everything.get(label, 0) for label in labels}
    found = list(labels)
    places = {label: item for item, label in enumerate(plan.domain.labels)}
    whole = held.holding([sorted(_parts(label, places)) for label in found])
    return dict(zip(found, whole.counts(len(found)).tolist(), strict=True))


def _values(held: Any, domain: Bits | Strings) -> Counts:
    """Return every value that somebody holds, by label."""
    different, counts = np.unique(held, axis=0, return_counts=True)
    numbers = different.tolist() if held.ndim == 1 else [int.from_bytes(row.tobytes(), "little") for row in different]
    return {domain.shown(number): count for number, count in zip(numbers, counts.tolist(), strict=True)}


def _items(held: Baskets, domain: Sets) -> Counts:
    return dict(zip(domain.labels, held.counts(domain.items.size).tolist(), strict=True))


def _sets(held: Baskets, domain: Sets, top: int) -> Counts:
    """Return the sets of items that most people have whole; their items are all among the ``top`` single ones."""
    singles = np.argsort(-held.counts(domain.items.size), kind="stable")[:top].tolist()
    columns = [held.holds(item) for item in singles]
    best: list[tuple[int, int, tuple[int, ...]]] = []  # a heap; of equal sets the smaller, then earlier ranks win

    def extend(ranks: tuple[int, ...], holders: Bools) -> None:
        for rank in range(-ranks[-1] + 1 if ranks else 0, len(singles)):
            both = holders & columns[rank]
            entry = (int(np.count_nonzero(both)), -len(ranks), (*ranks, -rank))
            if not entry[0] or (len(best) == top and entry[0] < best[0][0]):
                continue  # no set that contains this one is more frequent
            heappush(best, entry) if len(best) < top else heappushpop(best, entry)
            extend(entry[2], both)

    extend((), np.ones(len(held), bool))
    names, found = domain.labels, sorted(best, reverse=True)
    return {JOINT.join(names[item] for item in sorted(singles[-rank] for rank in ranks)): n for n, _, ranks in found}


def _parts(label: str, places: dict[str, int]) -> list[int]:
    """Return the items that a label names, or nothing; names of items may contain what joins them."""
    pieces = label.split(JOINT)
    for cut in range(len(pieces), 0, -1):
        first, rest = JOINT.join(pieces[:cut]), JOINT.join(pieces[cut:])
        others = _parts(rest, places) if cut < len(pieces) else []
        if first in places and (others or cut == len(pieces)):
            return [places[first], *others]
    return []
