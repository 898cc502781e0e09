"""Queries to a task about tables: how they are answered, and what of an answer may leave the
collector.

A query costs nobody anything, however many there are: reports were randomised before they arrived.
What is withheld here is what the task promised: results of fewer people than its minimum, public
groups with fewer, and rows whose estimated number of records is below its crowd.  Withheld rows are
named as suppressed, and never one alone: the other rows and their sum would tell it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sottovoce.collector.collector import Collector
from sottovoce.collector.published import Published
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.explain import facts_of, schema_of
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.result import Explanation, Result, ResultRow
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table_plan import TablePlan
from sottovoce.sql.query import Query
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.web.problems import RequestError

STEPS = (
    "none",
    "base-pos",
)  # of post-processing: counts of records need not sum to the number of people


@dataclass(frozen=True, eq=False)
class Released:
    """A result without the rows that are withheld, and the minimum that it was released under."""

    result: Result
    minimum: int

    @property
    def suppressed(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of the rows that are withheld."""
        return self.result.suppressed

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        suppressed = [
            dict(zip(self.result.keys, labels, strict=True)) for labels in self.suppressed
        ]
        return {**self.result.to_dict(), "minimum": self.minimum, "suppressed": suppressed}


@dataclass(frozen=True)
class QueryRequest:
    """A query as somebody sends it; one that is only explained may say for how many ``users``.

    ``fakes`` is the share of false messages that bounds should allow for.
    """

    sql: str
    level: float | None = None
    users: int | None = None
    fakes: float | None = None

    def query(self, plan: Plan) -> Query:
        """Return the query as it is read, or refuse it."""
        from sottovoce.sql.reading import read

        if not isinstance(plan, TablePlan):
            raise ParameterError("only a task about tables answers queries in SQL")
        query = read(self.sql, plan.domain)
        if self.level is None:
            return query
        return replace(query, options=replace(query.options, confidence=self.level))


def answered(
    collector: Collector,
    published: Published,
    request: QueryRequest,
    query: Query | None = None,
) -> Released | Explanation:
    """Return the answer to a query as it may be shown, or how it would be answered, for which
    nothing is read.

    ``query`` is what the request was read as, if somebody has read it.
    """
    if query is None:
        query = request.query(published.task.plan)
    if query.explain:
        return explanation(published, query, request.users)
    answer = collector.answer(published.record.name)
    if not isinstance(answer, Database):
        raise NoDataError(
            "the reports of this task are erased: the counts of its columns remain, "
            "and other queries need reports"
        )
    return release(answer, query, published.collection, text=request.sql, fakes=request.fakes)


def explanation(published: Published, query: Query, users: int | None = None) -> Explanation:
    """Return how a query would be answered by so many people: those so far, or as many as the task
    waits for.
    """
    task, collection = published.task, published.collection
    assert isinstance(task.plan, TablePlan)
    if query.schema:
        return Explanation(schema_of(task.plan.domain, query.schema))
    people = users or published.users_of(published.last) or collection.quota or collection.minimum
    plan = plan_query(query, Source(task.plan.layout(task.response_epsilon)))
    facts = facts_of(plan, people, compare=True, coins_checked=task.coins_checked)
    return Explanation(facts)


def release(
    database: Database,
    query: Query,
    collection: Collection,
    *,
    text: str = "",
    fakes: float | None = None,
) -> Released:
    """Return the answer of a collection without what rests on too few people.

    ``text`` is what the query was read from: the same text is planned once.
    """
    result = database.answer(
        query,
        text=text,
        count_rows=bool(collection.crowd),
        withheld=partial(_withheld, collection),
    )
    if result.people_count < collection.minimum:
        raise RequestError(
            "too-few-users", f"fewer than {collection.minimum} users: nothing is released"
        )
    return Released(result.at(result.level, fakes=fakes), collection.minimum)


def check_step(plan: Plan, method: str) -> None:
    """Refuse a step of post-processing that takes the counts of tables for shares of people."""
    if isinstance(plan, TablePlan) and method not in STEPS:
        raise ParameterError(f"`method` must be one of {', '.join(STEPS)} for the counts of tables")


def _withheld(collection: Collection, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows to withhold: the smallest, as many as are too small, but at least two."""

    def size(row: ResultRow) -> tuple[bool, float]:
        return row.people >= collection.minimum, float(
            row.people
        ) if row.count is None else row.count

    def too_small(row: ResultRow) -> bool:
        return row.people < collection.minimum or (
            row.count is not None and row.count < collection.crowd
        )

    small = sum(map(too_small, rows))
    return sorted(rows, key=size)[: max(2, small)] if small else []
