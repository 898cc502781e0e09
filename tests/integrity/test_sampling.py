"""One in so many reports, however they are cut into parts."""

import numpy as np
import pytest

from sottovoce.integrity.sampling import every


@pytest.mark.parametrize("cuts", [[], [1], [5, 6, 7], [100], [33, 66]])
@pytest.mark.parametrize("step", [1, 2, 3, 7, 50, 1000])
def test_parts_do_not_matter(cuts, step):
    reports = np.arange(100)
    parts = np.split(reports, cuts)
    np.testing.assert_array_equal(every(parts, step), reports[::step])


@pytest.mark.parametrize("start", [0, 17, 60])
def test_false_reports_that_lie_together_have_their_share_of_a_sample(start):
    is_false = np.zeros(1000, bool)
    is_false[start : start + 100] = True
    assert every(np.split(is_false, 8), 10).sum() == 10
