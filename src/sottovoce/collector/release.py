"""What may leave the collector as an answer: nothing about too few users, and what is withheld is marked, not zero."""

from typing import Any

from sottovoce.answers import export
from sottovoce.answers.outcome import Outcome
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import RequestError


def release(outcome: Outcome, collection: Collection) -> dict[str, Any]:
    """Return an outcome as plain data, without the parts that rest on too few users.

    A part with fewer users than the minimum is only its name and ``suppressed``; so is a value whose
    estimate is below the crowd.
    """
    if not outcome.single:
        parts = {name: release(part, collection) for name, part in outcome.questions().items()}
        return {"name": outcome.name, "minimum": collection.minimum, "answers": parts}
    if outcome.users < collection.minimum:
        withheld = {"name": outcome.name, "minimum": collection.minimum}
        return {**withheld, "suppressed": True, "rows": []}
    content = outcome.to_dict()
    crowd = collection.crowd if outcome.counts_people else 0
    rows = _rows(content["rows"], crowd)
    return {**content, "minimum": collection.minimum, "suppressed": False, "rows": rows}


def processed(outcome: Outcome, method: str, level: float) -> Outcome:
    """Return an outcome after a step of post-processing, with intervals of a confidence level."""
    levelled = outcome.at(level)
    return levelled if method == "none" else levelled.postprocess(method)


def parts(released: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a released answer, one for every question."""
    return list(released["answers"].values()) if "answers" in released else [released]


def refuse_withheld(released: dict[str, Any]) -> dict[str, Any]:
    """Return what was released, or say that nothing was."""
    if parts(released) and all(part["suppressed"] for part in parts(released)):
        raise RequestError("too-few-users", f"fewer than {released['minimum']} users: nothing is released")
    return released


def rows_as_csv(released: dict[str, Any]) -> str:
    """Return all rows as CSV, the question in the first column; what is suppressed says so."""
    rows = [
        {"question": part["name"], **row} for part in parts(released) for row in part["rows"] or [{"suppressed": True}]
    ]
    return export.csv_text(rows)


def _rows(rows: list[dict[str, Any]], crowd: int) -> list[dict[str, Any]]:
    """Return the rows with the small ones suppressed; never one alone, which the others and their sum would tell."""
    order = sorted(range(len(rows)), key=lambda place: rows[place]["estimate"])
    small = sum(row["estimate"] < crowd for row in rows) if crowd else 0  # raw estimates below 0 are numbers too
    hidden = set(order[: max(2, small)] if small else ())
    return [
        {"value": row["value"], "suppressed": True} if place in hidden else {**row, "suppressed": False}
        for place, row in enumerate(rows)
    ]
