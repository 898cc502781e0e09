"""Bounds that allow for false reports, as columns of rows.

The ordinary interval says how far chance may have moved a number.  An attacked interval adds what a
share of false reports may have done to it, whatever they say and however they agree.  It needs no
detection and assumes nothing about the attack but its size.
"""

from math import isnan
from typing import Any

from sottovoce.core import settings

COLUMNS = ("low_attacked", "high_attacked")

Bounds = tuple[float, float]


def checked_fakes(fakes: float | None) -> float | None:
    """Return a share of false reports: above 0 and below 1, or None if none is allowed for.

    >>> checked_fakes(1)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `fakes` must be a number above 0 and below 1, not 1
    """
    return None if fakes is None else settings.open_share("fakes", fakes)


def columns_of(bounds: Bounds | None) -> dict[str, Any]:
    """Return the bounds by the names of their columns; None where there is no bound."""
    if bounds is None or isnan(bounds[0]):
        return dict.fromkeys(COLUMNS)
    return dict(zip(COLUMNS, bounds, strict=True))


def sentence(fakes: float) -> str:
    """Return what the bounds say, for people."""
    return f"if up to {100 * fakes:g} % of the reports were false"
