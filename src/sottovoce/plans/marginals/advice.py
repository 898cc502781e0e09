"""Which way to ask for marginals, before anybody is asked: the expected error of every method.

For unbiased methods it is their mean squared error for rare cells; for CALM its noise and sampling errors, to which the
data may add what views do not determine.  Methods that cannot be asked are left out: CALM where there are too few users
to see every attribute, others where there are too many tables, coefficients or combinations.

Source: Cormode 2018, section 4; Wang 2021, section 6.2.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb, exp, expm1, pi, prod, sqrt
from typing import Any

import numpy as np

from sottovoce.core import settings
from sottovoce.encodings.parity import bits_of
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.full import MOST_CELLS
from sottovoce.plans.marginals.planning import Layout, expected_cells, layout, noise_error
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.families.parities import MOST as MOST_COEFFICIENTS

_TABLES = 10_000  # that everybody may be asked about one of


@dataclass(frozen=True)
class Expected:
    """What a method would give: the squared error of a whole table, and the share of people misplaced in it."""

    method: str
    squared: float
    misplaced: float


@dataclass(frozen=True)
class MarginalsAdvice(Advice):
    """The methods from the best to the worst, and why the first is advised."""

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int
    methods: tuple[Expected, ...]
    views: Layout | None  # CALM's, if there are users enough
    reason: str

    @property
    def method(self) -> str:
        """Return the method that is advised."""
        return self.methods[0].method

    @property
    def unbiased(self) -> str | None:
        """Return the best of the methods whose answers are unbiased, if any can be asked."""
        return next((one.method for one in self.methods if one.method != "calm"), None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "method": self.method, "unbiased": self.unbiased}

    def __str__(self) -> str:
        title = f"Advice for {self.users:,} users, {len(self.sizes)} attributes, tables of {self.order}, epsilon "
        lines = [f"{title}{self.epsilon:g}", "", f"  {self.method}: {self.reason}", ""]
        lines.append(f"  {'method':<8}  {'squared error':>13}  {'misplaced':>9}")
        lines += [f"  {one.method:<8}  {one.squared:>13.3g}  {100 * one.misplaced:>7.2g} %" for one in self.methods]
        return "\n".join(lines)


def advise_marginals(users: int, sizes: Sequence[int], epsilon: float, order: int = 3) -> MarginalsAdvice:
    """Return which method to ask with.

    >>> advise_marginals(1 << 16, [2] * 16, 1.0, 3).method
    'calm'
    """
    settings.epsilon("epsilon", epsilon)
    if any(type(one) is not int for one in (users, order, *sizes)) or users < 1 or len(sizes) < 1:
        raise ParameterError("advice needs a number of users, the sizes of attributes and an order, all whole numbers")
    if min(sizes) < 2 or not 1 <= order <= len(sizes):
        raise ParameterError("attributes have at least 2 values, and an order is from 1 to all of them")
    chosen, errors = _layout(users, sizes, epsilon, order), _unbiased(users, sizes, epsilon, order)
    if chosen:
        errors["calm"] = order * noise_error(users, sizes, epsilon, chosen.size) + chosen.views / users
    if not errors:
        raise ParameterError("so many tables, coefficients and combinations cannot be asked about: take a lower order")
    cells = expected_cells(sizes, order)
    made = [Expected(name, error, min(1.0, sqrt(cells * error / (2 * pi)))) for name, error in errors.items()]
    best = tuple(sorted(made, key=lambda one: one.squared))
    return MarginalsAdvice(users, tuple(sizes), epsilon, order, best, chosen, _REASONS[best[0].method])


def _layout(users: int, sizes: Sequence[int], epsilon: float, order: int) -> Layout | None:
    try:
        return layout(users, sizes, epsilon, order)
    except ParameterError:
        return None  # too few users


def _unbiased(users: int, sizes: Sequence[int], epsilon: float, order: int) -> dict[str, float]:
    errors = {}
    if coefficients(sizes, order) <= MOST_COEFFICIENTS:
        errors["inp_ht"] = _hadamard(users, sizes, epsilon, order)
    if comb(len(sizes), order) <= _TABLES:
        errors["am"] = _all_marginals(users, sizes, epsilon, order)
    if prod(sizes) <= MOST_CELLS:
        errors["fc"] = _per_cell(prod(sizes), epsilon) * prod(sizes) / users
    return errors


_REASONS = {
    "calm": "a few views made to agree, the rest by maximum entropy; a little biased, any order can be asked later",
    "inp_ht": "few coefficients are needed, and answers are unbiased",
    "am": "few tables are needed, and answers are unbiased",
    "fc": "few combinations: everybody reports their whole record, and any order can be asked later",
}


def coefficients(sizes: Sequence[int], order: int) -> int:
    """Return how many coefficients marginals of an order need.

    >>> coefficients([2] * 8, 3), coefficients([3] * 8, 3)
    (92, 1788)
    """
    products = [1] + [0] * order
    for size in sizes:
        for place in range(order, 0, -1):
            products[place] += ((1 << bits_of(size)) - 1) * products[place - 1]
    return sum(products[1:])


def _hadamard(users: int, sizes: Sequence[int], epsilon: float, order: int) -> float:
    """Return |T| c^2 / n (1 - 1/L) for the cells that there are, L counting the codes of their bits."""
    stretch = (exp(epsilon) + 1) / expm1(epsilon)
    mean = 0.0
    for view, share in _views(sizes, order).items():
        length = 1 << sum(bits_of(size) for size in view)
        mean += share * prod(view) / length * (1 - 1 / length)
    return coefficients(sizes, order) * stretch**2 / users * mean


def _all_marginals(users: int, sizes: Sequence[int], epsilon: float, order: int) -> float:
    """Return C/n (L v + 1): the noise of every cell of a table of its own users, and their drawing."""
    noise = sum(share * prod(view) * _per_cell(prod(view), epsilon) for view, share in _views(sizes, order).items())
    return comb(len(sizes), order) / users * (noise + 1)


def _views(sizes: Sequence[int], order: int) -> dict[tuple[int, ...], float]:
    """Return the sizes of the attributes of all views and how often they occur; of too many, those of the largest."""
    if comb(len(sizes), order) > _TABLES:
        return {tuple(sorted(sizes)[-order:]): 1.0}
    found = Counter(combinations(sorted(sizes), order))
    return {view: count / found.total() for view, count in found.items()}


def _per_cell(cells: int, epsilon: float) -> float:
    """Return the variance of the share of a rare cell, times the users."""
    return float(choose(cells, epsilon).mechanism.noise.variances(np.zeros(1), 1)[0])
