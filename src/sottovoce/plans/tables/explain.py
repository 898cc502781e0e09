"""How a query is answered: budgets, layers, coefficients, and the error to expect, from the plan
itself.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from sottovoce.domains.base import Domain
from sottovoce.domains.tables import Tables
from sottovoce.plans.tables.demand import Number, Row
from sottovoce.plans.tables.influence import NumberInfluence
from sottovoce.plans.tables.layout import Factor
from sottovoce.plans.tables.predict import Prediction, squared_coefficients
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.state import Way, way_of
from sottovoce.plans.tables.weigh import alternatives
from sottovoce.sql.query import EVERYBODY

MOVED = "one false report moves this by at most"
MANY_TABLES = 3  # from here on a join is hardly ever precise


def facts_of(
    plan: QueryPlan,
    users: int,
    *,
    compare: bool = False,
    coins_checked: bool = False,
    way: Way | None = None,
) -> dict[str, Any]:
    """Return a plan as facts, with the error to expect if so many people were spread evenly over
    all values.

    ``compare`` adds the error of every other method.  With ``coins_checked`` nobody can choose the
    layer that they report about, so a false message does less harm.  ``way`` is how the reports are
    read, where that is known.
    """
    layout = plan.layout
    query = plan.query
    row = plan.rows[0]
    numbers = []
    for number in row.numbers:
        moved = _moved(plan.prediction, row, number, users, coins_checked)
        numbers.append({**_expected(plan.prediction, row, number, users), MOVED: moved})
    facts: dict[str, Any] = {
        "epsilon": layout.epsilon,
        "epsilon of a record": layout.record_epsilon,
        "reports of a person": sum(len(factor.slots) for factor in layout.factors),
        "collected by": layout.description,
        "method": str(plan.method),
        "measure": plan.method.measure.upper(),
        "people": users,
        "monomials": len(query.where),
        "tables": [_table(plan, table) for table in query.tables],
        "public conditions": query.among != EVERYBODY,
        "coins": "dealt by enrolment tokens" if coins_checked else "chosen by whoever reports",
        "numbers": numbers,
    }
    way = way or way_of(plan, users)
    facts["answered from"] = way.text
    if way.scores:
        facts["limit"] = way.limit
    if compare:
        facts["compared with"] = _compared(plan, users)
    warnings = _warnings(plan, numbers)
    if warnings:
        facts["warnings"] = warnings
    return facts


def schema_of(tables: Tables, name: str) -> dict[str, Any]:
    """Return the columns of a table, or of all for ``*``: what SHOW TABLES and DESCRIBE tell."""
    columns: list[dict[str, Any]] = []
    for table, table_name in enumerate(tables.names):
        if name not in ("*", table_name):
            continue
        records = tables.records(table)
        private = zip(records.names, records.attributes, strict=True)
        columns += [_column(table_name, column, kind, "private") for column, kind in private]
        known = dict(zip(tables.public_names, tables.public_kinds, strict=True))
        columns += [
            _column(table_name, column, known[f"{table_name}.{column}"], "public")
            for column in tables.public_columns(table)
        ]
    facts: dict[str, Any] = {"columns": columns}
    lists = [each for index, each in enumerate(tables.names) if tables.most(index)]
    if lists:
        facts["tables of lists"] = lists
    return facts


def _column(table: str, name: str, kind: Domain, visibility: str) -> dict[str, Any]:
    return {
        "table": table,
        "column": name,
        "is": visibility,
        "values": kind.values_in_short,
        "count": kind.size,
    }


def _table(plan: QueryPlan, table: int) -> dict[str, Any]:
    """Return how the reports about one table are used."""
    name = plan.layout.tables.names[table]
    scored = [scoring for scoring in plan.scorings.values() if scoring.factor.table == table]
    if not scored:
        return {"table": name, "use": "dropped: true of everybody"}
    counted = bool(plan.layout.tables.most(table))
    return {
        "table": name,
        "use": "scored, with how many records people have" if counted else "scored",
        "layers": len(scored[0].factor.slots[0].family),
        "buckets": _buckets(scored[0].factor),
        "scores": sum(len(scoring.columns) for scoring in scored),
        "squared coefficients": _squared(scored[0]),
        "reports used": float(np.mean([scoring.used_share(0) for scoring in scored])),
    }


def _squared(scoring: Scoring) -> float:
    """Return the sum of the squares of all coefficients of the first column of scores."""
    column = scoring.columns[0]
    if column.scales is None:
        return column.squared_sum
    return squared_coefficients(scoring.factor.slots[0], column)


def _buckets(factor: Factor) -> str:
    mechanisms = factor.slots[0].family.mechanisms
    sizes = {getattr(mechanism, "buckets", mechanism.size) for mechanism in mechanisms}
    return f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(*sizes)


def _expected(prediction: Prediction, row: Row, number: Number, users: int) -> dict[str, Any]:
    aggregate = number.aggregate
    expected = prediction.number(row, number, users)
    errors = {"expected error": expected.error, "relative": expected.relative}
    return {"name": aggregate.name, "made of": aggregate.formula, **errors}


def _moved(
    prediction: Prediction, row: Row, number: Number, users: int, coins_checked: bool
) -> float:
    """Return the most that one false message adds to a number, or takes from it."""
    totals = prediction.totals(number, users)
    influence = NumberInfluence(prediction.candidate, row, number, coins_checked)
    exposure = influence.exposure(totals, users)
    if exposure is None:
        return inf
    return max(exposure.influence.up, exposure.influence.down)


def _compared(plan: QueryPlan, users: int) -> list[dict[str, Any]]:
    """Return the expected error of the first number by every method.

    Those already predicted are not made again.
    """
    known = {prediction.candidate: prediction for prediction in plan.compared}
    row = plan.rows[0]
    compared = []
    for candidate in alternatives(plan.demand, tuple(known)):
        prediction = known.get(candidate) or Prediction(candidate)
        expected = _expected(prediction, row, row.numbers[0], users)
        compared.append({"method": str(candidate.method), **expected})
    return compared


def _warnings(plan: QueryPlan, numbers: Sequence[dict[str, Any]]) -> list[str]:
    warnings = [
        f"the expected error of {number['name']} exceeds its expected value"
        for number in numbers
        if number["relative"] > 1
    ]
    if len(plan.query.tables) >= MANY_TABLES:
        warnings.append("a join of three tables and more is hardly ever precise")
    return warnings
