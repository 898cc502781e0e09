"""How sure a top k is."""

from math import comb, erfc, exp, expm1, sqrt

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.adaptive_sampling import Asked
from sottovoce.plans.itemsets.confidence import (
    doubt,
    misplaced,
    overtaken,
    p_values,
    survives,
    worst_misplaced,
)


def asked(rates, times, sought):
    times = np.broadcast_to(np.asarray(times), len(rates)).copy()
    return Asked(times, np.round(np.array(rates) * times).astype(np.int64), sought)


def tail(high, low, times_high, times_low):
    """The chance of such a lead by the normal law, written out."""
    error = sqrt(high * (1 - high) / times_high + low * (1 - low) / times_low)
    return erfc((high - low) / error / sqrt(2)) / 2


def test_leads_are_judged_against_the_other_side_of_the_boundary():
    known = asked([0.3, 0.7, 0.5, 0.4], [100, 50, 200, 100], 2)
    expected = [tail(0.7, 0.4, 50, 100), tail(0.5, 0.4, 200, 100), tail(0.5, 0.4, 200, 100), tail(0.5, 0.3, 200, 100)]
    assert p_values(known) == pytest.approx(expected, rel=1e-12)
    assert misplaced(known) == pytest.approx(1 - np.prod(1 - np.array(expected)), rel=1e-12)
    assert doubt(known) == pytest.approx(-np.log10(1 - misplaced(known)), rel=1e-9)


def test_equal_rates_are_a_toss_and_clear_ones_are_none():
    assert p_values(asked([0.5, 0.5, 0.5], 10, 1)) == pytest.approx([0.5, 0.5, 0.5])
    assert p_values(asked([1.0, 0.0, 0.0], 10, 1)).tolist() == [0, 0, 0]
    assert p_values(asked([1.0, 1.0, 0.0], 10, 1)).tolist() == [0.5, 0.5, 0]


def test_an_item_nobody_was_asked_about_is_a_toss():
    assert p_values(Asked(np.array([50, 50, 0]), np.array([40, 10, 0]), 1))[2] == 0.5


def test_doubt_does_not_saturate_where_the_chance_does():
    many = asked(np.full(200, 0.5), 10, 100)
    assert misplaced(many) == pytest.approx(1, abs=1e-12)
    assert doubt(many) == pytest.approx(200 * np.log10(2))


@pytest.mark.parametrize(("times", "high", "low"), [(50, 0.6, 0.5), (7, 0.9, 0.1), (3, 1.0, 0.0), (12, 0.3, 0.3)])
def test_the_chance_to_be_overtaken_is_the_sum_over_all_outcomes(times, high, low):
    def chances(rate):
        return [comb(times, ones) * rate**ones * (1 - rate) ** (times - ones) for ones in range(times + 1)]

    pairs = [
        (up, down) for ones, down in enumerate(chances(low)) for more, up in enumerate(chances(high)) if ones >= more
    ]
    assert overtaken(times, high, low) == pytest.approx(sum(up * down for up, down in pairs), rel=1e-10)


def test_the_worst_case_is_below_one_and_the_printed_one_is_always_one():
    """The published inner sum runs over C(j, g) F^g (1 - F)^(j - g), which is 1 for every j."""
    assert overtaken(50, 0.6, 0.5) == pytest.approx(0.18150672, abs=1e-8)
    worst = worst_misplaced(10_000, 100, 30, 0.5, 0.2)
    top, rest = overtaken(100, 0.7, 0.3), overtaken(100, 0.5, 0.3)
    assert worst == pytest.approx(1 - (1 - top) ** 30 * (1 - rest) ** 70)
    assert 0 < worst < 1
    printed = sum(
        comb(50, j) * 0.5**50 * sum(comb(j, g) * 0.6**g * 0.4 ** (j - g) for g in range(j + 1)) for j in range(51)
    )
    assert printed == pytest.approx(1)


def test_thousands_of_answers_to_an_item_do_not_overflow():
    assert 0 < overtaken(5000, 0.52, 0.5) < 0.03


@pytest.mark.parametrize("settings", [(99, 100, 3, 0.5, 0.1), (100, 10, 10, 0.5, 0.1), (100, 10, 3, 0.95, 0.1)])
def test_impossible_cases_are_refused(settings):
    with pytest.raises(ParameterError):
        worst_misplaced(*settings)
    with pytest.raises(ParameterError):
        overtaken(0, 0.5, 0.4)


@pytest.mark.parametrize(("epsilon", "error"), [(1.0, 429), (2.0, 190), (3.0, 105)])
def test_a_hundredth_of_sets_of_five_hundred_drowns(epsilon, error):
    """Everybody has an item, but sets of 535: 93 of 50,000 users name it; the errors are the published case's."""
    count, found, lead = survives(50_000, epsilon, 1 / 535, 300 / 10_000)
    assert round(count) == 93
    assert found == pytest.approx(error, abs=0.6)
    assert found == pytest.approx(sqrt(50_000 * 4 * exp(epsilon)) / expm1(epsilon))
    assert count < lead * found
