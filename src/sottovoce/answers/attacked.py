"""Bounds that allow for false reports, as columns of rows.

The ordinary interval says how far chance may have moved a number.  An attacked interval adds what a
share of false reports may have done to it, whatever they say and however they agree.  It needs no
detection and assumes nothing about the attack but its size.
"""

from collections.abc import Iterable
from math import isnan
from typing import Any

from sottovoce.core import settings

COLUMNS = ("low_attacked", "high_attacked")

Bounds = tuple[float, float]

_ALL_FALSE = "so many false reports could be all the reports that a number rests on"
_NOT_A_SUM = "the numbers are not sums over reports, so what one false report does is not known"


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


def reasons(bounds: Iterable[Bounds | None], *, known: bool) -> dict[str, str]:
    """Return why some numbers have no bound; nothing if all have one.

    ``known`` says that what one false report does to these numbers is known.

    >>> reasons([(1.0, 2.0)], known=True)
    {}
    """
    if not any(bound is None or isnan(bound[0]) for bound in bounds):
        return {}
    return {"no_bound": _ALL_FALSE if known else _NOT_A_SUM}


def sentence(fakes: float) -> str:
    """Return the bounds as a sentence."""
    return f"if up to {100 * fakes:g} % of the reports were false"
