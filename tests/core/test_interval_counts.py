"""Counts of intervals of cells against exact laws and bounds."""

import numpy as np
from scipy.stats import binom

from sottovoce.core.interval_counts import ExactLaw, interval_counts

LAW = binom.pmf(np.arange(65), 64, 0.3)


def drawn(users, seed):
    return np.random.default_rng(seed).multinomial(users, LAW / LAW.sum())


def test_honest_cells_do_not_alarm_and_p_values_are_bounds():
    values = [
        interval_counts("cells", drawn(5000, seed), ExactLaw.of(LAW)).p_value for seed in range(300)
    ]
    # A p-value is at most x with a probability of at most x.
    for level in (0.01, 0.05, 0.2):
        share = np.mean([value <= level for value in values])
        error = np.sqrt(level * (1 - level) / 300)
        print(f"share at most {level}: {share:.3f}")
        assert share <= level + 5 * error


def test_a_narrow_spike_and_a_broad_shift_both_alarm():
    spike = drawn(5000, 1)
    spike[19] += 250
    assert interval_counts("cells", spike, ExactLaw.of(LAW)).alarm
    shifted = np.roll(drawn(5000, 2), 2)
    assert interval_counts("cells", shifted, ExactLaw.of(LAW)).alarm


def test_the_p_value_is_the_exact_tail_times_the_comparisons():
    counts = np.array([30, 10])
    test = interval_counts("cells", counts, ExactLaw.of(np.array([0.5, 0.5])))
    assert np.isclose(test.p_value, 4 * binom.sf(29, 40, 0.5))  # two intervals, two sides


def test_a_report_where_none_can_be_alarms_at_once():
    assert interval_counts("cells", np.array([99, 1]), ExactLaw.of(np.array([1.0, 0.0]))).alarm
