"""The rows to show of a long answer: bands of neighbouring numbers, or the most frequent values.

Noise hides single numbers before it hides bands.  The error of a band includes covariances; where
they are not known, as of the columns of a table, there are no bands.  A band is significant if it
is higher than noise makes one of all bands that nobody holds in 5 % of answers at most; where the
law of that noise is not known exactly, a bound on it (``core/empty_band.py``).
"""

from typing import Any

import numpy as np

from sottovoce.answers import attacked
from sottovoce.answers.answer import Answer

_MAX_BANDS = 12
_ALPHA = 0.05

Row = dict[str, Any]


def shown(answer: Answer, most: int) -> list[Row]:
    """Return at most ``most`` rows; ``members`` names the values that a row summarises."""
    long = len(answer.labels) > most
    if long and _has_bands(answer):
        return _bands(answer, min(most, _MAX_BANDS))
    rows = answer.top(most) if long or not _is_range(answer) else answer.rows()
    return [{**row, "members": (row["value"],)} for row in rows]


def bands(answer: Answer, most: int) -> list[Row]:
    """Return at most ``most`` bands of neighbouring numbers; every row if they are no more."""
    if not _has_bands(answer) or len(answer.labels) <= most:
        return answer.rows()
    bands = _bands(answer, most)
    return [{key: entry for key, entry in band.items() if key != "members"} for band in bands]


def _has_bands(answer: Answer) -> bool:
    return answer.estimate.noise.has_sums and _is_range(answer)


def _is_range(answer: Answer) -> bool:
    """Return whether the values are neighbouring whole numbers."""
    first = answer.labels[0]
    if not first.removeprefix("-").isdecimal():
        return False
    return answer.labels == tuple(map(str, range(int(first), int(first) + len(answer.labels))))


def _bands(answer: Answer, most: int) -> list[Row]:
    low, high = int(answer.labels[0]), int(answer.labels[-1])
    width = _width(low, high, most)
    starts = [low, *range((low // width + 1) * width, high + 1, width)]
    ends = [*starts[1:], high + 1]
    return [
        _band(answer, range(start - low, end - low), len(starts))
        for start, end in zip(starts, ends, strict=True)
    ]


def _width(low: int, high: int, most: int) -> int:
    """Return the narrowest of 1, 2, 5, 10, 20, ... that needs no more bands than allowed."""
    widths = (digit * int(10**power) for power in range(20) for digit in (1, 2, 5))
    return next(width for width in widths if high // width - low // width < most)


def _band(answer: Answer, indices: range, tested: int) -> Row:
    members = answer.labels[indices.start : indices.stop]
    cells = np.array(indices, np.int64)
    total = answer.estimate.sum(cells)
    low, high = total.interval(answer.level)
    bounds: Row = {}
    if answer.fakes is not None:
        bounds = attacked.columns_of(total.attacked(answer.level, answer.fakes))
    return {
        "value": f"{members[0]}–{members[-1]}" if len(members) > 1 else members[0],
        "estimate": total.total,
        "low": low,
        "high": high,
        "share": total.total / answer.estimate.population,
        "error": total.error,
        "significant": answer.estimate.significant_sum(cells, _ALPHA / tested),
        **bounds,
        "members": members,
    }
