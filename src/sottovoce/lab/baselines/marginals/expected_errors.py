"""The expected squared error of a table by our own method and by the best published alternatives.

The errors of unbiased methods are exact for rare cells.  That of pooled views is an average over
typical tables.  Methods that cannot be asked are left out: there are too many tables, coefficients
or combinations.

Source: Cormode 2018, section 4; Wang 2021, section 6.2.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, expm1, prod

import numpy as np

from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.core.settings import whole, wholes
from sottovoce.lab.baselines.marginals.whole_table import MAX_CELLS
from sottovoce.lab.baselines.parities import MAX_COEFFICIENTS, bits_of, coefficient_count
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.marginals.advice import misplaced_share
from sottovoce.plans.marginals.view_planning import METHOD, ViewPlanning

MAX_TABLES = 10_000  # that everybody may be asked about one of


@dataclass(frozen=True)
class ExpectedError:
    """The squared error of a whole table by one method, and the share of people in wrong cells."""

    method: str
    squared: float
    misplaced: float


def compare_methods(
    users: int, sizes: Sequence[int], epsilon: float, order: int
) -> tuple[ExpectedError, ...]:
    """Return the methods that can be asked, the one with the least error first.

    >>> [error.method for error in compare_methods(1 << 16, [2] * 16, 1.0, 3)][:2]
    ['pooled-2', 'inp_ht']
    """
    whole("users", users, 1)
    wholes("sizes", sizes, 2)
    check_epsilon("epsilon", epsilon)
    whole("order", order, 1, len(sizes))
    setting = _Setting(users, tuple(sizes), epsilon, order)
    errors = {
        METHOD: setting.pooled(),
        "inp_ht": setting.coefficients(),
        "am": setting.all_marginals(),
        "fc": setting.whole_table(),
    }
    possible = [
        ExpectedError(method, error, misplaced_share(error, sizes, order))
        for method, error in errors.items()
        if error is not None
    ]
    return tuple(sorted(possible, key=lambda expected: expected.squared))


@dataclass(frozen=True)
class _Setting:
    """Whom a collection asks about what.

    Every method returns its error, or None if it cannot be asked.
    """

    users: int
    sizes: tuple[int, ...]
    epsilon: float
    order: int

    def pooled(self) -> float:
        planning = ViewPlanning(self.users, self.sizes, self.epsilon, self.order)
        return planning.expected_error(planning.layout())

    def coefficients(self) -> float | None:
        """Return |T| c^2 / n (1 - 1/L) per cell, for L codes of the bits of its attributes."""
        count = coefficient_count(self.sizes, self.order)
        if count > MAX_COEFFICIENTS:
            return None
        stretch = (exp(self.epsilon) + 1) / expm1(self.epsilon)
        mean = 0.0
        for view_sizes, share in self._view_sizes().items():
            codes = 1 << sum(bits_of(size) for size in view_sizes)
            mean += share * prod(view_sizes) / codes * (1 - 1 / codes)
        return count * stretch**2 / self.users * mean

    def all_marginals(self) -> float | None:
        """Return C/n (L v + 1): the noise of every cell of a table and the drawing of its users."""
        tables = comb(len(self.sizes), self.order)
        if tables > MAX_TABLES:
            return None
        noise = 0.0
        for view_sizes, share in self._view_sizes().items():
            cells = prod(view_sizes)
            noise += share * cells * self._variance(cells)
        return tables / self.users * (noise + 1)

    def whole_table(self) -> float | None:
        cells = prod(self.sizes)
        if cells > MAX_CELLS:
            return None
        return self._variance(cells) * cells / self.users

    def _view_sizes(self) -> dict[tuple[int, ...], float]:
        """Return the sizes of the attributes of all tables, and how often they occur.

        Where there are too many tables, the one of the largest attributes stands for all.
        """
        if comb(len(self.sizes), self.order) > MAX_TABLES:
            return {tuple(sorted(self.sizes)[-self.order :]): 1.0}
        counts = Counter(combinations(sorted(self.sizes), self.order))
        return {view_sizes: count / counts.total() for view_sizes, count in counts.items()}

    def _variance(self, cells: int) -> float:
        """Return the variance of the share of a rare cell, times the users."""
        noise = choose(cells, self.epsilon, UNSTATED_RULE).mechanism.noise
        return float(noise.variances(np.zeros(1), 1)[0])
