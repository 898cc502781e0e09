"""View planning: the number and size of views that minimise the error of the tables of an order.

Candidates are single attributes, and for every size of a view the coverings of all pairs, all
triples and so on up to the order.  The expected squared error of a table of the attributes A is

    sum over S within A of  degrees(S) * cells(S) / cells(A) * risk(S)

and the risk of a component in one direction is that of shrinkage (``shrinkage.py``) under the law
of typical tables (``typical_tables.py``), of strengths t^2 in units of the component:

    reported with variance s^2:   mean over t^2 of  s^2 t^2 / (s^2 + t^2)
    in no view:                   mean over t^2

    s^2 = (v(L) L + evenness^|S|) / cells(S) * C(d, |S|) / (C(s, |S|) users)

for views of s out of d attributes, L cells each, whose contrasts have noise of variance v(L) per
user; the second term is the drawing of users, whose shares are less even than equal ones.  The
number of views does not occur: with more of them each has fewer users, but more contain the
component.  It decides only which components are reported at all.  A pair that is hardly reported is
predicted as a product of single attributes, which magnifies their errors:

    cells(S) / cells(A)  of a single attribute becomes the product over all others b of
    1 / values(b) + (1 - belief)^2 (sum p_b^2 - 1 / values(b))

Layouts are compared by the total variation distance, sqrt(cells * squared error / (2 pi)), averaged
over all tables of the order.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import comb, inf, pi, prod, sqrt

import numpy as np

from sottovoce.core import bounds
from sottovoce.core.settings import choice, whole
from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.covering import Blocks, cover, fewest_blocks
from sottovoce.plans.marginals.typical_tables import (
    EVENNESS,
    PAIR_WEIGHTS,
    strengths,
    typical_spread,
)

MAX_CELLS = 4096  # of a view: the covariance of its table has the square of that
MAX_SIZE = 6  # attributes of a view, which has 2^size components
MIN_USERS = 20  # of a view, so that its table has an error
_MAX_TABLES = 100_000  # of mixed attributes; if there are more, a selection represents them
_MAX_SPACED = 12  # attributes that represent all attributes
_OVERHEAD = 1.15  # blocks of a covering that is found, over the lower bound


@dataclass(frozen=True)
class PlanningRule:
    """The rule for comparing layouts.

    ``evenness`` describes the shares of attributes relative to equal shares.  It scales the
    variance that the sampling of users adds to a component.

    A layout with larger views must be better than one with smaller views by the factor ``margin``,
    so that rounding errors never decide a tie.
    """

    evenness: float
    margin: float


METHOD = "pooled-2"
# By the method that a task's document states: views are found again when it is read.
RULES = {"pooled": PlanningRule(1.0, 1.001), METHOD: PlanningRule(EVENNESS, 1.01)}


@dataclass(frozen=True)
class CoveringLayout:
    """A number of views of ``size`` attributes that contain all sets of ``covered`` attributes.

    The number of views is an estimate until they are chosen.
    """

    views: int
    size: int
    covered: int


@dataclass(frozen=True)
class ViewPlanning:
    """The public numbers that views are chosen from.

    ``sizes`` are the numbers of values of the attributes.  ``view_size`` is how many attributes a
    view has; 0 leaves that to the expected error.  ``method`` names one of ``RULES``.

    >>> ViewPlanning(1 << 16, (2,) * 16, 2.0, 2).layout().size
    3
    """

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int
    view_size: int = 0
    method: str = METHOD

    def __post_init__(self) -> None:
        whole("users", self.users, 1)
        check_epsilon("epsilon", self.epsilon)
        whole("order", self.order, 1, len(self.sizes))
        whole("view_size", self.view_size, 0, len(self.sizes))
        choice("method", self.method, RULES)

    @property
    def rule(self) -> PlanningRule:
        """Return how layouts are compared."""
        return RULES[self.method]

    def layout(self) -> CoveringLayout:
        """Return the layout with the least expected distance of a table."""
        best = None
        least = inf
        for layout in self.candidates():
            distance = self.expected_distance(layout)
            if best is None or distance * self.rule.margin < least:
                best = layout
                least = distance
        if best is None:
            raise ParameterError(
                "no view of `view_size` attributes is possible: they have too many cells,"
                " or there are too few users for so many views"
            )
        return best

    def views(self) -> Blocks:
        """Return the views of the best layout."""
        layout = self.layout()
        return choose_covering(layout, len(self.sizes))

    def candidates(self) -> Iterator[CoveringLayout]:
        """Yield the layouts that can be asked, smaller views first."""
        attributes = len(self.sizes)
        wanted = range(self.view_size, self.view_size + 1)
        for size in wanted if self.view_size else range(1, min(attributes, MAX_SIZE) + 1):
            if prod(sorted(self.sizes)[-size:]) > MAX_CELLS and size > 1:
                return
            for covered in range(min(2, size), min(size, max(self.order, 2)) + 1):
                layout = CoveringLayout(_block_count(attributes, covered, size), size, covered)
                # Views of single attributes are asked however few users there are.
                if size == 1 or self._is_possible(layout):
                    yield layout

    def _is_possible(self, layout: CoveringLayout) -> bool:
        few_enough = layout.views <= bounds.MAX_DOCUMENT_MEMBERS
        return few_enough and layout.views * MIN_USERS <= self.users

    def expected_error(self, layout: CoveringLayout) -> float:
        """Return the squared error of a table of the order, averaged over all such tables."""
        return sum(
            share * self._squared_error(layout, shape) for shape, share in self._shapes.items()
        )

    def expected_distance(self, layout: CoveringLayout) -> float:
        """Return the total variation distance of a table of the order from the truth."""
        total = 0.0
        for shape, share in self._shapes.items():
            squared = self._squared_error(layout, shape)
            total += share * min(1.0, sqrt(prod(shape) * squared / (2 * pi)))
        return total

    @cached_property
    def _shapes(self) -> dict[tuple[int, ...], float]:
        """Return the numbers of values of all tables of the order, and how often they occur.

        Where there are too many tables, attributes evenly spaced by their size stand for all.
        """
        ordered = sorted(self.sizes)
        table_count = comb(len(ordered), self.order)
        if len(set(ordered)) == 1:
            return {tuple(ordered[: self.order]): 1.0}
        if table_count > _MAX_TABLES:
            step = -(-len(ordered) // max(_MAX_SPACED, self.order))
            ordered = ordered[::step]
        shapes = Counter(combinations(ordered, self.order))
        return {shape: count / shapes.total() for shape, count in shapes.items()}

    def _squared_error(self, layout: CoveringLayout, shape: tuple[int, ...]) -> float:
        belief = self._pair_belief(layout, shape)
        error = 0.0
        cells = prod(shape)
        for order in range(1, len(shape) + 1):
            for chosen, count in Counter(combinations(range(len(shape)), order)).items():
                part = tuple(shape[axis] for axis in chosen)
                rest = [shape[axis] for axis in range(len(shape)) if axis not in chosen]
                spread = prod(part) / cells
                if order == 1:
                    spread = prod(_magnified(values, belief) for values in rest)
                degrees = prod(values - 1 for values in part)
                error += count * degrees * spread * self.risk(layout, part)
        return error

    def _pair_belief(self, layout: CoveringLayout, shape: tuple[int, ...]) -> float:
        """Return how far the residual of a pair is believed, averaged over typical pairs."""
        if len(shape) < 2 or layout.size < 2:
            return 0.0
        pair = shape[:2]
        prior = strengths(2) * prod(typical_spread(values) for values in pair)
        variance = self.variance(layout, pair)
        return float(np.array(PAIR_WEIGHTS) @ (prior / (prior + variance)))

    def risk(self, layout: CoveringLayout, shape: tuple[int, ...]) -> float:
        """Return the expected squared error in one direction of a component of this shape."""
        order = len(shape)
        unit = prod(typical_spread(values) for values in shape)
        prior = np.ones(1) if order == 1 else strengths(order)
        weights = np.ones(1) if order == 1 else np.array(PAIR_WEIGHTS)
        unseen = float(weights @ prior) * unit
        if order > layout.size:
            return unseen
        variance = self.variance(layout, shape)
        seen = float(weights @ (variance * prior * unit / (variance + prior * unit)))
        reported = 1.0
        if order > layout.covered:
            sets = comb(len(self.sizes), order)
            reported = min(1.0, layout.views * comb(layout.size, order) / sets)
        return reported * seen + (1 - reported) * unseen

    def variance(self, layout: CoveringLayout, shape: tuple[int, ...]) -> float:
        """Return the variance of a pooled component of this shape, in one direction."""
        attributes = len(self.sizes)
        order = len(shape)
        others = layout.size - order
        part = prod(shape)
        typical = np.mean(self.sizes)
        cells = max(2, round(part * typical**others))
        share = comb(layout.size, order) / comb(attributes, order)
        users = self.users * share
        if order > layout.covered:  # one view at most contains it
            users = self.users / layout.views
        noise = _contrast_noise(cells, self.epsilon) * cells / part
        drawing = self.rule.evenness**order / part
        return (noise + drawing) / users


def choose_covering(layout: CoveringLayout, attributes: int) -> Blocks:
    """Return the views of a layout."""
    blocks = cover(attributes, layout.covered, layout.size)
    assert blocks is not None  # any number of blocks was allowed
    return blocks


def _block_count(attributes: int, covered: int, size: int) -> int:
    """Return about how many blocks a covering has."""
    if size == covered:
        return comb(attributes, size)
    if size == attributes:
        return 1
    return round(_OVERHEAD * fewest_blocks(attributes, covered, size))


def _magnified(values: int, belief: float) -> float:
    even = 1 / values
    concentration = 1 - EVENNESS * (1 - even)  # the sum of squared shares
    return even + (1 - belief) ** 2 * (concentration - even)


@cache
def _contrast_noise(cells: int, epsilon: float) -> float:
    """Return the variance of a contrast of the shares of a table by noise, times the users."""
    noise = choose(cells, epsilon).mechanism.noise
    uniform = np.full(cells, 1 / cells)
    total = noise.linear(np.ones(cells), uniform, 1)
    return (float(noise.variances(uniform, 1).sum()) - total / cells) / (cells - 1)
