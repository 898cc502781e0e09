"""Numbers with as many digits as their error allows, for people who read them."""

from math import floor, isfinite, log10

_MOST_DECIMALS = 6
NO_NUMBER = "\N{EN DASH}"  # where a number does not exist


def figure(number: float, error: float) -> str:
    """Return a number with two digits of its error, or with four digits where that is not known.

    An exact number has all its digits.

    >>> figure(41.23456, 0.087), figure(1234.5, 120.0), figure(-0.2, 50.0)
    ('41.235', '1,234', '0')
    >>> figure(41.23456, float("nan")), figure(float("inf"), 1.0)
    ('41.23', '–')
    >>> figure(1234567.5, 0.0)
    '1,234,567.5'
    """
    if not isfinite(number):
        return NO_NUMBER
    if error == 0:
        return f"{number:,.10g}"
    text = f"{number:,.{_decimals(error)}f}" if isfinite(error) else f"{number:,.4g}"
    return text if any(digit in text for digit in "123456789") else text.removeprefix("-")


def interval(low: float | None, high: float | None, error: float) -> str:
    """Return the bounds of a number, or say that there are none.

    >>> interval(-0.2, 1234.5, 20.0), interval(None, None, 20.0)
    ('[0, 1,234]', 'no bound')
    """
    if low is None or high is None:
        return "no bound"
    return f"[{figure(low, error)}, {figure(high, error)}]"


def _decimals(error: float) -> int:
    """Return how many decimals show two digits of an error."""
    return min(max(1 - floor(log10(error)), 0), _MOST_DECIMALS)
