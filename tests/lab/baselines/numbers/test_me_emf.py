"""ME-EMF: right where all false reports lie on one side, wrong where they lie on both."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.lab.baselines.numbers.me_emf import halves, me_emf
from sottovoce.lab.baselines.numbers.ostrich import ostrich
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.lab.truth.metrics import jensen_shannon
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts

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
        made.append(OutputCounts(counts, wave.sliding, 32, epsilon))
    return made


@pytest.mark.parametrize("poisoned", [(0,), (7,)])
def test_one_side_is_removed(poisoned):
    attacked = groups(poisoned)
    far = jensen_shannon(me_emf(attacked)[0], PEOPLE)
    assert far < 0.4 * jensen_shannon(ostrich(attacked)[0], PEOPLE)


def test_the_other_side_stays():
    two_sided = jensen_shannon(me_emf(groups((1, 6)))[0], PEOPLE)
    assert two_sided > 2 * jensen_shannon(me_emf(groups((7,)))[0], PEOPLE)


def test_collections_in_rows_have_a_side_of_their_own():
    sides = [groups((0,)), groups((7,))]
    together = [
        replace(low, counts=np.concatenate([low.counts, high.counts]))
        for low, high in zip(*sides, strict=True)
    ]
    found = me_emf(together)
    for row, side in enumerate(sides):
        np.testing.assert_allclose(found[row], me_emf(side)[0], atol=1e-12)


def test_halves_are_complements():
    observed = groups((7,))[0]
    lower, upper = halves(observed, np.array([False])), halves(observed, np.array([True]))
    np.testing.assert_array_equal(lower, ~upper)
    assert upper[0, -1]
