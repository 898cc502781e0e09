"""An answer as data for templates; everything comes from what the service released, never from the answer itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from starlette.datastructures import QueryParams

from sottovoce.arrays import Floats
from sottovoce.collector import marginals, queries
from sottovoce.collector.dashboard import details, formatting, svg
from sottovoce.collector.operations import METHODS
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import State
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.maths.exact import UNIT
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.tables.table_plan import TablePlan
from sottovoce.tasks.plan import Plan

Facts = dict[str, Any]
Row = dict[str, Any]

LEVELS = (0.8, 0.9, 0.95, 0.99, 0.999)
MOST_ROWS, MOST_PARTS = 25, 12  # of one answer, and of several, that are shown before somebody asks for all
_ALL_ROWS, _ALL_PARTS = 2_000, 200  # that a page shows then; a download has no limit
_DRAWN = 4_000  # values that a line is drawn through
_OF_EQUAL_ERRORS = ("base-cut", "mle-apx", "power", "power-ns")
_ABOUT = {
    "none": "none: raw, unbiased estimates",
    "base": "base: recorded, nothing changed",
    "base-cut": "base-cut: only what stands out of the noise",
    "base-pos": "base-pos: negative becomes zero",
    "mle-apx": "mle-apx: most likely shares that sum to 1",
    "norm": "norm: shares sum to 1, may be negative",
    "norm-cut": "norm-cut: the largest shares that fit into 1",
    "norm-mul": "norm-mul: not negative, multiplied to sum to 1",
    "norm-sub": "norm-sub: nearest shares that are possible",
    "power": "power: for few frequent and many rare values",
    "power-ns": "power-ns: the same, made possible",
}


@dataclass(frozen=True)
class Wanted:
    """How somebody wants to see an answer; ``marginal`` are the attributes of a joint table."""

    method: str = "none"
    level: float = 0.95
    everything: bool = False
    marginal: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: QueryParams, plan: Plan) -> "Wanted":
        """Return what the query of an address asks for, or refuse it."""
        method = query.get("method", "none")
        if method not in methods(plan):
            raise ParameterError(f"a method for this task is one of {', '.join(methods(plan))}")
        level = level_of(query.get("level", "0.95"))
        named = query.getlist("marginal") if isinstance(plan, Marginals) else []
        marginal = marginals.named(named, plan) if isinstance(plan, Marginals) and named else ()
        return cls(method, level, query.get("all") == "1", marginal)

    @property
    def query(self) -> str:
        """Return the query of an address that asks for the same numbers."""
        chosen = "".join(f"&marginal={quote(name, safe='')}" for name in self.marginal)
        return f"method={self.method}&level={self.level:g}{chosen}"

    def choices(self, plan: Plan) -> Facts:
        """Return what a form offers."""
        levels = sorted({*LEVELS, self.level})
        return {
            "methods": [(one, _about(one, plan), one == self.method) for one in methods(plan)],
            "levels": [(f"{one:g}", formatting.level(one), one == self.level) for one in levels],
            "attributes": [(one, one in self.marginal) for one in _attributes(plan)],
        }


def level_of(text: str) -> float:
    """Return the confidence level that somebody wrote, or refuse it."""
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.5 <= level <= 0.9999:
        raise ParameterError("a level is a number from 0.5 to 0.9999")
    return level


def methods(plan: Plan) -> tuple[str, ...]:
    """Return the steps that a task's answer may go through.

    There is nothing to mend in a mean or a distribution, shares of what a search has found do not sum to 1, cells of a
    joint table do not all have the same error, and people have any number of records.
    """
    if isinstance(plan, Marginals):
        return tuple(one for one in METHODS if one not in _OF_EQUAL_ERRORS)
    if isinstance(plan, TablePlan):
        return queries.STEPS
    if isinstance(plan.domain, (Bits, Strings, Sets)):
        return ("none", "base-pos")
    return ("none",) if plan.kind in ("mean", "distribution") else METHODS


def _about(method: str, plan: Plan) -> str:
    """Return a step in a few words; joint tables may be biased before any."""
    as_given = method == "none" and isinstance(plan, Marginals)
    return "none: as the task's own method gives them" if as_given else _ABOUT.get(method, method)


def _attributes(plan: Plan) -> tuple[str, ...]:
    """Return the attributes that somebody may choose a table of."""
    return plan.domain.names if isinstance(plan, Marginals) else ()


def sections(released: Mapping[str, Any], plan: Plan, wanted: Wanted) -> Facts:
    """Return the parts of an answer, each with its drawing, its table and what it rests on."""
    alone = released["name"] if wanted.marginal else ""
    parts = list(released["answers"].items()) if "answers" in released else [(alone, released)]
    most = _ALL_PARTS if wanted.everything else MOST_PARTS
    chosen = parts[-most:][::-1] if plan.longitudinal else parts[:most]
    made = [
        _section(name, _of_records(part) if _listed(plan, name) else part, _domain(plan, name), wanted, number)
        for number, (name, part) in enumerate(chosen)
    ]
    cut = len(parts) > len(made) or any(one["more"] for one in made)
    return {"parts": made, "more": len(parts) - len(made), "cut": cut, "several": len(parts) > 1}


def missing(published: Published) -> str:
    """Return what a task without an answer waits for."""
    last, collection = published.last, published.collection
    number, more = last.number, published.asked[last.number].high < UNIT and not published.task.distinct
    if last.state is not State.OPEN:
        then = "Then others are asked, or the" if more else "The"
        return f"Round {number} is being sealed. {then} answer appears here as soon as its log is complete."
    wait = max(collection.minimum - last.users, 0)
    few = f" At least {formatting.many(wait, 'more user')} must answer before anything may be released." if wait else ""
    have = "No reports have come in yet." if not last.users else f"{formatting.many(last.users, 'user')} have answered."
    after = "after the last round" if more else "once it is closed and sealed"
    return f"{have} Round {number} is open; the answer appears here {after}.{few}"


def _section(name: str, part: Mapping[str, Any], domain: Domain | None, wanted: Wanted, number: int) -> Facts:
    if part["suppressed"]:
        return {"name": name, "suppressed": True, "minimum": formatting.count(part["minimum"]), "more": 0}
    counted = "population" in part  # people per value; otherwise figures on the scale of the task
    rows = _ordered(part["rows"], domain, wanted.everything) if counted else part["rows"]
    shown = rows[: _ALL_ROWS if wanted.everything else MOST_ROWS]
    write = _counted if counted else _measured
    return {
        "name": name,
        "suppressed": False,
        "counted": counted,
        "unit": "records" if "records" in part else "people",
        "level": formatting.level(part["level"]),
        "drawing": _drawing(part, shown[:MOST_ROWS], domain, f"chart-{number}") if counted else "",
        "banded": counted and _banded(domain),
        "rows": [write(row, part) for row in shown],
        "hidden": sum(row["suppressed"] for row in rows),
        "noise": sum(not row["suppressed"] and not row["significant"] for row in rows) if counted else 0,
        "more": len(rows) - len(shown),
        "all": formatting.count(len(rows)),
        "figures": [_measured(row, part) for row in part.get("measures", ())],
        "facts": _facts(part),
    }


def _facts(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    population = part.get("population", part["users"])
    scaled = [("Population", formatting.count(population))] if population != part["users"] else []
    bound = part.get("threshold")
    noise = [("Noise reaches", formatting.count(bound))] if bound is not None and not part["steps"] else []
    return [
        ("Users", formatting.count(part["users"])),
        *scaled,
        ("Epsilon", f"{part['epsilon']:g}"),
        ("Mechanism", part["mechanism"]),
        ("Level", formatting.level(part["level"])),
        ("Steps", ", then ".join(part["steps"]) or "none (raw)"),
        *noise,
        *details.facts(part),
    ]


def _counted(row: Row, part: Mapping[str, Any]) -> Facts:
    if row["suppressed"]:
        return {"value": row["value"], "suppressed": True, "standing": "suppressed"}
    error = row["error"] / part["population"]
    return {
        "value": row["value"],
        "suppressed": False,
        **{key: formatting.count(row[key]) for key in ("estimate", "low", "high")},
        "share": formatting.percent(row["share"], error) if "share" in row else "\N{EN DASH}",
        "standing": "significant" if row["significant"] else "within noise",
    }


def _measured(row: Row, part: Mapping[str, Any]) -> Facts:
    if row.get("suppressed"):
        return {"value": row["value"], "suppressed": True}
    numbers = {key: formatting.figure(row[key], row["error"]) for key in ("estimate", "low", "high", "error")}
    return {"value": row["value"], "suppressed": False, **numbers}


def _ordered(rows: Sequence[Row], domain: Domain | None, everything: bool) -> list[Row]:
    """Return numbers in their order if all are shown, else the largest first; what is suppressed keeps its order."""
    if isinstance(domain, (Buckets, Integers)) and (everything or len(rows) <= MOST_ROWS):
        return list(rows)
    return sorted(rows, key=lambda row: (row["suppressed"], -row.get("estimate", 0.0)))


def _drawing(part: Mapping[str, Any], shown: Sequence[Row], domain: Domain | None, name: str) -> str:
    title = f"{part['name']}: estimates with {formatting.level(part['level'])} intervals"
    if _banded(domain):
        return svg.band(part["rows"], _edges(domain).tolist(), title, name)
    return svg.bars(shown, title, name)


def _banded(domain: Domain | None) -> bool:
    """Return whether a line says more than bars: many neighbouring numbers."""
    numeric = isinstance(domain, (Buckets, Integers))
    return numeric and domain is not None and MOST_ROWS < domain.size <= _DRAWN


def _edges(domain: Domain | None) -> Floats:
    if isinstance(domain, Buckets):
        return domain.edges
    assert isinstance(domain, Integers)
    return np.arange(domain.low, domain.high + 2, dtype=np.float64) - 0.5


def _domain(plan: Plan, name: str) -> Domain | None:
    """Return the domain of one part of an answer."""
    domain: Domain = plan.domain
    if isinstance(domain, Tables):
        table, _, name = name.partition(".")
        domain = domain.records(domain.names.index(table))
    if isinstance(domain, Records):
        return dict(zip(domain.names, domain.attributes, strict=True)).get(name)
    return domain


def _listed(plan: Plan, name: str) -> bool:
    """Return whether a part counts records, of which a person has any number."""
    domain = plan.domain
    return isinstance(domain, Tables) and bool(domain.most(domain.names.index(name.partition(".")[0])))


def _of_records(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part without shares: a number of records over a number of people is none."""
    rows = [{key: row[key] for key in row if key != "share"} for row in part["rows"]]
    return {**part, "rows": rows, "records": True}
