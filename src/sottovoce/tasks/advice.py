"""Advice: what to expect of a collection, known before anybody is asked.

Every plan gives some.  A shell shows advice through this contract: facts, rows to compare, text,
JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from sottovoce.answers.plain_data import PlainData

Row: TypeAlias = dict[str, Any]


class Advice(PlainData):
    """What a collection of so many ``users`` at an ``epsilon`` would give."""

    users: int
    epsilon: float

    def facts(self) -> dict[str, Any]:
        """Return the single numbers and words of the advice, by name."""
        return {name: entry for name, entry in self.to_dict().items() if not _is_rows(entry)}

    def rows(self) -> list[Row]:
        """Return what is compared, such as one row per mechanism or method; nothing where nothing
        is.
        """
        return next((list(entry) for entry in self.to_dict().values() if _is_rows(entry)), [])


@dataclass(frozen=True)
class CollectionAdvice(Advice):
    """What is known of any plan: how it asks, what a report costs in bytes, and what speaks against
    it.
    """

    plan: str
    users: int
    epsilon: float
    mechanisms: tuple[str, ...]
    asked_first: int
    reports_per_person: int
    report_bytes: int
    concerns: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"Advice for {self.users:,} users, epsilon {self.epsilon:g}",
            "",
            f"  plan        {self.plan}",
            f"  mechanisms  {', '.join(self.mechanisms)}",
            f"  asked       {self.asked_first:,} of the users in the first round",
            f"  reports     {self.reports_per_person} per person, {self.report_bytes} bytes each",
        ]
        return "\n".join([*lines, *(f"  concern     {concern}" for concern in self.concerns)])


def _is_rows(entry: Any) -> bool:
    return (
        isinstance(entry, list | tuple)
        and bool(entry)
        and all(isinstance(row, Mapping) for row in entry)
    )
