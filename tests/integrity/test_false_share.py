"""The share of false reports: near the truth where it can be estimated, and nothing without."""

import pytest

from integrity.collections import collection
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity import examine
from sottovoce.integrity.false_share import false_share
from sottovoce.integrity.misfit import Misfit
from sottovoce.integrity.round_tests import RoundTests


def share_of(found):
    return false_share(examine.tested(found.collected.task.plan, found.collected, 0))


@pytest.mark.parametrize("tries", ["1", "30"])
def test_the_share_of_greedy_reports_is_near_the_truth(tries):
    share = share_of(collection(tries))
    print(f"share {share:.3f} of 0.1")
    assert abs(share - 0.1) < 0.03


def test_an_honest_round_has_no_share():
    assert share_of(collection("none")) is None


def test_numbers_have_the_share_of_their_filter_if_they_alarm():
    quiet, loud = (PlausibilityTest("misfit", value, 5.0, 0.5, 10) for value in (1.0, 9.0))
    assert false_share(RoundTests({}, misfits=[Misfit(quiet, 0.3)])) is None
    assert false_share(RoundTests({}, misfits=[Misfit(quiet, 0.3), Misfit(loud, 0.2)])) == 0.2
