"""Intervals after post-processing: as often right as they say, or as
docs/evidence/post-processing.md says they are.
"""

import numpy as np
import pytest

from sottovoce.lab.experiments.consistency.experiment import CoverageSetting, coverage

COLLECTIONS = 2_000
# of the method that fits a power law to every collection; the full count is run by make papers
FEWER = 500
SMALL = CoverageSetting(64, 4_000, 1.0)


@pytest.mark.parametrize(
    ("method", "collections"),
    [("norm-sub", COLLECTIONS), ("power-ns", FEWER), ("base-cut", COLLECTIONS)],
)
def test_intervals_from_the_raw_errors_and_the_move_cover(method, collections):
    """Common, middling and rare value and two ranges: 95 % or more, within five sigma of so many
    collections.
    """
    covered, _ = coverage(SMALL, method, "raw", collections)
    print(covered)
    assert (covered > 0.95 - 5 * np.sqrt(0.95 * 0.05 / collections)).all(), covered


def test_intervals_from_a_bootstrap_cover_as_often_as_recorded():
    """Right for a common and a rare value; known to miss the middling value and the ranges."""
    covered, widths = coverage(SMALL, "norm-sub", "bootstrap", COLLECTIONS)
    recorded = np.array([0.950, 0.687, 0.997, 0.835, 0.748])
    spread = np.sqrt(recorded * (1 - recorded) / COLLECTIONS)
    assert (np.abs(covered - recorded) < 5 * np.maximum(spread, 0.001)).all(), covered
    assert (widths[1:] < 0.8).all()
