"""The straw-man of joint collection and the attack that undoes it.  Nothing may ever be collected like this.

Every record that a person has is reported, each for an equal part of the budget.  The values are protected, their
number is not: whoever counts the reports of a person knows how many records there are, and of whoever sends none that
there are none.  No epsilon bounds that.  It is kept so that tests of the real collection can show that they would
notice, and so that what an attacker learns there can be compared with something.  To collect, use ``Joint``.

Source: Xu 2020, sections 1 and 5.1.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.domains.person_tables import Rows
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR


@dataclass(frozen=True, eq=False)
class GivenAway:
    """What the collector of the straw-man gets: whose each report is, of which table, and what it says."""

    owners: Ints
    tables: Ints
    reports: Ints


@dataclass(frozen=True)
class StrawMan:
    """Everybody's record of the first table and all their records of the second, for epsilon over their number.

    ``sizes`` are how many values a record of each table has.
    """

    epsilon: float
    sizes: tuple[int, int]

    def mechanism(self, table: int, records: int) -> GRR:
        """Return what randomises a record of somebody with so many in the second table."""
        return GRR(exact.part(self.epsilon, 1 + records), self.sizes[table])

    def give_away(self, single: Values, many: Rows, rng: Rng) -> GivenAway:
        """Return as many reports as there are records: that is what is wrong with it."""
        made = [self._alike(single, many, count, rng) for count in np.unique(many.sizes).tolist()]
        owners, tables, reports = (np.concatenate(column) for column in zip(*made, strict=True))
        return GivenAway(owners, tables, reports)

    def _alike(self, single: Values, many: Rows, count: int, rng: Rng) -> tuple[Ints, Ints, Ints]:
        """Return the reports of all who have the same number of records."""
        people = np.flatnonzero(many.sizes == count)
        said = self.mechanism(0, count).privatize(single[people], rng)
        if not count:
            return people, np.zeros(len(people), np.int64), said
        more = self.mechanism(1, count).privatize(many[people].cells[:, 0], rng)
        tables = np.repeat([0, 1], [len(said), len(more)])
        return np.concatenate([people, people.repeat(count)]), tables, np.concatenate([said, more])


def frequency_attack(seen: GivenAway, people: int) -> Ints:
    """Return how many records of the second table everybody has: the reports under each name, counted."""
    return np.bincount(seen.owners[seen.tables == 1], minlength=people)


def likeliest_sizes(mechanism: Mechanism, cells: Floats, reports: Reports) -> Ints:
    """Return the likeliest number of records behind every report, all numbers being as likely beforehand.

    The best that can be tried where the number of reports says nothing.  ``cells`` is (numbers, size): the chance of
    each cell for somebody with so many records.
    """
    return np.asarray((mechanism.likelihood(reports) @ cells.T).argmax(axis=1), np.int64)
