"""The same search with the accountant of the product: the same promises for less error."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.peos.blanket_accounting import BlanketAccounting
from sottovoce.lab.peos.configure import PeosGoals, configure_peos
from sottovoce.lab.peos.published_accounting import PublishedAccounting


@pytest.mark.parametrize(
    "goals",
    [
        PeosGoals(20_000, 20, 1e-6, 0.5, 1.0, 4.0, 80_000),
        PeosGoals(20_000, 1000, 1e-6, 0.5, 1.0, 4.0, 80_000),
    ],
    ids=["direct", "hashed"],
)
def test_all_targets_are_met_with_less_error_and_fewer_fakes(goals):
    best = configure_peos(goals, BlanketAccounting(step=4))
    published = configure_peos(goals, PublishedAccounting())
    assert best.mse < published.mse
    assert best.fakes < published.fakes / 5
    blanket = best.mechanism.blanket
    assert blanket.epsilon(goals.users, best.fakes, goals.delta, 24) <= goals.central
    assert blanket.epsilon(1, best.fakes, goals.delta, 24) <= goals.against_users
    assert best.local <= goals.local
    assert (best.central, best.against_users) <= (goals.central, goals.against_users)


def test_with_few_fakes_the_local_epsilon_pays():
    goals = PeosGoals(1000, 10, 1e-6, 0.5, 0.5, 2.0, max_fakes=50)
    best = configure_peos(goals, BlanketAccounting(step=4))
    assert best.fakes <= 50
    assert best.local < 2.0
    assert best.against_users <= 0.5


def test_the_step_is_checked():
    with pytest.raises(ParameterError, match="`step`"):
        BlanketAccounting(step=1.0)
