"""The straw man of joint collection on HIO, with its answers.  Never collect like this.

Everybody reports the one record of the first table and every record of the second, each by HIO for
an equal part of the budget.  A person with r records makes 1 + r reports, so that whoever counts
them knows r: no epsilon bounds that (``straw_man``).  To collect, use ``Joint``.

    answer = sum over people of S1 * (the sum over their records of S2)

where S1 and S2 are the scores of HIO for epsilon / (1 + r).  Only sums over people, COUNT and SUM,
are answered.

Source: Xu 2020, sections 1 and 5.1.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ConcernWarning, ParameterError
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.experiments.tables import contributions
from sottovoce.lab.simulate import simulate
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.result import Figure
from sottovoce.tasks.task import Task


@dataclass(frozen=True, eq=False)
class SizeGroup:
    """The people with equally many records, and what they reported."""

    people: Ints
    database: Database


@dataclass(frozen=True, eq=False)
class StrawManDatabase:
    """What the collector of the straw man gets: a database for every number of records."""

    many: str  # the name of the second table
    groups: Mapping[int, SizeGroup]

    @property
    def users(self) -> int:
        """Return how many people reported."""
        return sum(len(group.people) for group in self.groups.values())

    def frequency_attack(self) -> Ints:
        """Return how many records of the second table everybody has, by counting their reports."""
        reports = np.zeros(self.users, np.int64)
        for group in self.groups.values():
            batches = group.database.collected.batches  # type: ignore[attr-defined]
            for batch in batches.values():
                np.add.at(reports, group.people[batch.subjects], 1)
        return reports - 1

    def total(self, text: str) -> Figure:
        """Return a COUNT or a SUM.

        The name of the second table stands in braces: ``FROM people JOIN {orders} USING (uid)``.
        """
        parts = self.contributions(text)
        # Records of one person share the report about the first table: they are added up first.
        variance = float((parts**2).sum() - parts.sum() ** 2 / len(parts))
        return Figure(float(parts.sum()), variance)

    def contributions(self, text: str) -> Floats:
        """Return what the reports of everybody add to a COUNT or a SUM."""
        parts = np.zeros(self.users)
        for records, group in self.groups.items():
            for query in self._queries(text, records):
                parts[group.people] += contributions(group.database, query)[:, 0]
        return parts

    def _queries(self, text: str, records: int) -> list[str]:
        """Return the query about each record; one where it is not about the second table."""
        if f"{{{self.many}}}" not in text:
            return [text]
        return [text.format(**{self.many: f"{self.many}_{place}"}) for place in range(records)]


@dataclass(frozen=True, eq=False)
class StrawManHIO:
    """Report everybody's record of the first table and all their records of the second by HIO.

    ``tables`` are the columns of the first table and of the second one, by their names.
    """

    epsilon: float
    tables: Mapping[str, Mapping[str, Any]]
    fanout: int = FANOUT

    def __post_init__(self) -> None:
        if len(self.tables) != 2:
            raise ParameterError("`tables` must hold the columns of two tables")

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of the first table and of the second."""
        single, many = self.tables
        return single, many

    def plan(self, records: int) -> PublishedTables:
        """Return how people with so many records report: each record is a table of its own."""
        single, many = self.names
        tables = {single: {"columns": self.tables[single]}}
        for place in range(records):
            tables[f"{many}_{place}"] = {"columns": self.tables[many]}
        return PublishedTables(tables, "hio", fanout=self.fanout)

    def collect(self, data: Mapping[str, Mapping[str, Any]], seed: int) -> StrawManDatabase:
        """Return what is collected from people.

        The second table has the column ``uid``: the number of the person whose record it is.
        """
        single, many = (
            {name: np.asarray(column) for name, column in data[table].items()}
            for table in self.names
        )
        owners = many.pop("uid")
        sizes = np.bincount(owners, minlength=len(next(iter(single.values()))))
        order = np.argsort(owners, kind="stable")
        starts = np.cumsum(sizes) - sizes
        groups = {}
        for records in np.unique(sizes).tolist():
            people = np.flatnonzero(sizes == records)
            held = {self.names[0]: _rows(single, people)}
            for place in range(records):
                held[f"{self.names[1]}_{place}"] = _rows(many, order[starts[people] + place])
            groups[records] = SizeGroup(people, self._collect_group(held, records, seed + records))
        return StrawManDatabase(self.names[1], groups)

    def _collect_group(
        self, held: Mapping[str, Mapping[str, Any]], records: int, seed: int
    ) -> Database:
        values = held if records else next(iter(held.values()))
        task = Task("straw_man", self.plan(records), self.epsilon)
        with warnings.catch_warnings():
            # That many tables leave little epsilon for each is the least concern here.
            warnings.simplefilter("ignore", ConcernWarning)
            database = simulate(task, values, seed=seed)
        assert isinstance(database, Database)
        return database


def _rows(columns: Mapping[str, Any], rows: Ints) -> dict[str, Any]:
    return {name: column[rows] for name, column in columns.items()}
