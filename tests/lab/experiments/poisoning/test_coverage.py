"""Intervals of corrected answers contain the truth about honest people."""

from sottovoce.lab.experiments.poisoning.coverage import coverage
from sottovoce.lab.experiments.poisoning.scenario import Scenario, poisoned

SMALL = {"users": 6_000, "size": 64, "epsilon": 2.0, "target_count": 6, "share": 0.1}


def test_nearly_all_intervals_contain_the_truth_and_are_not_much_wider():
    found = coverage(poisoned(Scenario("mga", **SMALL), 3))
    print(found)
    # 64 values, of which 95 % are expected: 5 standard deviations below.
    assert found.all >= 0.95 - 5 * (0.95 * 0.05 / 64) ** 0.5
    assert 0.8 < found.width < 2.0
    assert found.target_width >= found.width


def test_without_an_alarm_there_is_nothing_to_measure():
    assert coverage(poisoned(Scenario("none", **SMALL | {"share": 0.0}), 3)) is None
