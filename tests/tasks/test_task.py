"""A task: settings, the price of its opening round, and longitudinal tasks."""

from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domains.bits import Bits
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import NO_SEEDS, Task
from tasks.toys import OneRound, Repeated, shuffle


def test_the_opening_round_follows_from_plan_and_price():
    task = Task("toy", OneRound(), 1)
    assert task.epsilon == 1.0
    assert type(task.epsilon) is float
    assert task.opening.epsilon == task.response_epsilon == 1.0
    assert task.concerns == ("epsilon is 1",)


def test_a_task_declares_what_its_plan_needs():
    plan = OneRound(fields=("subject",))
    assert Task("toy", plan, 1.0).declares == ("subject",)
    assert Task("toy", plan, 1.0, declares=("public",)).declares == ("public", "subject")
    assert Task("toy", plan, 1.0, declares=("subject",)).declares == ("subject",)


@pytest.mark.parametrize(
    ("mechanism", "concerned"), [("subset", True), ("grr", True), ("affine", False)]
)
def test_seeds_that_no_report_carries_are_a_concern(mechanism, concerned):
    plan = sv.Histogram(range(10), mechanism)
    fixed = Task("toy", plan, 1.0, collection=Collection(issuer="A" * 456, defence="seeds"))
    free = Task("toy", plan, 1.0, collection=Collection(issuer="A" * 456))
    assert (NO_SEEDS in fixed.concerns) == concerned
    assert NO_SEEDS not in free.concerns


def test_an_opening_round_that_costs_more_than_stated_is_refused():
    with pytest.raises(ParameterError, match="this round spends more than the `epsilon`"):
        Task("toy", OneRound(times=2.0), 1.0)


@pytest.mark.parametrize("distinct", [1, 3, 7])
def test_a_longitudinal_task_shares_its_epsilon_among_distinct_values(distinct):
    task = Task("toy", Repeated(), 0.3, distinct=distinct)
    assert task.response_epsilon == exact.part(0.3, distinct)
    assert exact.stated(task.opening.epsilon) * distinct <= exact.stated(0.3)


def test_a_longitudinal_plan_needs_a_number_of_distinct_values():
    with pytest.raises(ParameterError, match="`distinct` is missing"):
        Task("toy", Repeated(), 1.0)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"epsilon": 21}, "`epsilon` must be a number above 0 and at most 20, not 21"),
        ({"name": "a" * 201}, "`name` must be text of at most 200 characters, not"),
        ({"declares": ("age",)}, "`declares` must be one of subject, public, not 'age'"),
        ({"distinct": 1.0}, "`distinct` must be a whole number from 1 to 65535, not 1.0"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError) as caught:
        Task(**{"name": "toy", "plan": OneRound(), "epsilon": 1.0, **settings})
    assert str(caught.value).startswith(rule)


def test_a_plan_that_asks_nothing_is_refused():
    @dataclass(frozen=True)
    class Silent(OneRound, kind="toy_silent", wire=False):
        def step(self, collected):
            return np.zeros(1)

    with pytest.raises(ParameterError, match="must ask something before it gives an outcome"):
        Task("toy", Silent(), 1.0)


FAKES = shuffle(2.0, fakes=50, hops=2)


def test_a_shuffled_task_knows_how_many_fakes_a_round_has():
    plan = sv.Histogram(["a", "b", "c"])
    assert sv.Task("pets", plan, 2.0).fakes == 0
    assert sv.Task("pets", plan, 2.0, shuffle=FAKES).fakes == 100
    assert sv.Task("pets", plan, 2.0, shuffle=shuffle(2.0, fakes=0)).fakes == 0


@pytest.mark.parametrize(
    "plan",
    [
        sv.Histogram(range(40)),
        sv.Survey({"pet": ["cat", "dog"], "age": range(8)}),
        sv.HeavyHitters(Bits(16), 4),
        sv.TopItems(range(50), 5),
        sv.Itemsets(range(50), 5),
        sv.Marginals({"sex": ["f", "m"], "age": range(4)}, order=2),
    ],
    ids=lambda plan: plan.kind,
)
def test_plans_that_only_look_at_estimates_take_fakes(plan):
    assert plan.takes_fakes
    assert sv.Task("pets", plan, 2.0, shuffle=FAKES).fakes == 100


@pytest.mark.parametrize(
    "plan",
    [
        sv.Mean(0, 15),
        sv.Distribution(0, 15),
        sv.AdaptiveTopItems(range(50), 1000, 5),
        sv.Table({"age": range(20, 60)}),
    ],
    ids=lambda plan: plan.kind,
)
def test_plans_that_read_reports_directly_refuse_fakes(plan):
    assert not plan.takes_fakes
    with pytest.raises(ParameterError, match=f"`fakes` must be 0 for the plan '{plan.kind}'"):
        sv.Task("pets", plan, 2.0, shuffle=FAKES)
    assert sv.Task("pets", plan, 2.0, shuffle=shuffle(2.0, fakes=0)).fakes == 0


def test_a_mechanism_whose_fakes_are_unknown_refuses_them():
    with pytest.raises(ParameterError, match="`fakes` must be 0 for the mechanism 'bloom'"):
        sv.Task("pets", sv.Histogram(range(40), "bloom"), 2.0, shuffle=FAKES)
