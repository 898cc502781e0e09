"""Questions in SQL to a task about tables: how they are answered, and what of the answer may leave the collector.

A question costs nobody anything, however many there are: reports were randomised before they came.  What is withheld
here is what the task promised: results of fewer people than its minimum, groups by a public column with fewer, and rows
whose estimated count is below its crowd.  These rows are named as suppressed, and never one of several alone, which the
others would tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from sottovoce.collector.collector import Collector
from sottovoce.collector.published import Published
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.explaining import explained
from sottovoce.plans.tables.joint import Queries
from sottovoce.plans.tables.result import Explanation, Result
from sottovoce.sql.query import Aggregate, Every, Query, Some
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.web.problems import RequestError

STEPS = ("none", "base-pos")  # of post-processing: counts of records need not sum to the number of people
_CROWD = "people, or records, of a row"  # the name of a count that nobody asked for; no question can give it to another


@dataclass(frozen=True, eq=False)
class Released:
    """A result without the rows that are withheld, and the groups of those."""

    result: Result
    suppressed: tuple[tuple[str, ...], ...]
    minimum: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        hidden = [dict(zip(self.result.keys, labels, strict=True)) for labels in self.suppressed]
        made: dict[str, Any] = plain({**self.result.to_dict(), "minimum": self.minimum, "suppressed": hidden})
        return made


@dataclass(frozen=True)
class Asked:
    """A question as somebody puts it; one that is only explained may say to how many ``users`` it would be put."""

    sql: str
    level: float | None = None
    users: int | None = None

    def query(self, plan: Plan) -> Query:
        """Return the question as it is read, or refuse it."""
        from sottovoce.sql.reading import read

        if not isinstance(plan, Queries):
            raise ParameterError("only a task about tables answers questions in SQL")
        query = read(self.sql, plan.domain)
        options = query.options if self.level is None else replace(query.options, confidence=self.level)
        return replace(query, options=options)


def answered(collector: Collector, published: Published, asked: Asked) -> Released | Explanation:
    """Return the answer to a question as it may be shown, or how it would be answered, for which nothing is read."""
    query = asked.query(published.task.plan)
    if query.explain:
        return explanation(published, query, asked.users)
    answer = collector.answer(published.record.name)
    if not isinstance(answer, Database):
        raise NoDataError(
            "the reports of this task are erased: the counts of its columns remain, and questions in SQL need reports"
        )
    return release(answer, query, published.collection)


def explanation(published: Published, query: Query, users: int | None = None) -> Explanation:
    """Return how a question would be answered by so many people: those so far, else as many as the task waits for."""
    task, collection = published.task, published.collection
    assert isinstance(task.plan, Queries)
    people = users or published.last.users or collection.quota or collection.minimum
    facts: dict[str, Any] = plain(explained(task.plan.asking(task.response_epsilon), query, people))
    return Explanation(facts)


def release(database: Database, query: Query, collection: Collection) -> Released:
    """Return the answer of a collection without what rests on too few people."""
    counted = (Aggregate("count", _CROWD),) if collection.crowd else ()
    result = database.answer(replace(query, aggregates=(*query.aggregates, *counted), limit=None))
    narrowed = _narrowed(query)
    people = _people(query, result if narrowed is None else database.answer(narrowed))
    if sum(people.values()) < collection.minimum:
        raise RequestError("too-few-users", f"fewer than {collection.minimum} users: nothing is released")
    users = [people.get(one, 0) for one in _public(query, result)]
    counts = [row[-1].value if counted else float(here) for row, here in zip(result.figures, users, strict=True)]
    hidden = _hidden(users, counts, collection)
    kept = [place for place in range(len(users)) if place not in hidden][: query.limit]
    groups = tuple(sorted(result.groups[place] for place in hidden))
    return Released(_only(result, kept, len(query.aggregates)), groups, collection.minimum)


def plain(part: Any) -> Any:
    """Return plain data with None in place of numbers that JSON does not have."""
    if isinstance(part, dict):
        return {key: plain(one) for key, one in part.items()}
    if isinstance(part, (list, tuple)):
        return [plain(one) for one in part]
    return None if isinstance(part, float) and not isfinite(part) else part


def check_step(plan: Plan, method: str) -> None:
    """Refuse a step of post-processing that takes the counts of tables for shares of people."""
    if isinstance(plan, Queries) and method not in STEPS:
        raise ParameterError(f"for the counts of tables a method is one of {', '.join(STEPS)}")


def _only(result: Result, rows: Sequence[int], numbers: int) -> Result:
    """Return some rows of a result, and the first of its numbers."""
    return replace(
        result,
        columns=tuple(name for name in result.columns if name != _CROWD),
        names=result.names[:numbers],
        groups=tuple(result.groups[place] for place in rows),
        figures=tuple(result.figures[place][:numbers] for place in rows),
        explanation={**result.explanation, "numbers": list(result.explanation["numbers"])[:numbers]},
    )


def _hidden(users: Sequence[int], counts: Sequence[float], collection: Collection) -> set[int]:
    """Return which rows are withheld: of groups below the minimum, or with counts below the crowd."""
    order = sorted(range(len(users)), key=lambda place: (users[place] >= collection.minimum, counts[place]))
    small = [
        place
        for place in order
        if users[place] < collection.minimum or (collection.crowd and counts[place] < collection.crowd)
    ]
    return set(order[: max(2, len(small))] if small else ())


def _narrowed(query: Query) -> Query | None:
    """Return a question for the people on whom another can rest, where public conditions leave out the rest of them."""
    conditions = tuple(one.public for one in query.where)
    shares = any(one.kind == "freq" for one in query.aggregates)  # of everybody, so that nobody is filtered out
    if not conditions or (Every() in conditions and not (shares and query.among != Every())):
        return None
    groups = tuple(column for column in query.group_by if column.public)
    among = Every((query.among, Some(conditions)))
    return Query(query.tables, (Aggregate("count", _CROWD),), among=among, group_by=groups)


def _public(query: Query, result: Result) -> list[tuple[str, ...]]:
    """Return the public groups of every row."""
    names = [column for column in query.group_by if column.public]
    places = [place for place, column in enumerate(query.group_by) if column.public]
    alone = len(result.keys) == len(names)
    return [labels if alone else tuple(labels[place] for place in places) for labels in result.groups]


def _people(query: Query, result: Result) -> dict[tuple[str, ...], int]:
    """Return how many people stand in each public group."""
    return dict(zip(_public(query, result), result.people, strict=True))
