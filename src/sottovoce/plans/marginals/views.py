"""Views: everybody reports one cell of one set of attributes, drawn by a public coin (MargRR, MargPS, AM, CALM).

Source: Cormode 2018, section 4.4; Wang 2021, section 6.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.tables import Table, View, averaged, of_estimate
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.families.views import Views
from sottovoce.tasks.question import Address


def ask(epsilon: float, sizes: tuple[int, ...], views: Sequence[View], mechanism: str = "") -> Choice:
    """Return the question for one view; the mechanism with the least error for its cells, or one that is named.

    Two cells are always answered directly: whatever is sent beside one bit is noise.
    """
    cells = sorted({prod(sizes[one] for one in view) for view in views})
    return Choice(Views(sizes, tuple(views), tuple(_mechanism(epsilon, size, mechanism) for size in cells)))


def _mechanism(epsilon: float, cells: int, kind: str) -> Mechanism:
    if cells == 2:
        return GRR(epsilon, 2)
    if not kind:
        return choose(cells, epsilon).mechanism
    made: Any = Mechanism.kinds[kind]
    mechanism: Mechanism = made(epsilon=epsilon, size=cells)
    return mechanism


@dataclass(frozen=True, eq=False)
class Reported:
    """The tables of all views as their users reported them: unbiased, independent of each other."""

    tables: dict[View, Table]
    users: int

    @classmethod
    def read(cls, collected: Collected) -> "Reported":
        """Return the tables of a collection of one round."""
        choice: Any = collected.rounds[0].ask
        family: Views = choice.members
        found = {}
        for member, view in enumerate(family.columns):
            try:
                found[view] = of_estimate(view, family.sizes, collected.estimate(Address(0, member)))
            except NoDataError:
                continue  # nobody's coin fell there
        if not found:
            raise NoDataError("no view has any reports")
        return cls(found, collected.users(0))

    @cached_property
    def attributes(self) -> frozenset[int]:
        """Return the attributes that some view holds."""
        return frozenset(one for view in self.tables for one in view)

    def table(self, view: View) -> Table:
        """Return the mean of all views that hold these attributes."""
        holders = [table for held, table in self.tables.items() if set(view) <= set(held)]
        if not holders:
            raise ParameterError("these attributes are not together in any view")
        return averaged([table.onto(view) for table in holders])
