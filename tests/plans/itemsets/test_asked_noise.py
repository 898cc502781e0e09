"""Items that were asked about unequally often."""

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.support_law import SupportLaw
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets.asked_noise import AskedNoise

RESPONSE = GRR(1.0, 2)
TIMES = np.array([40, 300])


def both():
    """Totals of 1,000 people, of whom 40 were asked about one item and 300 about the other."""
    noise = AskedNoise(np.array([5e4, 1e4]), SupportLaw(RESPONSE.p, RESPONSE.q), TIMES)
    return Estimate(np.array([500.0, 200.0]), noise, 1000, 1.0)


def alone(cell):
    """The same item as the only one, by the people who were asked about it."""
    times = int(TIMES[cell])
    votes = both().votes[[cell]] * times / 1000
    noise = IndependentNoise.of(RESPONSE.p, RESPONSE.q)
    return Estimate(votes, noise, times, 1.0, population=1000)


@pytest.mark.parametrize("cell", [0, 1])
def test_every_item_has_the_law_of_those_who_were_asked_about_it(cell):
    for bound, own in zip(both().interval(0.9), alone(cell).interval(0.9), strict=True):
        assert bound[cell] == pytest.approx(own[0])
    limits = both().noise.unheld_votes(both().votes, 1000, 0.01)
    assert limits[cell] == pytest.approx(alone(cell).threshold(0.01, 1))
    assert limits[0] > limits[1]


def test_picked_items_keep_their_numbers():
    picked = both().picked(np.array([1]))
    assert picked.noise.times.tolist() == [300]
    assert picked.variance.tolist() == [1e4]
