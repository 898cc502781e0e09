"""Support of a target: each report moves the count by exactly the influence of one report."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.question import Address

LABELS = ("a", "b", "c", "d", "e")
KINDS = ["grr", "affine", "olh", "oue", "sue", "subset", "hadamard"]


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_report_has_the_whole_influence(kind, against):
    plan = sv.Histogram(list(LABELS), kind)
    asked = sv.Task("letters", plan, epsilon=1.0).opening
    attack = SupportTarget(plan.domain, ("c",), against=against)
    (reports,) = attack.reports(asked, 200, SeededRng(1)).values()
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=5)
    votes = mechanism.votes(reports, np.array([2]))[:, 0]
    influence = mechanism.influence
    assert len(votes) == 200
    assert votes == pytest.approx(-influence.down if against else influence.up)


@pytest.mark.parametrize("kind", ["duchi", "piecewise", "hybrid"])
def test_a_mean_is_pulled_by_the_extreme_number(kind):
    plan = sv.Mean(0, 10, kind)
    asked = sv.Task("weight", plan, epsilon=1.0).opening
    (reports,) = SupportTarget(plan.domain, (10,)).reports(asked, 30, SeededRng(1)).values()
    mechanism = asked.question(Address()).mechanism
    numbers = mechanism.numbers(mechanism.codes(reports))
    assert numbers == pytest.approx(mechanism.influence.up)
