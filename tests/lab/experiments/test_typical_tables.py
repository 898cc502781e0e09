import numpy as np
import pytest

from sottovoce.lab.experiments.typical_tables import spread, strength, strengths_of
from sottovoce.lab.populations.survey_tables import survey
from sottovoce.plans.marginals.typical_tables import FADING, PAIR_STRENGTHS, PAIR_WEIGHTS


def test_the_strength_of_two_bits_is_their_squared_correlation():
    table = np.array([[0.5, 0.1], [0.15, 0.25]])
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    covariance = table[1, 1] - rows[1] * columns[1]
    squared = covariance**2 / (rows.prod() * columns.prod())
    assert strength(table) == pytest.approx(squared)
    assert strength(np.outer(rows, columns)) == pytest.approx(0, abs=1e-12)
    assert spread(np.array([0.5, 0.5])) == 0.5


def test_the_health_survey_is_about_as_strong_as_typical_tables():
    health = survey("health")
    pairs = strengths_of(health, 2).mean()
    typical = float(np.array(PAIR_WEIGHTS) @ np.array(PAIR_STRENGTHS))
    assert typical / 5 < pairs < 5 * typical
    assert strengths_of(health, 3, 20).mean() < 10 * FADING * typical
