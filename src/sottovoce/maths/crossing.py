"""Where a falling function crosses zero, seen from the side where it is not positive."""

from collections.abc import Callable

_MAX_STEPS = 200


def crossing(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return a point at most ``tolerance`` above the crossing, where the function is at most 0.

    The function falls; it is positive at ``low`` and not positive at ``high``.  False position with
    the Illinois correction: an end that stays twice in a row counts half, so that both ends move.

    >>> round(crossing(lambda x: 2 - x * x, 1.0, 2.0, 1e-9), 6)
    1.414214
    """
    value_low = function(low)
    value_high = function(high)
    last_moved = ""
    for step in range(_MAX_STEPS):
        if high - low <= tolerance:
            break
        middle = high - value_high * (high - low) / (value_high - value_low)
        if step % 3 == 2:  # whatever the function, the interval halves
            middle = (low + high) / 2
        # A step away from both ends, so that the far end moves as soon as the near one is good.
        margin = min(tolerance / 2, (high - low) / 4)
        middle = min(max(middle, low + margin), high - margin)
        value = function(middle)
        if value <= 0:
            high = middle
            value_high = min(value, -1e-300)
            if last_moved == "high":
                value_low /= 2
            last_moved = "high"
        else:
            low = middle
            value_low = value
            if last_moved == "low":
                value_high /= 2
            last_moved = "low"
    return high
