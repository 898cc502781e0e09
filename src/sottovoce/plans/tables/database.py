"""Answers in SQL from one collection: any number of queries, at no further cost to anybody.

Source: Wang 2021, chapter 7; Xu 2020.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import StatedNoise
from sottovoce.plans.tables.counting import counts
from sottovoce.plans.tables.explain import facts_of, schema_of
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.pipeline import answer_plan, plan_query, read
from sottovoce.plans.tables.result import Explanation, Result
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source, Withheld
from sottovoce.sql.query import Column, Query
from sottovoce.tasks.collected import Collected

Parameters = Sequence[Any] | Mapping[str, Any]

_MAX_LISTED = 200  # values of a column whose counts an answer lists by itself


@dataclass(frozen=True, eq=False)
class Database(Answers):
    """The counts of every column, by name, and an answer to any query in SQL."""

    layout: Layout
    collected: Collected = field(repr=False)
    shuffled: ShuffledReports | None = None
    plans: "PlanCache" = field(default_factory=lambda: PlanCache(), repr=False)

    @classmethod
    def of(cls, layout: Layout, collected: Collected) -> "Database":
        """Return the answers of a collection."""
        return cls("tables", _ColumnCounts(layout, collected), layout, collected)

    @property
    def users(self) -> int:
        return self.collected.users(0)

    def after_shuffling(self, shuffled: ShuffledReports) -> "Database":
        parts = _ColumnCounts(self.layout, self.collected, shuffled)
        return replace(self, parts=parts, shuffled=shuffled)

    def sql(self, text: str, parameters: Parameters = ()) -> Result | Explanation:
        """Return the answer to a query, or how it would be answered if the query begins with
        EXPLAIN.

        ``parameters`` are the values of ``?`` in order, or of ``:name`` by name.
        """
        asked = Asked(text, parameters)
        known = self.plans.find(asked)
        if known is not None:
            return self._answer(known, Source(self.layout, self.collected))
        query = read(text, Source(self.layout, parameters=parameters))
        if query.explain:
            return self.explain(query)
        source = Source(self.layout, self.collected)
        plan = plan_query(query, source)
        self.plans.keep(asked, plan)
        return self._answer(plan, source)

    def explain(self, query: Query) -> Explanation:
        """Return how a query would be answered and how good the answer would be."""
        if query.schema:
            return Explanation(schema_of(self.layout.tables, query.schema))
        plan = plan_query(query, Source(self.layout, self.collected))
        checked = self.collected.coins_checked
        facts = facts_of(plan, self.users, compare=True, coins_checked=checked)
        return Explanation(facts)

    def answer(
        self,
        query: Query,
        *,
        text: str = "",
        count_rows: bool = False,
        withheld: Withheld | None = None,
    ) -> Result:
        """Return the answer to a query that has been read, with the crowd behind every row.

        ``text`` is what the query was read from: the same text at the same level is planned once.
        ``count_rows`` also estimates how many records each row has, and ``withheld`` picks the rows
        that may not be shown.
        """
        source = Source(self.layout, self.collected, count_rows, withheld)
        asked = Asked(text, level=query.options.confidence, count_rows=count_rows)
        plan = self.plans.find(asked) if text else None
        if plan is None:
            plan = plan_query(query, source)
            if text:
                self.plans.keep(asked, plan)
        return self._answer(plan, source)

    def _answer(self, plan: QueryPlan, source: Source) -> Result:
        return replace(answer_plan(plan, source), shuffled=self.shuffled)

    def kept(self) -> Answers | None:
        """Return the counts of every column: without reports no other query can be answered."""
        return Answers(self.name, dict(self.parts))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.layout.epsilon, self.shuffled)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a plan depends on: the text of a query, and how it was asked.

    A ``level`` that is given replaces that of the text.
    """

    text: str
    parameters: Parameters = ()
    level: float | None = None
    count_rows: bool = False

    @property
    def key(self) -> Any:
        """Return what equal queries have in common; None if a parameter is not a plain value."""
        if isinstance(self.parameters, Mapping):
            names: list[Any] = sorted(self.parameters)
            values = [self.parameters[name] for name in names]
        else:
            names = []
            values = list(self.parameters)
        if not all(type(value) in (str, int, float, bool, type(None)) for value in values):
            return None
        kinds = tuple((type(value), value) for value in values)
        return self.text, tuple(names), kinds, self.level, self.count_rows


class PlanCache:
    """The plans of the queries that were asked last, by what they depend on.

    A plan reads no report, so it answers the same text again, whatever was collected since.
    """

    def __init__(self, size: int = 32) -> None:
        self.size = size
        self._plans: dict[Any, QueryPlan] = {}

    def __len__(self) -> int:
        return len(self._plans)

    def find(self, asked: Asked) -> QueryPlan | None:
        """Return the plan of a query; None if it is not known."""
        return self._plans.get(asked.key)

    def keep(self, asked: Asked, plan: QueryPlan) -> None:
        """Keep a plan; the oldest one is forgotten if there are too many."""
        key = asked.key
        if key is None:
            return
        self._plans[key] = plan
        if len(self._plans) > self.size:
            del self._plans[next(iter(self._plans))]


class _ColumnCounts(Mapping[str, Answer]):
    """The counts of every column that has few enough values, computed when they are looked at."""

    def __init__(
        self, layout: Layout, collected: Collected, shuffled: ShuffledReports | None = None
    ) -> None:
        self._layout = layout
        self._collected = collected
        self._shuffled = shuffled
        self._answers: dict[str, Answer] = {}

    @cached_property
    def _columns(self) -> dict[str, Column]:
        tables = self._layout.tables
        columns: dict[str, Column] = {}
        for table, name in enumerate(tables.names):
            records = tables.records(table)
            for index, (column, kind) in enumerate(
                zip(records.names, records.attributes, strict=True)
            ):
                if kind.size <= _MAX_LISTED:
                    columns[f"{name}.{column}"] = Column(table, index)
        return columns

    def __getitem__(self, name: str) -> Answer:
        if name not in self._answers:
            self._answers[name] = self._counts(name)
        return self._answers[name]

    def _counts(self, name: str) -> Answer:
        column, layout = self._columns[name], self._layout
        totals = counts(layout, self._collected, column)
        noise = StatedNoise(totals.variances)
        users = self._collected.users(0)
        estimate = Estimate(totals.totals, noise, users, layout.epsilon, law=totals.influence)
        labels = layout.attributes(column.table)[column.index].labels
        return Answer(name, labels, estimate, layout.name, shuffled=self._shuffled)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
