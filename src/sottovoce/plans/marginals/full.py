"""The whole table: everybody reports their cell among all combinations (InpRR, InpPS, InpOLH, InpHTCMS, FC).

Any marginal is a sum of cells.  The price grows with the number of combinations, so this is for few attributes, or for
marginals of more than half of them.

Source: Cormode 2018, sections 4.1, 4.2 and B.2; Wang 2021, section 6.1.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from sottovoce.core.estimate import Estimate
from sottovoce.encodings.view import View as Cell
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.tables import Table, View, cells_onto
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

MOST_CELLS = 1 << 20


def ask(epsilon: float, sizes: tuple[int, ...], mechanism: str = "") -> Question:
    """Return the question for the cell of the whole table."""
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise ParameterError(f"the whole table has at most {MOST_CELLS:,} cells")
    made: Any = Mechanism.kinds[mechanism] if mechanism else None
    chosen = made(epsilon=epsilon, size=cells) if made else choose(cells, epsilon).mechanism
    return Question(chosen, Cell(tuple(range(len(sizes))), sizes))


@dataclass(frozen=True, eq=False)
class Whole:
    """The estimate of every cell of the whole table."""

    sizes: tuple[int, ...]
    estimate: Estimate

    @classmethod
    def read(cls, sizes: tuple[int, ...], collected: Collected) -> "Whole":
        """Return the table of a collection of one round."""
        return cls(sizes, collected.estimate(Address()))

    @property
    def users(self) -> int:
        return self.estimate.users

    @cached_property
    def _view(self) -> View:
        return tuple(range(len(self.sizes)))

    def table(self, view: View) -> Table:
        """Return the sums of the cells behind every cell of a view."""
        places, shape = cells_onto(self.sizes, self._view, view), tuple(self.sizes[one] for one in view)
        users = self.users
        sums, covariance = self.estimate.noise.grouped(places, self.estimate.votes, users)
        return Table(view, (sums / users).reshape(shape), covariance / users**2)
