"""The contract of plans: what a plan says if nothing else is written."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.collected import NothingCollected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round
from tasks.toys import OneRound, Repeated


def test_a_plan_of_the_laboratory_has_no_wire_kind():
    assert OneRound.kind == "toy_one_round"
    with pytest.raises(ParameterError, match="unknown plan kind"):
        Plan.kinds["toy_one_round"]
    assert Plan.kinds["histogram"] is Histogram


def test_defaults():
    plan = Histogram(["a", "b"])
    assert plan.needs == ()
    assert plan.concerns(1.0) == ()
    assert plan.so_far(NothingCollected(1.0)) is None
    assert not plan.longitudinal
    assert Repeated().longitudinal


def test_a_plan_opens_with_a_round():
    assert isinstance(OneRound().step(NothingCollected(1.0)), Round)
