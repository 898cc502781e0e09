"""What every aggregate must keep: slopes that are derivatives, and a truth that is the combination
itself.
"""

from math import isnan

import pytest

STEP = 1e-6


def check_slopes(aggregate, totals):
    """The stated slopes are the derivatives of the value, by central differences."""
    value, slopes = aggregate.combine(totals)
    assert len(slopes) == len(totals) == len(aggregate.moments)
    for index, slope in enumerate(slopes):
        step = STEP * max(1.0, abs(totals[index]))
        ends = [
            aggregate.combine(
                [total + sign * step * (place == index) for place, total in enumerate(totals)]
            ).value
            for sign in (-1, 1)
        ]
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(slope, rel=1e-5, abs=1e-9)
    assert aggregate.truth(totals) == value


def check_nothing(aggregate, totals):
    """Without a denominator there is no number, no slope and no truth."""
    value, slopes = aggregate.combine(totals)
    assert isnan(value)
    assert slopes is None
    assert aggregate.truth(totals) is None
