"""ME-EMF: right where all false reports lie on one side, wrong where they lie on both."""

import numpy as np
import pytest

from sottovoce.lab.baselines.numbers.me_emf import half, me_emf
from sottovoce.lab.baselines.numbers.ostrich import ostrich
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.lab.truth.metrics import jensen_shannon
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts
from sottovoce.plans.numbers.graded_estimate import Group

PEOPLE = shapes(32)["Beta(2, 5)"]


def groups(poisoned):
    """Return noiseless groups at epsilon 1 and 1/16, a quarter false in eighths of the outputs."""
    made = []
    for epsilon, reports in ((1.0, 1), (1 / 16, 16)):
        wave = SquareWave(epsilon=epsilon, size=32)
        chances = 0.75 * wave.sliding.forward(PEOPLE)
        chosen = np.isin(np.arange(wave.outputs) * 8 // wave.outputs, poisoned)
        chances[chosen] += 0.25 / chosen.sum()
        counts = 10_000 * reports * chances[None]
        made.append(Group(10_000, reports, OutputCounts(counts, wave.sliding, 32, epsilon)))
    return made


@pytest.mark.parametrize("poisoned", [(0,), (7,)])
def test_one_side_is_removed(poisoned):
    attacked = groups(poisoned)
    far = jensen_shannon(me_emf(attacked), PEOPLE)
    assert far < 0.4 * jensen_shannon(ostrich(attacked), PEOPLE)


def test_the_other_side_stays():
    two_sided = jensen_shannon(me_emf(groups((1, 6))), PEOPLE)
    assert two_sided > 2 * jensen_shannon(me_emf(groups((7,))), PEOPLE)


def test_halves_are_complements():
    observed = groups((7,))[0].observed
    lower, upper = half(observed, upper=False), half(observed, upper=True)
    np.testing.assert_array_equal(lower, ~upper)
    assert upper[0, -1]
