"""The straw man of joint collection, and the attack that undoes it.  Never collect like this.

Every record that a person has is reported, each with an equal part of the budget.  The values are
protected, their number is not: whoever counts the reports of a person knows how many records there
are, and that a person who sends none has none.  No epsilon bounds that.  It is kept so that tests
of the real collection can show that they would notice, and for comparison with what an attacker
learns there.  To collect, use ``Joint``.  ``straw_man_hio`` is the same on HIO, with answers.

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
class StrawManReports:
    """What the collector of the straw man gets: owner, table and value of each report."""

    owners: Ints
    tables: Ints
    reports: Ints


@dataclass(frozen=True)
class StrawMan:
    """Report everybody's record of the first table and all their records of the second.

    ``sizes`` are how many values a record of each table has.
    """

    epsilon: float
    sizes: tuple[int, int]

    def mechanism(self, table: int, records: int) -> GRR:
        """Return the mechanism for a person with so many records in the second table."""
        return GRR(exact.part(self.epsilon, 1 + records), self.sizes[table])

    def report(self, single: Values, many: Rows, rng: Rng) -> StrawManReports:
        """Return as many reports as there are records, which is what is wrong with it."""
        counts = np.unique(many.sizes).tolist()
        parts = [self._reports_of(single, many, count, rng) for count in counts]
        owners, tables, reports = (np.concatenate(column) for column in zip(*parts, strict=True))
        return StrawManReports(owners, tables, reports)

    def _reports_of(
        self, single: Values, many: Rows, count: int, rng: Rng
    ) -> tuple[Ints, Ints, Ints]:
        """Return owners, tables and reports of all people with ``count`` records."""
        people = np.flatnonzero(many.sizes == count)
        first = self.mechanism(0, count).privatize(single[people], rng)
        if not count:
            return people, np.zeros(len(people), np.int64), first
        second = self.mechanism(1, count).privatize(many[people].cells[:, 0], rng)
        owners = np.concatenate([people, people.repeat(count)])
        tables = np.repeat([0, 1], [len(first), len(second)])
        return owners, tables, np.concatenate([first, second])


def frequency_attack(reports: StrawManReports, people: int) -> Ints:
    """Return how many records of the second table everybody has, by counting their reports."""
    return np.bincount(reports.owners[reports.tables == 1], minlength=people)


def likeliest_sizes(mechanism: Mechanism, cells: Floats, reports: Reports) -> Ints:
    """Return the likeliest number of records behind every report.

    All numbers are equally likely beforehand.

    The best attack where the number of reports says nothing.  ``cells`` is (numbers, size): the
    chance of each cell for a person with so many records.
    """
    return np.asarray((mechanism.likelihood(reports) @ cells.T).argmax(axis=1), np.int64)
