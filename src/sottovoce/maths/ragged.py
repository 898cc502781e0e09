"""Ragged arrays: one set of items per person, all of them in two arrays.

Sets of labels are converted to this form before they are encoded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Ints
from sottovoce.errors import ParameterError


@dataclass(frozen=True, eq=False, repr=False)  # what people hold is not printed
class Baskets:
    """The items of all people.

    Those of person i, ascending and each once, are ``items[starts[i] : starts[i + 1]]``.

    >>> Baskets.of([2, 0, 1], [3, 1, 4]).sizes
    array([2, 0, 1])
    """

    starts: Ints
    items: Ints

    @classmethod
    def of(cls, sizes: Any, items: Any) -> "Baskets":
        """Return baskets of the given sizes, filled with the items in turn.

        Order and repetition within a basket do not count.
        """
        sizes = np.asarray(sizes, np.int64)
        items = np.asarray(items, np.int64)
        if sizes.sum() != len(items) or (sizes < 0).any() or (items < 0).any():
            raise ParameterError(
                "`items` of baskets must be from 0 on, and as many as the sum of `sizes`"
            )
        owners = np.repeat(np.arange(len(sizes)), sizes)
        base = int(items.max()) + 1 if len(items) else 1
        codes = np.sort(owners * base + items)
        codes = codes[np.diff(codes, prepend=-1) > 0]
        return cls._of_codes(codes, len(sizes), base)

    @classmethod
    def _of_codes(cls, codes: Ints, people: int, base: int) -> "Baskets":
        """Return the baskets of ascending codes owner * base + item."""
        starts = np.searchsorted(codes, np.arange(people + 1) * base)
        return cls(starts.astype(np.int64), codes % base)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, people: Any) -> "Baskets":
        """Return the baskets of some people, given as a slice, a mask or numbers."""
        chosen = np.arange(len(self))[people]
        sizes = self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        offsets = np.repeat(self.starts[chosen] - starts[:-1], sizes)
        return Baskets(starts, self.items[np.arange(starts[-1]) + offsets])

    @cached_property
    def sizes(self) -> Ints:
        """Return how many items everybody has."""
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> Ints:
        """Return the owner of every item."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def holds(self, item: int) -> Bools:
        """Return for every person whether they have an item."""
        has_item = np.zeros(len(self), bool)
        has_item[self.owners[self.items == item]] = True
        return has_item

    def counts(self, size: int) -> Ints:
        """Return how many people have each of ``size`` items."""
        return np.bincount(self.items, minlength=size)

    def holding(self, candidates: Sequence[Sequence[int]]) -> "Baskets":
        """Return for every person the indices of the candidates that they have completely.

        A candidate is a set of items.
        """
        needed = np.array([len(candidate) for candidate in candidates], np.int64)
        needed_items = np.array([item for candidate in candidates for item in candidate], np.int64)
        order = np.argsort(needed_items, kind="stable")
        sorted_items = needed_items[order]
        candidate_of = np.repeat(np.arange(len(candidates)), needed)[order]
        # first and sizes: the run of candidates that contain each item
        first = np.searchsorted(sorted_items, self.items)
        sizes = np.searchsorted(sorted_items, self.items, side="right") - first
        ends = np.cumsum(sizes)
        steps = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
        matches = candidate_of[np.repeat(first, sizes) + steps]
        codes, parts = np.unique(
            np.repeat(self.owners, sizes) * len(candidates) + matches, return_counts=True
        )
        whole = codes[parts == needed[codes % len(candidates)]]
        return Baskets._of_codes(whole, len(self), len(candidates))
