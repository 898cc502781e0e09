"""The published variation-ratio bound: right without a rest, and too small with one."""

import numpy as np
import pytest

from sottovoce.lab.baselines.shuffle_bounds.variation_ratio import direct_response_delta
from sottovoce.lab.truth import shuffled
from sottovoce.mechanisms.grr import GRR


def enumerated(size, users, epsilon):
    law = GRR(2.0, size).likelihood(np.arange(size))
    return shuffled.shuffled_delta(law, (0, 1), [size - 1] * (users - 1), epsilon)


@pytest.mark.parametrize("users", [2, 5, 9])
def test_with_two_values_there_is_no_rest_and_the_bound_holds(users):
    for epsilon in (0.0, 0.5, 1.5):
        assert (
            direct_response_delta(2.0, 2, users, epsilon) >= enumerated(2, users, epsilon) - 1e-15
        )


@pytest.mark.parametrize("users", [3, 6, 9])
def test_with_four_values_the_truth_is_larger(users):
    published = direct_response_delta(2.0, 4, users, 1.5)
    truth = enumerated(4, users, 1.5)
    print("published", published, "truth", truth)
    assert published < truth
