"""Settings of shuffled tasks: what is left open is chosen so that devices confirm it."""

from dataclasses import replace

import pytest

from sottovoce.accounting import amplification
from sottovoce.accounting.targets import default_against_users
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.itemsets.itemsets import Itemsets
from sottovoce.plans.numbers.mean import Mean
from sottovoce.plans.shuffled_choice import Yardsticks
from sottovoce.plans.shuffled_settings import WantedShuffle, expected_errors, settle
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Hop
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

HOP = Hop("https://mix-a.example", "A" * 43)
WISHES = WantedShuffle((HOP,), "B" * 42 + "A", users=10_000, delta=1e-6, central=0.5)
PLAN = Histogram([str(number) for number in range(16)])


def task_of(settled):
    return Task("browser", settled.plan, settled.epsilon, shuffle=settled.shuffle)


@pytest.fixture(scope="module")
def chosen():
    return settle(PLAN, None, WISHES)


def test_the_local_epsilon_is_the_largest_that_devices_confirm(chosen):
    codec.publish(task_of(chosen))  # as a device reads it
    assert chosen.plan.mechanism in ("grr", "affine")
    assert WISHES.central < chosen.epsilon < WISHES.max_local
    more = 1.05 * chosen.epsilon
    with pytest.raises(ParameterError, match="`central` of the shuffle promises"):
        Task("browser", chosen.plan, more, shuffle=replace(chosen.shuffle, fakes=0))


def test_fakes_are_the_fewest_that_devices_confirm_up_to_a_few_percent(chosen):
    blanket = chosen.plan.step(_nothing(chosen.epsilon)).ask.blanket
    wanted = chosen.shuffle.against_users
    assert wanted == round(default_against_users(chosen.epsilon), 3)

    def account(fakes):
        return amplification.epsilon(blanket, blanket.batch(1, fakes), WISHES.delta)

    assert account(chosen.shuffle.fakes) <= wanted < account(int(0.95 * chosen.shuffle.fakes))


def test_the_cap_binds_where_the_central_promise_does_not():
    settled = settle(PLAN, None, replace(WISHES, users=10_000_000, max_local=2.0, fakes=0))
    assert settled.epsilon == 2.0
    assert settled.shuffle.against_users == 2.0, "without fakes the local epsilon is all there is"


def test_promises_that_are_not_stated_are_what_the_fakes_give_rounded_up():
    settled = settle(Histogram(PLAN.domain, "grr"), 3.0, replace(WISHES, central=None, fakes=500))
    shuffle = settled.shuffle
    codec.publish(task_of(settled))
    for name in ("central", "against_users"):
        promised = getattr(shuffle, name)
        with pytest.raises(ParameterError, match=f"`{name}` of the shuffle promises"):
            task_of(replace(settled, shuffle=replace(shuffle, **{name: 0.985 * promised})))


def test_a_plan_whose_mechanism_is_named_keeps_it():
    settled = settle(Histogram(PLAN.domain, "grr"), None, WISHES)
    assert settled.plan.mechanism == "grr"
    assert settle(Mean(0, 10), 1.0, WISHES).plan == Mean(0, 10)


def test_a_plan_that_cannot_take_fakes_gets_none():
    settled = settle(Mean(0, 10), 1.0, WISHES)
    assert (settled.shuffle.fakes, settled.shuffle.against_users) == (0, 1.0)
    codec.publish(task_of(settled))


@pytest.mark.parametrize("epsilon", [None, 3.0])
def test_the_promises_of_a_search_hold_for_all_its_rounds(epsilon):
    """In the search for sets later rounds ask by other mechanisms than the first one."""
    plan = Itemsets([str(number) for number in range(40)], 5)
    settled = settle(plan, epsilon, replace(WISHES, users=50_000))
    kept = task_of(settled)
    assert kept.shuffle.central == WISHES.central
    assert kept.shuffle.fakes > 0
    notice = codec.publish(kept)
    for ask in plan.search.later_asks(settled.epsilon):
        notice.check(Round(1, ask))
    unstated = settle(plan, settled.epsilon, replace(WISHES, users=50_000, central=None))
    opening = kept.opening.ask.blanket
    account = opening.epsilon(50_000, unstated.shuffle.fakes, WISHES.delta)
    assert unstated.shuffle.central > 1.2 * account


def test_somebody_has_to_say_how_much_privacy_there_is():
    with pytest.raises(ParameterError, match="must state `epsilon`, or `central`"):
        settle(PLAN, None, replace(WISHES, central=None))


def test_expected_errors_stand_beside_the_yardsticks(chosen):
    errors = expected_errors(task_of(chosen))
    assert errors.laplace < errors.gaussian < errors.shuffled < errors.local
    from sottovoce.accounting.targets import CentralTarget

    beside = Yardsticks.of(16, CentralTarget(0.5, 1e-6), 10_000)
    assert errors.gaussian == beside.gaussian**0.5
    assert errors.local == beside.local**0.5


def test_errors_of_numbers_and_of_unshuffled_tasks_are_not_stated():
    settled = settle(Mean(0, 10), 1.0, WISHES)
    assert expected_errors(task_of(settled)) is None
    assert expected_errors(Task("browser", PLAN, 1.0)) is None


def _nothing(epsilon):
    from sottovoce.tasks.collected import NothingCollected

    return NothingCollected(epsilon)
