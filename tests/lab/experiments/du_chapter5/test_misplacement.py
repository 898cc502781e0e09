"""The chance that an item of a top k stands on the wrong side."""

from math import comb

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.experiments.du_chapter5.misplacement import misplaced, overtaken, worst_misplaced
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports
from sottovoce.plans.itemsets.confidence import doubt, p_values


def asked(rates, times, sought):
    times = np.broadcast_to(np.asarray(times), len(rates)).copy()
    return ItemReports(times, np.round(np.array(rates) * times).astype(np.int64), sought)


def test_delta_joins_the_chances_of_all_items_as_if_they_were_independent():
    known = asked([0.3, 0.7, 0.5, 0.4], [100, 50, 200, 100], 2)
    assert misplaced(known) == pytest.approx(1 - np.prod(1 - p_values(known)), rel=1e-12)
    assert doubt(known) == pytest.approx(-np.log10(1 - misplaced(known)), rel=1e-9)


def test_delta_saturates():
    assert misplaced(asked(np.full(200, 0.5), 10, 100)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("times", "high", "low"), [(50, 0.6, 0.5), (7, 0.9, 0.1), (3, 1.0, 0.0), (12, 0.3, 0.3)]
)
def test_the_chance_to_be_overtaken_is_the_sum_over_all_outcomes(times, high, low):
    def chances(rate):
        return [
            comb(times, ones) * rate**ones * (1 - rate) ** (times - ones)
            for ones in range(times + 1)
        ]

    pairs = [
        (up, down)
        for ones, down in enumerate(chances(low))
        for more, up in enumerate(chances(high))
        if ones >= more
    ]
    assert overtaken(times, high, low) == pytest.approx(
        sum(up * down for up, down in pairs), rel=1e-10
    )


def test_the_worst_case_is_below_one_and_the_printed_one_is_always_one():
    """The published inner sum runs over C(j, g) F^g (1 - F)^(j - g), which is 1 for every j."""
    assert overtaken(50, 0.6, 0.5) == pytest.approx(0.18150672, abs=1e-8)
    worst = worst_misplaced(10_000, 100, 30, 0.5, 0.2)
    top, rest = overtaken(100, 0.7, 0.3), overtaken(100, 0.5, 0.3)
    assert worst == pytest.approx(1 - (1 - top) ** 30 * (1 - rest) ** 70)
    assert 0 < worst < 1
    printed = sum(
        comb(50, j) * 0.5**50 * sum(comb(j, g) * 0.6**g * 0.4 ** (j - g) for g in range(j + 1))
        for j in range(51)
    )
    assert printed == pytest.approx(1)


def test_thousands_of_answers_to_an_item_do_not_overflow():
    assert 0 < overtaken(5000, 0.52, 0.5) < 0.03


@pytest.mark.parametrize(
    "settings", [(99, 100, 3, 0.5, 0.1), (100, 10, 10, 0.5, 0.1), (100, 10, 3, 0.95, 0.1)]
)
def test_impossible_cases_are_refused(settings):
    with pytest.raises(ParameterError):
        worst_misplaced(*settings)
    with pytest.raises(ParameterError):
        overtaken(0, 0.5, 0.4)
