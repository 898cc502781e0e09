"""View selection: how many views CALM asks about, of how many attributes, and which.

Documents that state the method "calm" have these views.  New tasks are planned by
``view_planning.py``.

A view of more attributes answers more but spreads its users over more cells (noise error).  More
views contain more sets but have fewer users each (sampling error).  Both errors have formulas.  How
well views determine the tables that they do not contain depends on the data; ``threshold`` stands
for that error.

    1. The size of a view grows while order * noise error <= threshold.
    2. If views of that size can contain all sets of ``order`` attributes with at most
       threshold * users views, the size and the covering with the smallest error are taken.
    3. Otherwise there are as many views as the threshold allows.

Views that are not needed for a covering are chosen so that they repeat the fewest pairs.

Source: Wang 2021, section 6.2, Algorithm 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, expm1, inf

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.settings import positive, whole
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.covering import Blocks, cover

THRESHOLD = 0.001
_MAX_LISTED = 100_000  # views that are compared all at once


@dataclass(frozen=True)
class ViewLayout:
    """A number of views, and the number of attributes of each."""

    views: int
    size: int


@dataclass(frozen=True)
class ViewSelection:
    """The public numbers that views are chosen from.

    ``sizes`` are the numbers of values of the attributes.

    >>> ViewSelection(1 << 16, (2,) * 8, epsilon=2.0, order=3).layout()
    ViewLayout(views=14, size=4)
    """

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        whole("users", self.users, 1)
        whole("order", self.order, 1, len(self.sizes))
        positive("threshold", self.threshold)

    def layout(self) -> ViewLayout:
        """Return how many views of how many attributes serve tables of the order best."""
        max_views = int(self.threshold * self.users)
        largest = self._largest_size()
        many = ViewLayout(min(max_views, comb(len(self.sizes), largest)), largest)
        if largest < self.order:
            return self._containing_all(many)
        smallest = self._smallest_covering_size(largest, max(max_views, 1))
        if smallest == largest:
            return self._containing_all(many)
        coverings = [self._covering_layout(size) for size in range(smallest, largest + 1)]
        best = min(coverings, key=self._worst_error)
        return best if self._worst_error(best) < 1 else many

    def views(self) -> Blocks:
        """Return the views of the layout."""
        return choose_views(self.layout(), len(self.sizes), self.order)

    def noise_error(self, size: int) -> float:
        """Return the squared error that noise leaves in a marginal of one attribute; equation 6.4.

        It is averaged over all views of ``size`` attributes.  It does not depend on the number of
        views: with more of them each has fewer users, but more contain the attribute.
        """
        cells = expected_cells(self.sizes, size)
        distance = expm1(self.epsilon) ** 2
        if not distance:
            return inf  # an epsilon so small that its square is 0
        variance = min(4 * exp(self.epsilon), cells - 2 + exp(self.epsilon)) / distance
        return variance * cells / size * len(self.sizes) / self.users

    def expected_error(self, layout: ViewLayout) -> float:
        """Return noise and sampling error of a table of the order."""
        return self.order * self.noise_error(layout.size) + layout.views / self.users

    def _largest_size(self) -> int:
        """Return the largest size whose noise error stays within the threshold, but at least 2."""
        attributes = len(self.sizes)
        size = min(2, attributes)
        while size < attributes and self.order * self.noise_error(size + 1) <= self.threshold:
            size += 1
        return size

    def _smallest_covering_size(self, largest: int, max_views: int) -> int:
        """Return the smallest size for which a covering has at most ``max_views`` views."""
        size = largest
        while size > self.order and cover(len(self.sizes), self.order, size - 1, max_views):
            size -= 1
        return size

    def _covering_layout(self, size: int) -> ViewLayout:
        blocks = cover(len(self.sizes), self.order, size)
        assert blocks is not None
        return ViewLayout(len(blocks), size)

    def _worst_error(self, layout: ViewLayout) -> float:
        return max(layout.views / self.users, self.order * self.noise_error(layout.size))

    def _containing_all(self, layout: ViewLayout) -> ViewLayout:
        """Return the layout, or refuse one whose views cannot contain every attribute."""
        if layout.views * layout.size < len(self.sizes):
            raise ParameterError(
                "too few views are allowed to contain every attribute: raise `users` or `threshold`"
            )
        return layout


def elementary_symmetric(numbers: Sequence[int], degree: int) -> list[int]:
    """Return the elementary symmetric polynomials of degree 0 to ``degree`` of some numbers.

    >>> elementary_symmetric([2, 3, 5], 2)
    [1, 10, 31]
    """
    sums = [1] + [0] * degree
    for number in numbers:
        for power in range(degree, 0, -1):
            sums[power] += number * sums[power - 1]
    return sums


def expected_cells(sizes: Sequence[int], attributes: int) -> float:
    """Return the number of cells of a view of so many attributes, averaged over all such views.

    >>> expected_cells([2, 2, 2], 2), expected_cells([2, 3], 1)
    (4.0, 2.5)
    """
    return elementary_symmetric(sizes, attributes)[attributes] / comb(len(sizes), attributes)


def choose_views(layout: ViewLayout, attributes: int, order: int) -> Blocks:
    """Return the views of a layout: a covering if it fits, then views that repeat few pairs."""
    covering = cover(attributes, min(order, layout.size), layout.size, layout.views)
    chosen = list(covering or ())
    if len(chosen) == layout.views:
        return tuple(chosen)
    coverage = PairCoverage.of(attributes, chosen)
    candidates: _ListedViews | GrownViews
    if comb(attributes, layout.size) <= _MAX_LISTED:
        candidates = _ListedViews(attributes, layout.size, set(chosen))
    else:
        candidates = GrownViews(attributes, layout.size, set(chosen))
    while len(chosen) < layout.views:
        view = candidates.next(coverage)
        chosen.append(view)
        coverage.add(view)
    return tuple(chosen)


@dataclass(frozen=True, eq=False)
class PairCoverage:
    """Which pairs of attributes some view contains, and how many views contain each attribute."""

    pairs: Ints
    uses: Ints

    @classmethod
    def of(cls, attributes: int, views: Sequence[tuple[int, ...]]) -> "PairCoverage":
        """Return the coverage of some views."""
        coverage = cls(np.zeros((attributes, attributes), np.int64), np.zeros(attributes, np.int64))
        for view in views:
            coverage.add(view)
        return coverage

    def add(self, view: tuple[int, ...]) -> None:
        """Count another view."""
        self.pairs[np.ix_(view, view)] = 1
        self.uses[list(view)] += 1


class _ListedViews:
    """All views that have not been chosen yet."""

    def __init__(self, attributes: int, size: int, chosen: set[tuple[int, ...]]) -> None:
        free = [view for view in combinations(range(attributes), size) if view not in chosen]
        self._views = np.array(free, np.int64).reshape(-1, size)
        self._pairs = list(combinations(range(size), 2))

    def next(self, coverage: PairCoverage) -> tuple[int, ...]:
        """Return the view with the fewest repeated pairs, then the least used attributes."""
        columns = self._views.T
        repeated = np.zeros(len(self._views))
        for first, second in self._pairs:
            repeated += coverage.pairs[columns[first], columns[second]]
        cost = repeated * (coverage.uses.sum() + 1) + coverage.uses[columns].sum(axis=0)
        best = int(np.argmin(cost))
        view = tuple(int(attribute) for attribute in self._views[best])
        self._views = np.delete(self._views, best, axis=0)
        return view


class GrownViews:
    """Views that are too many to list, grown attribute by attribute."""

    def __init__(self, attributes: int, size: int, chosen: set[tuple[int, ...]]) -> None:
        self._attributes = attributes
        self._size = size
        self._chosen = chosen

    def next(self, coverage: PairCoverage) -> tuple[int, ...]:
        """Return a view grown by the fewest repeated pairs, then the least used attributes."""

        def cost(view: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
            repeated = int(coverage.pairs[np.ix_(view, view)].sum())
            return repeated, int(coverage.uses[list(view)].sum()), view

        view: tuple[int, ...] = ()
        while len(view) < self._size:
            others = [attribute for attribute in range(self._attributes) if attribute not in view]
            wider = [tuple(sorted((*view, attribute))) for attribute in others]
            free = [candidate for candidate in wider if candidate not in self._chosen]
            view = min(free or [self._first_free()], key=cost)
        self._chosen.add(view)
        return view

    def _first_free(self) -> tuple[int, ...]:
        every = combinations(range(self._attributes), self._size)
        return next(view for view in every if view not in self._chosen)
