"""Rows of a search for people to read: findings first, and noise folded into a count.

A search returns as many values as it was asked for.  Those that do not stand out of the noise would
also be returned if nobody held anything frequent, so that only a few of them are shown.  JSON, CSV
and ``rows()`` have all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NOISE_SHOWN = 3  # rows within noise that people see of a search


@dataclass(frozen=True)
class FoldedRows:
    """The rows to show, and how many further ones are ``folded`` because they are noise."""

    rows: list[dict[str, Any]]
    folded: int = 0

    @property
    def remark(self) -> str:
        """Return the line below the rows; an empty text if no row is folded.

        >>> FoldedRows([], folded=12).remark
        'within noise: 12 more rows'
        """
        if not self.folded:
            return ""
        return f"within noise: {self.folded:,} more {'row' if self.folded == 1 else 'rows'}"


def is_search(about: Mapping[str, Any]) -> bool:
    """Return whether an answer lists what a search has found; it then counts its candidates."""
    return "candidates" in about


def fold(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> FoldedRows:
    """Return the rows of a search with most noise folded; other rows are shown as they are.

    ``about`` are the facts that the rows rest on.  Rows that are suppressed come last.
    """
    listed = [dict(row) for row in rows]
    if not is_search(about):
        return FoldedRows(listed)
    withheld = [row for row in listed if row.get("suppressed")]
    released = [row for row in listed if not row.get("suppressed")]
    findings = [row for row in released if row["significant"]]
    noise = [row for row in released if not row["significant"]]
    folded = max(len(noise) - NOISE_SHOWN, 0)
    return FoldedRows([*findings, *noise[:NOISE_SHOWN], *withheld], folded)
