"""A released answer as data for templates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.datastructures import QueryParams

from sottovoce.answers.attacked import COLUMNS, sentence
from sottovoce.answers.folding import FoldedRows, fold
from sottovoce.collector.dashboard import details, formatting, svg
from sottovoce.collector.published import Published
from sottovoce.collector.release import AnswerOptions, bins_of, fakes_of, level_of
from sottovoce.collector.store.base import State
from sottovoce.domains.base import Domain
from sottovoce.maths.exact import UNIT
from sottovoce.postprocess.apply import known_methods
from sottovoce.tasks.plan import Plan

Facts = dict[str, Any]
Row = dict[str, Any]

BINS = (10, 25, 50)
LEVELS = (0.8, 0.9, 0.95, 0.99, 0.999)
MOST_ROWS, MOST_PARTS = 25, 12  # rows of a part, and parts, that a page shows at first
_ALL_ROWS, _ALL_PARTS = 2_000, 200  # that a page shows then; a download has no limit
COMPUTING = "The answer reads many reports and is being computed. Load this page again in a moment."
_MOST_FAKES, _FAKES_STEP = 0.2, 0.005  # of the slider for false reports
_FAKES_MARKS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
DEFENCE_LABELS = {
    "none": "counted like all others",
    "auto": "left out, or counted with less weight",
}
_MOST_GAPS = 0.1  # share of suppressed values up to which a line is drawn
_DRAWN = 4_000  # values that a line is drawn through


@dataclass(frozen=True)
class Shown:
    """What a page shows of an answer: its ``options``, and whether all rows are shown."""

    options: AnswerOptions
    everything: bool = False

    @classmethod
    def of(cls, query: QueryParams, plan: Plan) -> "Shown":
        """Return what the query of an address asks for, or refuse it."""
        names = query.getlist("marginal") if plan.attributes else []
        level = level_of(query.get("level", "0.95"))
        fakes = fakes_of(query.get("fakes", ""))
        chosen = plan.named(names) if names else ()
        defence = query.get("defence", "none")
        bins = bins_of(query.get("bins", ""))
        options = AnswerOptions(query.get("method", "none"), level, chosen, fakes, defence, bins)
        options.check(plan)
        return cls(options, query.get("all") == "1")

    @property
    def query_of_numbers(self) -> str:
        """Return the query of an address that asks for the same numbers of all attributes."""
        fakes = "" if self.options.fakes is None else f"&fakes={self.options.fakes:g}"
        defence = "" if self.options.defence == "none" else f"&defence={self.options.defence}"
        bins = "" if self.options.bins is None else f"&bins={self.options.bins}"
        return f"method={self.options.method}&level={self.options.level:g}{fakes}{defence}{bins}"

    @property
    def query(self) -> str:
        """Return the query of an address that asks for the same numbers."""
        chosen = "".join(f"&marginal={quote(name, safe='')}" for name in self.options.marginal)
        return self.query_of_numbers + chosen

    def choices(self, plan: Plan) -> Facts:
        """Return what a form offers."""
        options = self.options
        levels = sorted({*LEVELS, options.level})
        labels = {method.name: method.label for method in known_methods().values()}
        labels["none"] = f"none: {plan.unprocessed}"
        return {
            "methods": [
                (method, labels[method], method == options.method) for method in plan.methods
            ],
            "levels": [
                (f"{level:g}", formatting.level(level), level == options.level) for level in levels
            ],
            "attributes": [(name, name in options.marginal) for name in plan.attributes],
            "fakes": _slider(options.fakes or 0.0),
            "defences": [
                (name, text, name == options.defence) for name, text in DEFENCE_LABELS.items()
            ],
        }


def _bin_choices(chosen: int | None) -> list[tuple[str, str, bool]]:
    """Return how a form offers to group the numbers of a long range."""
    counts = sorted({*BINS, *([] if chosen is None else [chosen])})
    grouped = [(str(count), f"at most {count:,} bins", count == chosen) for count in counts]
    return [("", "every number by itself", chosen is None), *grouped]


def _slider(fakes: float) -> Facts:
    """Return a slider for the share of false reports; it reaches as far as the chosen share."""
    most = max(_MOST_FAKES, fakes)
    on_a_step = abs(fakes / _FAKES_STEP - round(fakes / _FAKES_STEP)) < 1e-9
    return {
        "value": f"{fakes:g}",
        "shown": formatting.share(fakes),
        "most": f"{most:g}",
        "step": f"{_FAKES_STEP:g}" if on_a_step else "any",
        "marks": [(f"{mark:g}", formatting.share(mark)) for mark in _FAKES_MARKS],
    }


def sections(released: Mapping[str, Any], plan: Plan, wanted: Shown) -> Facts:
    """Return the parts of an answer, each with its drawing, its table and what it rests on."""
    alone = released["name"] if wanted.options.marginal else ""
    parts = list(released["answers"].items()) if "answers" in released else [(alone, released)]
    most = _ALL_PARTS if wanted.everything else MOST_PARTS
    chosen = parts[-most:][::-1] if plan.longitudinal else parts[:most]
    sections = [
        _section(
            name, _without_shares(part, plan.unit(name)), plan.part_domain(name), wanted, number
        )
        for number, (name, part) in enumerate(chosen)
    ]
    cut = len(parts) > len(sections) or any(section["more"] for section in sections)
    long = any(section.get("long") for section in sections)
    return {
        "parts": sections,
        "bins": _bin_choices(wanted.options.bins) if long else [],
        "more": len(parts) - len(sections),
        "cut": cut,
        "several": len(parts) > 1,
    }


def missing(published: Published) -> str:
    """Return in words what a task without an answer waits for."""
    last, collection = published.last, published.collection
    number, more = (
        last.number,
        published.asked[last.number].high < UNIT and not published.task.distinct,
    )
    if last.state is not State.OPEN:
        then = "Then others are asked, or the" if more else "The"
        appears = "answer appears here as soon as its log is complete."
        return f"Round {number} is being sealed. {then} {appears}"
    if published.task.shuffle is not None:
        after = "after the last round" if more else "once its batch has come and is opened"
        return f"Round {number} is open at the first hop; the answer appears here {after}."
    wait = max(collection.minimum - last.users, 0)
    few = (
        f" At least {formatting.many(wait, 'more user')} must answer before anything may be "
        "released."
        if wait
        else ""
    )
    have = (
        "No reports have come in yet."
        if not last.users
        else f"{formatting.many(last.users, 'user')} have answered."
    )
    after = "after the last round" if more else "once it is closed and sealed"
    return f"{have} Round {number} is open; the answer appears here {after}.{few}"


def _section(
    name: str, part: Mapping[str, Any], domain: Domain | None, wanted: Shown, number: int
) -> Facts:
    if part["suppressed"]:
        return {
            "name": name,
            "suppressed": True,
            "minimum": formatting.count(part["minimum"]),
            "more": 0,
        }
    counted = "population" in part  # people per value; otherwise figures on the scale of the task
    long = counted and domain is not None and domain.binnable and domain.size > MOST_ROWS
    binned = long and wanted.options.bins is not None
    rows = _ordered(part["rows"], domain, wanted.everything or binned) if counted else part["rows"]
    folded = FoldedRows(rows) if wanted.everything else fold(rows, part)
    shown = folded.rows[: _ALL_ROWS if wanted.everything else MOST_ROWS]
    write = _counted if counted else _measured
    attacked = sentence(part["fakes"]) if "fakes" in part else ""
    robust = any("robust_to" in row for row in rows)
    return {
        "name": name,
        "suppressed": False,
        "counted": counted,
        "unit": part["unit"],
        "level": formatting.level(part["level"]),
        "attacked": attacked,
        "robust": robust,
        "columns": 4 + (2 if attacked else 0) + (1 if robust else 0),
        "drawing": _drawing(part, shown[:MOST_ROWS], domain, f"chart-{number}") if counted else "",
        "banded": counted and _is_line(part, domain),
        "long": long,
        "binned": binned,
        "rows": [write(row, part) for row in shown],
        "hidden": sum(row["suppressed"] for row in rows),
        "noise": sum(not row["suppressed"] and not row["significant"] for row in rows)
        if counted
        else 0,
        "more": len(rows) - len(shown),
        "folded": folded.remark,
        "all": formatting.count(len(rows)),
        "figures": [_measured(row, part) for row in part.get("measures", ())],
        "facts": _facts(part),
    }


def _facts(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    population = part.get("population", part["users"])
    scaled = [("Population", formatting.count(population))] if population != part["users"] else []
    bound = part.get("threshold")
    noise = (
        [("Noise reaches", formatting.count(bound))]
        if bound is not None and not part["steps"]
        else []
    )
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
        **_attacked(row, formatting.count),
        "share": formatting.percent(row["share"], error) if "share" in row else "\N{EN DASH}",
        "robust": formatting.share(row["robust_to"]) if "robust_to" in row else "",
        "standing": "significant" if row["significant"] else "within noise",
    }


def _measured(row: Row, part: Mapping[str, Any]) -> Facts:
    if row.get("suppressed"):
        return {"value": row["value"], "suppressed": True}
    numbers = {
        key: formatting.figure(row[key], row["error"])
        for key in ("estimate", "low", "high", "error")
    }
    attacked = _attacked(row, lambda bound: formatting.figure(bound, row["error"]))
    return {"value": row["value"], "suppressed": False, **numbers, **attacked}


def _attacked(row: Row, write: Callable[[float], str]) -> Facts:
    """Return the bounds that allow for false reports, where a row has them."""
    bounds = {column: row[column] for column in COLUMNS if column in row}
    return {
        column: "no bound" if bound is None else write(bound) for column, bound in bounds.items()
    }


def _ordered(rows: Sequence[Row], domain: Domain | None, everything: bool) -> list[Row]:
    """Return numbers in their order if all are shown, else the largest rows first."""
    if domain is not None and domain.ordered and (everything or len(rows) <= MOST_ROWS):
        return list(rows)
    return sorted(rows, key=lambda row: (row["suppressed"], -row.get("estimate", 0.0)))


def _drawing(
    part: Mapping[str, Any], shown: Sequence[Row], domain: Domain | None, name: str
) -> str:
    title = f"{part['name']}: estimates with {formatting.level(part['level'])} intervals"
    if domain is not None and _is_line(part, domain):
        return svg.band(part["rows"], domain.edges.tolist(), title, name)
    return svg.bars(shown, title, name)


def _is_line(part: Mapping[str, Any], domain: Domain | None) -> bool:
    """Return whether a line says more than bars: many neighbouring numbers, nearly all released.

    With many gaps a line would be a bar code; then the largest rows are drawn as bars.
    """
    if domain is None or not domain.ordered or not MOST_ROWS < len(part["rows"]) <= _DRAWN:
        return False
    if len(part["rows"]) != domain.size:  # bins, or some of the values
        return False
    gaps: int = sum(row["suppressed"] for row in part["rows"])
    return bool(gaps <= _MOST_GAPS * len(part["rows"]))


def _without_shares(part: Mapping[str, Any], unit: str) -> Mapping[str, Any]:
    """Return a part with its unit; a number of records has no share of a number of people."""
    if unit == "people":
        return {**part, "unit": unit}
    rows = [{key: entry for key, entry in row.items() if key != "share"} for row in part["rows"]]
    return {**part, "rows": rows, "unit": unit}
