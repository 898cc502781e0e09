"""What may leave the collector as an answer: nothing about too few users, and what is withheld is marked, not zero."""

from typing import Any

from sottovoce.answers import Answer, Answers
from sottovoce.collection import Collection
from sottovoce.measures import Measures


def release(answer: Answer | Answers | Measures, collection: Collection) -> dict[str, Any]:
    """Return an answer as plain data, without the parts that rest on too few users.

    A part with fewer users than the minimum is only its name and ``suppressed``; so is a value whose estimate
    is below the crowd.
    """
    if isinstance(answer, Answers):
        parts = {name: release(part, collection) for name, part in answer.parts.items()}
        return {"name": answer.name, "minimum": collection.minimum, "answers": parts}
    users = answer.users if isinstance(answer, Measures) else answer.estimate.users
    if users < collection.minimum:
        return {"name": answer.name, "minimum": collection.minimum, "suppressed": True, "rows": []}
    made = answer.to_dict()
    crowd = 0 if isinstance(answer, Measures) else collection.crowd
    rows = [_row(row, crowd) for row in made["rows"]]
    return {**made, "minimum": collection.minimum, "suppressed": False, "rows": rows}


def withheld(released: dict[str, Any]) -> bool:
    """Return whether nothing at all was released."""
    parts = list(released["answers"].values()) if "answers" in released else [released]
    return all(part["suppressed"] for part in parts)


def _row(row: dict[str, Any], crowd: int) -> dict[str, Any]:
    if row["estimate"] < crowd:
        return {"value": row["value"], "suppressed": True}
    return {**row, "suppressed": False}
