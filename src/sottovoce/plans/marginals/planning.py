"""How many attributes a view holds and how many views there are: noise against sampling, before anything is asked.

A view of more attributes answers more but spreads its users over more cells; more views cover more sets but have fewer
users each.  Both errors have formulas; what remains, how well views determine what they do not contain, depends on the
data, and a threshold stands for it.

Source: Wang 2021, section 6.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, expm1, inf

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.covering import Blocks, cover

THRESHOLD = 0.001
_LISTED = 100_000  # views that are compared all at once


@dataclass(frozen=True)
class Layout:
    """So many views of so many attributes."""

    views: int
    size: int


def expected_cells(sizes: Sequence[int], attributes: int) -> float:
    """Return the cells of a view of so many attributes, averaged over all of them.

    >>> expected_cells([2, 2, 2], 2), expected_cells([2, 3], 1)
    (4.0, 2.5)
    """
    products = [1.0] + [0.0] * attributes  # elementary symmetric polynomials, one attribute after another
    for cardinality in sizes:
        for order in range(attributes, 0, -1):
            products[order] += cardinality * products[order - 1]
    return products[attributes] / comb(len(sizes), attributes)


def noise_error(users: int, sizes: Sequence[int], epsilon: float, attributes: int) -> float:
    """Return the squared error that noise leaves in a marginal of one attribute, averaged over its views; equation 6.4.

    It does not depend on the number of views: with more of them each has fewer users, and more contain the attribute.
    """
    cells = expected_cells(sizes, attributes)
    distance = expm1(epsilon) ** 2
    if not distance:
        return inf  # an epsilon so small that its square is nothing
    variance = min(4 * exp(epsilon), cells - 2 + exp(epsilon)) / distance
    return variance * cells / attributes * len(sizes) / users


def layout(users: int, sizes: Sequence[int], epsilon: float, order: int, threshold: float = THRESHOLD) -> Layout:
    """Return how many views of how many attributes serve marginals of an order best; Algorithm 2.

    >>> layout(1 << 16, [2] * 8, 2.0, 3)
    Layout(views=14, size=4)
    """
    attributes = len(sizes)
    if not 1 <= order <= attributes or not 0 < threshold < 1:
        raise ParameterError("marginals are of 1 to all attributes, and a threshold lies between 0 and 1")
    most = int(threshold * users)
    largest = min(2, attributes)
    while largest < attributes and order * noise_error(users, sizes, epsilon, largest + 1) <= threshold:
        largest += 1
    many = Layout(min(most, comb(attributes, largest)), largest)
    if largest < order:
        return _enough(many, attributes)
    smallest = largest
    while smallest > order and cover(attributes, order, smallest - 1, max(most, 1)) is not None:
        smallest -= 1
    if smallest == largest:
        return _enough(many, attributes)
    tried = [_priced(users, sizes, epsilon, order, size) for size in range(smallest, largest + 1)]
    return min((one for one in tried if one[0] < 1), key=lambda one: one[0], default=(1.0, many))[1]


def views(layout: Layout, attributes: int, order: int) -> Blocks:
    """Return the views: a covering of all sets of the order if it fits, then those that cover the most pairs anew."""
    chosen = list(cover(attributes, min(order, layout.size), layout.size, layout.views) or ())
    if len(chosen) == layout.views:
        return tuple(chosen)
    seen, uses = np.zeros((attributes, attributes), np.int64), np.zeros(attributes, np.int64)
    for view in chosen:
        _count(view, seen, uses)
    kind = _Listed if comb(attributes, layout.size) <= _LISTED else _Grown
    free = kind(attributes, layout.size, set(chosen))
    while len(chosen) < layout.views:
        chosen.append(free.next(seen, uses))
        _count(chosen[-1], seen, uses)
    return tuple(chosen)


def _priced(users: int, sizes: Sequence[int], epsilon: float, order: int, size: int) -> tuple[float, Layout]:
    blocks = cover(len(sizes), order, size)
    assert blocks is not None
    error = max(len(blocks) / users, order * noise_error(users, sizes, epsilon, size))
    return error, Layout(len(blocks), size)


def _enough(chosen: Layout, attributes: int) -> Layout:
    if chosen.views * chosen.size < attributes:
        raise ParameterError(
            "there are too few users to see every attribute in some view: ask more, or allow more error"
        )
    return chosen


def _count(view: tuple[int, ...], seen: Ints, uses: Ints) -> None:
    """Note the pairs and the attributes of a view."""
    seen[np.ix_(view, view)] = 1
    uses[list(view)] += 1


class _Listed:
    """All views that have not been taken yet."""

    def __init__(self, attributes: int, size: int, taken: set[tuple[int, ...]]) -> None:
        free = [view for view in combinations(range(attributes), size) if view not in taken]
        self._views = np.array(free, np.int64).reshape(-1, size)
        self._pairs = list(combinations(range(size), 2))

    def next(self, seen: Ints, uses: Ints) -> tuple[int, ...]:
        """Return the view that repeats the fewest pairs, then the least used attributes, then the first."""
        columns = self._views.T
        repeated = sum((seen[columns[one], columns[other]] for one, other in self._pairs), np.zeros(len(self._views)))
        best = int(np.argmin(repeated * (uses.sum() + 1) + uses[columns].sum(axis=0)))
        view = tuple(int(one) for one in self._views[best])
        self._views = np.delete(self._views, best, axis=0)
        return view


class _Grown:
    """Views that are too many to list, made attribute by attribute."""

    def __init__(self, attributes: int, size: int, taken: set[tuple[int, ...]]) -> None:
        self._attributes, self._size, self._taken = attributes, size, taken

    def next(self, seen: Ints, uses: Ints) -> tuple[int, ...]:
        """Return a view that grows by what repeats the fewest pairs, then the least used, then the first."""
        view: tuple[int, ...] = ()
        while len(view) < self._size:
            wider = [tuple(sorted((*view, one))) for one in range(self._attributes) if one not in view]
            free = [one for one in wider if one not in self._taken] or [self._first()]
            view = min(free, key=lambda one: (int(seen[np.ix_(one, one)].sum()), int(uses[list(one)].sum()), one))
        self._taken.add(view)
        return view

    def _first(self) -> tuple[int, ...]:
        every = combinations(range(self._attributes), self._size)
        return next(view for view in every if view not in self._taken)
