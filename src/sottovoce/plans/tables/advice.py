"""Which fan-out and which weights of layers to collect tables with for the queries that will be
asked: the expected error of each.

How people are asked cannot depend on a query, so it is chosen for all of them together.  Errors are
those of a population that is spread evenly over all values.

Source: Wang 2021, section 7.4.5; Xu 2020, section 6.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, isfinite, log
from typing import Any

from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table_plan import TablePlan
from sottovoce.plans.tables.workload import Weights, layer_weights, workload_of
from sottovoce.tasks.advice import Advice

FANOUTS = (2, 4, 5, 8, 16)


@dataclass(frozen=True)
class RatedLayout:
    """One way to collect, and the expected error of the first number of every query."""

    method: str
    fanout: int
    errors: tuple[float, ...]
    relative: tuple[float, ...]
    weights: Weights = ()
    as_planned: bool = False  # whether these weights are those of the plan already

    @property
    def title(self) -> str:
        """Return the way in words."""
        layers = ", as it is" if self.as_planned else ", workload"
        return f"{self.method}, fan-out {self.fanout}{layers if self.weights else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return what is told about every way; weights are told of the best one alone."""
        told = asdict(replace(self, weights=()))
        del told["weights"]
        return {**told, "workload": bool(self.weights)}

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

    @property
    def weights(self) -> Weights:
        """Return the advised weights of the layers of each table; empty: all alike."""
        return self.ways[0].weights

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "method": self.method,
            "fanout": self.fanout,
            "weights": self.weights,
            "users": self.users,
            "epsilon": self.epsilon,
            "queries": self.queries,
            "ways": [way.to_dict() for way in self.ways],
        }

    def __str__(self) -> str:
        best = self.ways[0]
        head = f"{self.users:,} users, epsilon {self.epsilon:g}: collect by {best.title}"
        numbers = [f"query {number}" for number in range(1, len(self.queries) + 1)]
        lines = [head, "", f"{'':28}" + "".join(f"{number:>14}" for number in numbers)]
        for way in self.ways:
            shares = "".join(f"{_percent(share):>14}" for share in way.relative)
            lines.append(f"{way.title:<28}{shares}")
        lines += [
            "",
            "Expected error as a share of the answer, "
            "if people were spread evenly over all values.",
        ]
        if best.weights and not best.as_planned:
            lines.append(
                "workload: layers are weighted for these queries; "
                "write them as `workload` of the plan."
            )
        return "\n".join(
            [*lines, *(f"{number + 1}: {text}" for number, text in enumerate(self.queries))]
        )


def advise_tables(
    plan: TablePlan, queries: Sequence[str], users: int, epsilon: float
) -> TablesAdvice:
    """Return how good the answers to some queries would be for every fan-out of a plan's tables,
    with even layers and with layers that are weighted for these queries.
    """
    workload = workload_of(queries)
    layouts: list[Layout] = [plan.layout(epsilon)] if plan.weights else []
    for fanout in sorted({*FANOUTS, plan.fanout}):
        even = Layout(plan.domain, plan.rows, fanout, epsilon)
        weights = layer_weights(even, workload)
        layouts += [even, replace(even, weights=weights)] if weights else [even]
    advice = rate_layouts(layouts, queries, users, epsilon)
    ways = [replace(way, as_planned=way.weights == plan.weights) for way in advice.ways]
    return replace(advice, ways=tuple(ways))


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
    return RatedLayout(layout.name, layout.fanout, tuple(errors), tuple(relative), layout.weights)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if isfinite(share) else "-"
