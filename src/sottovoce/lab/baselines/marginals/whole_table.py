"""The whole table: everybody reports the cell of their whole record.

InpRR, InpPS, InpOLH and InpHTCMS report it by unary encoding, direct response, local hashing and a
Hadamard count-mean sketch; FC (full contingency table) takes the mechanism with the least variance.
A marginal is a sum of cells.  The error grows with the number of combinations of all attributes, so
these methods are for very few attributes, or for marginals of more than half of them.

Source: Cormode 2018, sections 4.1, 4.2 and B.2; Wang 2021, section 6.1.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.estimate import Estimate
from sottovoce.encodings.view import View as CellEncoding
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, expand, shape_of
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

MAX_CELLS = 1 << 20


def ask_whole_table(
    epsilon: float, sizes: tuple[int, ...], mechanism: type[Mechanism] | None = None
) -> Question:
    """Return the question about the cell of the whole table.

    Without a named mechanism the one with the least variance is asked.
    """
    cells = prod(sizes)
    if cells > MAX_CELLS:
        raise ParameterError(f"the whole table must have at most {MAX_CELLS:,} cells")
    encoding = CellEncoding(tuple(range(len(sizes))), sizes)
    if mechanism is None:
        return Question(choose(cells, epsilon, UNSTATED_RULE).mechanism, encoding)
    return Question(mechanism(epsilon=epsilon, size=cells), encoding)  # type: ignore[call-arg]


@dataclass(frozen=True, eq=False)
class WholeTable:
    """The estimate of every cell of the whole table."""

    sizes: tuple[int, ...]
    estimate: Estimate

    @classmethod
    def read(cls, sizes: tuple[int, ...], collected: Collected) -> "WholeTable":
        """Return the table of a collection of one round."""
        return cls(sizes, collected.estimate(Address()))

    @property
    def users(self) -> int:
        return self.estimate.users

    def unbiased(self, view: View) -> MarginalTable:
        """Return the same table: it is unbiased, but for that of HCMS."""
        return self.table(view)

    def table(self, view: View) -> MarginalTable:
        """Return the sums of the cells behind every cell of a view."""
        users = self.users
        groups = cell_groups(self.sizes, view)
        sums, covariance = self.estimate.noise.grouped(groups, self.estimate.votes, users)
        shares = (sums / users).reshape(shape_of(self.sizes, view))
        return MarginalTable(view, shares, covariance / users**2)


def cell_groups(sizes: tuple[int, ...], view: View) -> Ints:
    """Return for every cell of the whole table the cell of a view that it belongs to.

    >>> cell_groups((2, 3), (1,)).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    shape = shape_of(sizes, view)
    numbers = np.arange(float(prod(shape))).reshape(shape)
    everything = tuple(range(len(sizes)))
    return np.broadcast_to(expand(numbers, view, everything), sizes).ravel().astype(np.int64)
