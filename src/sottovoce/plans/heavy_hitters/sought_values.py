"""The goal of a search: the most frequent values, or all values above a threshold."""

from typing import Any

from sottovoce.core.settings import real
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError

MAX_KEPT = 4096  # prefixes that are followed above a threshold


def check_threshold(threshold: float) -> float:
    """Return a threshold, 0 for none, or refuse one that more values could exceed than fit.

    >>> check_threshold(0.25)
    0.25
    """
    if threshold == 0:
        return 0.0
    checked = real("threshold", threshold)
    if not 1 / MAX_KEPT <= checked < 1:
        raise ParameterError(f"`threshold` must be 0, or at least 1/{MAX_KEPT} and below 1")
    return checked


def sought_values(
    domain: Bits | Strings, values: Any, top: int, threshold: float = 0.0
) -> dict[str, int]:
    """Return the ``top`` values that people hold, or all above a share, with their counts."""
    counts = domain.counts(domain.indices(values))
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    if not threshold:
        return dict(ranked[:top])
    people = sum(counts.values())
    return {label: count for label, count in ranked if count > threshold * people}
