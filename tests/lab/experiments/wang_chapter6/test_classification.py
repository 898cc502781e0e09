"""How well records are classified by what was learnt from noisy tables."""

import numpy as np

from sottovoce.lab.experiments.wang_chapter6.classification import (
    LABEL,
    VIEW,
    ClassificationSetting,
)
from sottovoce.lab.populations.records import applicants

MANY = ClassificationSetting(applicants, 16, 8.0)


def test_four_fifths_are_asked():
    split = MANY.split
    assert len(split.asked) + len(split.apart) == 1 << 16
    assert len(split.apart) == (1 << 16) // 5
    assert MANY.majority() == np.mean(split.apart[:, LABEL] != 0)


def test_with_hardly_any_noise_calm_is_as_good_as_the_true_table():
    """Everybody reports the one table that is learnt from, with epsilon 8; a coin is caught."""
    best, majority = MANY.without_noise(), MANY.majority()
    assert best < majority - 0.01
    assert abs(MANY.by_calm(2, [VIEW]) - best) < 0.01
    noisy = ClassificationSetting(applicants, 16, 0.01)
    assert noisy.by_calm(2, [VIEW]) > majority


def test_views_are_planned_for_the_people_who_are_asked():
    assert len(MANY.planned_views()[0]) > len(
        ClassificationSetting(applicants, 16, 0.5).planned_views()[0]
    )
