"""Which fan-out to collect tables with for the queries that will be asked: the expected error of
each.

How people are asked cannot depend on a query, so it is chosen for all of them together.  Errors are
those of a population that is spread evenly over all values.

Source: Wang 2021, section 7.4.5; Xu 2020, section 6.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import exp, isfinite, log
from typing import Any

from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table_plan import TablePlan
from sottovoce.tasks.advice import Advice

FANOUTS = (2, 4, 5, 8, 16)


@dataclass(frozen=True)
class RatedLayout:
    """One way to collect, and the expected error of the first number of every query."""

    method: str
    fanout: int
    errors: tuple[float, ...]
    relative: tuple[float, ...]

    @property
    def cost(self) -> float:
        """Return the geometric mean of the errors: no query counts more because its numbers are
        larger.
        """
        logs = [log(error) for error in self.errors if error > 0]
        return exp(sum(logs) / len(logs)) if logs else 0.0


@dataclass(frozen=True)
class TablesAdvice(Advice):
    """Ways to collect, from the best to the worst for some queries."""

    users: int
    epsilon: float
    queries: tuple[str, ...]
    ways: tuple[RatedLayout, ...]

    @property
    def method(self) -> str:
        """Return the advised method."""
        return self.ways[0].method

    @property
    def fanout(self) -> int:
        """Return the advised fan-out."""
        return self.ways[0].fanout

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {"method": self.method, "fanout": self.fanout, **asdict(self)}

    def __str__(self) -> str:
        best = self.ways[0]
        chosen = f"collect by {best.method}, fan-out {best.fanout}"
        head = f"{self.users:,} users, epsilon {self.epsilon:g}: {chosen}"
        numbers = [f"query {number}" for number in range(1, len(self.queries) + 1)]
        lines = [head, "", f"{'':24}" + "".join(f"{number:>14}" for number in numbers)]
        for way in self.ways:
            shares = "".join(f"{_percent(share):>14}" for share in way.relative)
            lines.append(f"{f'{way.method}, fan-out {way.fanout}':<24}{shares}")
        lines += [
            "",
            "Expected error as a share of the answer, "
            "if people were spread evenly over all values.",
        ]
        return "\n".join(
            [*lines, *(f"{number + 1}: {text}" for number, text in enumerate(self.queries))]
        )


def advise_tables(
    plan: TablePlan, queries: Sequence[str], users: int, epsilon: float
) -> TablesAdvice:
    """Return how good the answers to some queries would be for every fan-out of a plan's tables."""
    fanouts = sorted({*FANOUTS, plan.fanout})
    layouts = (Layout(plan.domain, plan.rows, fanout, epsilon) for fanout in fanouts)
    return rate_layouts(layouts, queries, users, epsilon)


def rate_layouts(
    layouts: Iterable[Layout], queries: Sequence[str], users: int, epsilon: float
) -> TablesAdvice:
    """Return the layouts from the best to the worst.

    One that cannot answer some query is left out.
    """
    if not queries:
        raise ParameterError("`queries` must hold at least one query")
    whole("users", users, 2)
    rated = [_rated(layout, queries, users) for layout in layouts]
    ways = sorted((each for each in rated if each is not None), key=lambda each: each.cost)
    if not ways:
        raise ParameterError("no way to collect these tables can answer these queries")
    return TablesAdvice(users, epsilon, tuple(queries), tuple(ways))


def _rated(layout: Layout, queries: Sequence[str], users: int) -> RatedLayout | None:
    """Return the expected errors under one layout.

    None if people cannot be asked so, or cannot answer.
    """
    source = Source(layout)
    errors = []
    relative = []
    for text in queries:
        query = read(text, source)
        if query.schema:
            raise ParameterError("`queries` must ask for numbers, not for the tables")
        try:
            plan = plan_query(query, source)
            row = plan.rows[0]
            expected = plan.prediction.number(row, row.numbers[0], users)
            errors.append(expected.error)
            relative.append(expected.relative)
        except SottovoceError:
            return None
    return RatedLayout(layout.name, layout.fanout, tuple(errors), tuple(relative))


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if isfinite(share) else "-"
