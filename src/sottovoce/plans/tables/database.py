"""Answers in SQL from one collection: any number of questions, at no further cost to anybody.

Source: Wang 2021, chapter 7; Xu 2020.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.guarantee import Guarantee
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import StatedNoise
from sottovoce.domains.categories import Categories
from sottovoce.plans.tables import planning, rewriting
from sottovoce.plans.tables.counting import counts
from sottovoce.plans.tables.explaining import explained
from sottovoce.plans.tables.figures import Told, labels_of, result
from sottovoce.plans.tables.layout import Asking
from sottovoce.plans.tables.planning import Work
from sottovoce.plans.tables.result import Explanation, Result
from sottovoce.sql.query import Column, Query
from sottovoce.tasks.collected import Collected, Scored

AT_ONCE = 1 << 25  # scores of groups that are held in memory together
_LISTED = 200  # values of a column whose counts an answer lists by itself


@dataclass(frozen=True, eq=False)
class Database(Answers):
    """The counts of every column, by name, and an answer to any question in SQL."""

    asking: Asking
    collected: Collected = field(repr=False)

    @classmethod
    def of(cls, asking: Asking, collected: Collected) -> "Database":
        """Return the answers of a collection."""
        made = cls("tables", {}, asking, collected)
        object.__setattr__(made, "parts", _Listed(made))
        return made

    @property
    def users(self) -> int:
        return self.collected.users(0)

    def sql(self, text: str) -> Result | Explanation:
        """Return the answer to a question, or how it would be answered if the question begins with EXPLAIN."""
        from sottovoce.sql.reading import read

        query = read(text, self.asking.services)
        return self.explain(query) if query.explain else self.answer(query)

    def explain(self, query: Query) -> Explanation:
        """Return how a question would be answered and how good the answer would be."""
        return Explanation(explained(self.asking, query, self.users))

    def answer(self, query: Query) -> Result:
        """Return the answer to a question that has been read; many groups are answered some at a time."""
        query = planning.unfiltered(query)
        way = planning.best_way(self.asking, query)
        groups = planning.groups(self.asking, query)
        step = max(1, AT_ONCE // max(1, self.users * len(query.aggregates)))
        parts = [groups[start : start + step] for start in range(0, len(groups), step)]
        told = [self._told(planning.planned(self.asking, query, way, part)) for part in parts]
        return result(self.asking, self.users, told)

    def _told(self, work: Work) -> Told:
        """Return what the engine says of some groups."""
        scorings = self._scaled(work).scorings
        places = {name: at for at, name in enumerate(self._public)}
        statement = rewriting.rewritten(work, places, single=self.collected.relations(0).one_report_each)
        scored = {
            rewriting.relation(place): Scored(tuple(slot.number for slot in one.factor.slots), len(one.targets), one)
            for place, one in scorings.items()
        }
        return Told(work, self.collected.relations(0).select(scored, self._public, statement), statement)

    def kept(self) -> Answers | None:
        """Return the counts of every column: without reports no other question can be answered."""
        return Answers(self.name, dict(self.parts))

    @cached_property
    def _public(self) -> dict[str, bool]:
        seen = self.asking.services.public
        kinds = zip(seen.names, seen.attributes, strict=True) if seen else ()
        return {name: not isinstance(kind, Categories) for name, kind in kinds}

    def _scaled(self, work: Work) -> Work:
        """Return the work with layers weighed by how many people were really asked, if the question wants that."""
        if work.query.options.scale != "hajek":
            return work
        answered = self.collected.report_counts(0)
        scorings = {place: one.by_share(answered) for place, one in work.scorings.items()}
        return replace(work, scorings=scorings)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.asking.epsilon)


class _Listed(Mapping[str, Answer]):
    """The counts of every column that has few enough values, made when they are looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._made: dict[str, Answer] = {}

    @cached_property
    def _columns(self) -> dict[str, Column]:
        services = self._database.asking.services
        return {
            f"{name}.{column}": Column(table, place)
            for table, name in enumerate(services.names)
            for place, column in enumerate(services.records(table).names)
            if services.records(table).attributes[place].size <= _LISTED
        }

    def __getitem__(self, name: str) -> Answer:
        if name not in self._made:
            self._made[name] = self._counts(name)
        return self._made[name]

    def _counts(self, name: str) -> Answer:
        database, column = self._database, self._columns[name]
        asking = database.asking
        found = counts(asking, database.collected, column)
        estimate = Estimate(found.totals, StatedNoise(found.variances), database.users, asking.epsilon)
        labels = tuple(labels_of(asking.attributes(column.table)[column.place]))
        return Answer(name, labels, estimate, asking.method)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
