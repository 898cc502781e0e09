"""The tests of a round while they are made."""

from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.misfit import Misfit
from sottovoce.integrity.round_tests import RoundTests

TEST = PlausibilityTest("buckets", 1.0, 5.0, 0.5, 100)
FIT = Misfit(PlausibilityTest("misfit", 9.0, 5.0, 1e-9, 100), 0.2)


def test_tests_of_one_name_are_kept_together_and_missing_ones_are_left_out():
    found = RoundTests({})
    for test in (TEST, None, TEST):
        found.add(test)
    found.add_misfit(None)
    found.add_misfit(FIT)
    assert {name: len(tests) for name, tests in found.tests.items()} == {"buckets": 2, "misfit": 1}
    assert found.misfits == [FIT]
