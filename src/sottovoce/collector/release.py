"""What may leave the collector as an answer: nothing about too few users, and what is withheld is marked, not zero."""

import csv
import io
from dataclasses import replace
from typing import Any

from sottovoce.answers.answer import Answer, Answers
from sottovoce.answers.measures import Measures
from sottovoce.errors import ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import RequestError


def release(answer: Answer | Answers | Measures, collection: Collection) -> dict[str, Any]:
    """Return an answer as plain data, without the parts that rest on too few users.

    A part with fewer users than the minimum is only its name and ``suppressed``; so is a value whose estimate
    is below the crowd.
    """
    if isinstance(answer, Answers):
        each = {name: release(part, collection) for name, part in answer.parts.items()}
        return {"name": answer.name, "minimum": collection.minimum, "answers": each}
    users = answer.users if isinstance(answer, Measures) else answer.estimate.users
    if users < collection.minimum:
        return {"name": answer.name, "minimum": collection.minimum, "suppressed": True, "rows": []}
    made = answer.to_dict()
    crowd = 0 if isinstance(answer, Measures) else collection.crowd
    return {**made, "minimum": collection.minimum, "suppressed": False, "rows": _rows(made["rows"], crowd)}


def processed(answer: Answer | Answers | Measures, method: str, level: float) -> Answer | Answers | Measures:
    """Return an answer after a step of post-processing, with intervals of a confidence level."""
    if isinstance(answer, Answers):
        return replace(answer, parts={name: _one(part, method, level) for name, part in answer.parts.items()})
    if isinstance(answer, Answer):
        return _one(answer, method, level)
    if method != "none":
        raise ParameterError("a mean is one number: there is nothing to make consistent")
    return answer.at(level)


def _one(answer: Answer, method: str, level: float) -> Answer:
    return answer.at(level) if method == "none" else answer.at(level).postprocess(method)


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
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(rows: list[dict[str, Any]], crowd: int) -> list[dict[str, Any]]:
    """Return the rows with the small ones suppressed; never one alone, which the others and their sum would tell."""
    order = sorted(range(len(rows)), key=lambda place: rows[place]["estimate"])
    small = sum(row["estimate"] < crowd for row in rows) if crowd else 0  # raw estimates below 0 are numbers too
    hidden = set(order[: max(2, small)] if small else ())
    return [
        {"value": row["value"], "suppressed": True} if place in hidden else {**row, "suppressed": False}
        for place, row in enumerate(rows)
    ]
