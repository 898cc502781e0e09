"""Weights of graded groups: the closed forms of Square Wave, and the three rules."""

import numpy as np
import pytest

from sottovoce.mechanisms.square_wave import SquareWave, half_width
from sottovoce.plans.numbers.graded_groups import grades
from sottovoce.plans.numbers.group_weights import RULES, slope, worst_variance

# epsilon, slope and largest variance, from an independent computation.
TABLE = [
    (1 / 16, 0.0306090050, 0.3198423921),
    (1 / 4, 0.1152031323, 0.2837448380),
    (1 / 2, 0.2130613194, 0.2442019936),
    (1.0, 0.3678794412, 0.1866306729),
    (3 / 2, 0.4820867734, 0.1481738490),
    (2.0, 0.5676676416, 0.1215978611),
    (5 / 2, 0.6328339994, 0.1026033792),
    (4.0, 0.7545789097, 0.0695469673),
]
GRADES = grades(2.0)
EPSILONS = np.array([grade.epsilon for grade in GRADES])
REPORTS = np.array([[1_000.0 * grade.reports for grade in GRADES]])


@pytest.mark.parametrize(("epsilon", "moves", "variance"), TABLE)
def test_slopes_and_variances_are_those_of_the_table(epsilon, moves, variance):
    assert slope(epsilon) == pytest.approx(moves, abs=1e-9)
    assert worst_variance(epsilon) == pytest.approx(variance, abs=1e-9)
    assert slope(epsilon) == pytest.approx(1 - (1 - np.exp(-epsilon)) / epsilon, abs=1e-12)


def test_variances_are_positive_at_every_epsilon():
    assert min(worst_variance(epsilon) for epsilon in np.geomspace(1e-6, 20, 60)) > 0


def printed_variance(epsilon):
    """Lemma 3 as it is printed: the mean of a report at 1 has a wrong sign."""
    b, grown = float(half_width(epsilon)), np.exp(epsilon)
    p, q = grown / (2 * b * grown + 1), 1 / (2 * b * grown + 1)
    square = (p * ((b - 1) ** 3 + (b + 1) ** 3) - q * ((b - 1) ** 3 - b**3)) / 3
    return square - (2 * b * p - q * (2 * b - 3) / 2) ** 2


def test_the_printed_lemma_would_be_seen():
    assert max(printed_variance(epsilon) for epsilon in (1 / 16, 0.5, 1.0, 2.0)) < 0


def test_the_continuous_law_is_that_of_fine_buckets():
    """The exact mean and variance of Square Wave with 2,048 buckets, at the largest number."""
    wave = SquareWave(epsilon=2.0, size=2048)
    outputs = (np.arange(wave.outputs) - wave.reach + 0.5) / wave.size
    first, last = (wave.likelihood(wave.outcomes())[:, index] for index in (0, wave.size - 1))
    assert outputs @ (last - first) == pytest.approx(slope(2.0), abs=2e-3)
    mean = outputs @ last
    assert last @ (outputs - mean) ** 2 == pytest.approx(worst_variance(2.0), abs=2e-3)


def test_the_weights_of_the_source():
    """ADV-14."""
    weights = RULES["paper"](EPSILONS, REPORTS)[0]
    assert weights == pytest.approx((0.298, 0.194, 0.148, 0.128, 0.118, 0.113), abs=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_weights_sum_to_one_in_every_row(rule):
    weights = RULES[rule](EPSILONS, np.concatenate([REPORTS, REPORTS[:, ::-1]]))
    assert weights.shape == (2, 6)
    assert weights.sum(axis=1) == pytest.approx(1)
    assert (weights > 0).all()


def test_calibrated_weights_fall_with_epsilon_and_counted_ones_rise():
    calibrated = RULES["calibrated"](EPSILONS, REPORTS)[0]
    assert (np.diff(calibrated) < 0).all()
    assert calibrated[0] > 0.45
    counted = RULES["count"](EPSILONS, REPORTS)[0]
    assert counted[-1] > 0.45
