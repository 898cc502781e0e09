"""Candidates: counts of supports and pairs, whatever the batch."""

import numpy as np
import pytest

from sottovoce.integrity.candidates import gather, largest
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism


@pytest.mark.parametrize("kind", ["affine", "olh", "oue", "subset"])
def test_pairs_are_counted_directly(kind):
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=32)
    reports = mechanism.privatize(np.arange(400) % 5, SeededRng(1))
    values = np.array([3, 1, 17, 30])
    candidates = gather(mechanism, reports, values)
    supports = mechanism.support(reports, values).astype(int)
    np.testing.assert_array_equal(candidates.pairs, supports.T @ supports)
    estimate = mechanism.estimate_among(reports, values)
    np.testing.assert_allclose(candidates.shares, estimate.frequencies, rtol=1e-12)
    assert (candidates.hashed is None) == (kind in ("oue", "subset"))


def test_the_largest_come_first_and_ties_in_order():
    assert largest(np.array([1.0, 5.0, 3.0, 5.0]), 3).tolist() == [1, 3, 2]
    assert largest(np.array([2.0, 1.0])).tolist() == [0, 1]
