"""How a question is answered, in figures: budgets, layers, coefficients, and the error to expect.

Source: Xu 2020, section 6.
"""

from collections.abc import Sequence
from math import inf, nan, prod, sqrt
from typing import Any

import numpy as np

from sottovoce.plans.tables import planning
from sottovoce.plans.tables.layout import Asking, Factor
from sottovoce.plans.tables.planning import Cell, Work
from sottovoce.plans.tables.scoring import Scoring, layer
from sottovoce.sql.query import Every, Query

ROUNDING = 1e-12  # of a difference of squares
MANY = 3  # services, from which on a join is hardly ever precise


def explained(asking: Asking, query: Query, users: int, work: Work | None = None) -> dict[str, Any]:
    """Return the plan of a question and the error to expect, were so many people spread evenly over all values."""
    made = planning.plan(asking, query) if work is None else work
    facts: dict[str, Any] = {
        "epsilon": asking.epsilon,
        "epsilon of a record": asking.each,
        "reports of a person": sum(len(factor.slots) for factor in asking.factors),
        "collected by": f"{asking.method}, {'as published' if asking.published else 'affine response'}",
        "method": str(made.way),
        "measure": made.way.measure.upper(),
        "people": users,
        "monomials": len(query.where),
        "tables": [_table(asking, made, place) for place in query.tables],
        "public conditions": query.among != Every(),
        "numbers": [_expected(asking, made, cell, users) for cell in made.lines[0].cells],
    }
    if work is None:
        facts["compared with"] = _compared(asking, query, users)
    if warnings := _warnings(asking, query, facts["numbers"]):
        facts["warnings"] = warnings
    return facts


def _table(asking: Asking, work: Work, place: int) -> dict[str, Any]:
    name = asking.services.names[place]
    scored = [one for one in work.scorings.values() if one.factor.table == place]
    if not scored:
        return {"table": name, "use": "dropped: true of everybody"}
    return {
        "table": name,
        "use": "scored, with how many records people have" if asking.services.most(place) else "scored",
        "layers": len(scored[0].factor.slots[0].family),
        "buckets": _buckets(scored[0].factor),
        "scores": sum(len(one.targets) for one in scored),
        "squared coefficients": _squares(scored[0]),
        "reports used": float(np.mean([_used(one) for one in scored])),
    }


def _buckets(factor: Factor) -> str:
    sizes = {getattr(one, "buckets", one.size) for one in factor.slots[0].family.mechanisms}
    return f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(*sizes)


def _squares(scoring: Scoring) -> float:
    """Return the sum of the squared coefficients of the first target."""
    total = 0.0
    for terms in scoring.targets[0].groups:
        for one in terms:
            for other in terms:
                axes = zip(one.axes, other.axes, strict=True)
                shared = [sum(_dot(a, b) for a, b in zip(left, right, strict=True)) for left, right in axes]
                total += one.weight * other.weight * prod(shared)
    return total


def _dot(left: Any, right: Any) -> float:
    return 0.0 if left is None or right is None else float(left @ right)


def _used(scoring: Scoring) -> float:
    """Return the share of reports whose layer has a part in the first target."""
    shares = [
        sum(slot.chance(member) for member in range(len(slot.family)) if layer(slot, member, scoring.targets[0]))
        for slot in scoring.factor.slots
    ]
    return float(np.mean(shares))


def _expected(asking: Asking, work: Work, cell: Cell, users: int) -> dict[str, Any]:
    """Return the error of one number under an even spread, absolute and relative to what it would then be."""
    meant = [users * planning.meant(asking, work, at) for at in cell.parts]
    value, slopes = linear(cell.aggregate.kind, meant)
    error = inf
    if slopes:
        error = sqrt(users * planning.residual(asking, work, cell, work.lines[0].groups, slopes))
    return {"name": cell.aggregate.name, "expected error": error, "relative": _relative(error, value)}


def linear(kind: str, totals: Sequence[float]) -> tuple[float, tuple[float, ...]]:
    """Return a number made of totals, and how it changes with each of them; no slopes where there is no number."""
    if kind in ("count", "sum"):
        return totals[0], (1.0,)
    if not totals[1]:
        return nan, ()
    ratio = totals[0] / totals[1]
    if kind in ("avg", "freq"):
        return ratio, (1 / totals[1], -ratio / totals[1])
    square = totals[2] / totals[1]
    if square - ratio**2 <= ROUNDING * square:
        return 0.0, ()
    spread = sqrt(square - ratio**2)
    scale = 2 * spread * totals[1]
    return spread, (-2 * ratio / scale, (2 * ratio**2 - square) / scale, 1 / scale)


def _relative(error: float, value: float) -> float:
    return error / abs(value) if value and error < inf else inf


def _compared(asking: Asking, query: Query, users: int) -> list[dict[str, Any]]:
    found = []
    for way in planning.alternatives(asking, query):
        made = planning.planned(asking, query, way)
        found.append({"method": str(way), **_expected(asking, made, made.lines[0].cells[0], users)})
    return found


def _warnings(asking: Asking, query: Query, numbers: Sequence[dict[str, Any]]) -> list[str]:
    found = [
        f"the expected error of {one['name']} exceeds its expected value" for one in numbers if one["relative"] > 1
    ]
    if len(query.tables) >= MANY:
        found.append("a join of three tables and more is hardly ever precise")
    return found
