import numpy as np
import pytest

from sottovoce.plans.marginals.shrinkage import SCALES
from sottovoce.plans.marginals.typical_tables import (
    FADING,
    PAIR_STRENGTHS,
    PAIR_WEIGHTS,
    faded,
    scale_weights,
    strengths,
    typical_spread,
)


def test_weights_are_chances_and_keep_the_mean_strength():
    assert sum(PAIR_WEIGHTS) == pytest.approx(1)
    mean = float(np.array(PAIR_WEIGHTS) @ np.array(PAIR_STRENGTHS))
    assert float(scale_weights(2) @ SCALES) == pytest.approx(mean, rel=0.3)


def test_interactions_fade_with_every_attribute_more():
    np.testing.assert_allclose(strengths(3), np.array(PAIR_STRENGTHS) * FADING)
    weights = faded(scale_weights(2), 1)
    assert weights.sum() == pytest.approx(1)
    assert weights @ SCALES < 3 * FADING * (scale_weights(2) @ SCALES)


def test_the_spread_of_equal_shares_is_larger_than_the_typical_one():
    for values in (2, 5):
        assert 0.5 < typical_spread(values) * values < 1
