"""Maximal loss: no report adds more squared error, and all attackers send the same one."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.maximal_loss import MaximalLoss
from sottovoce.lab.seeded import SeededRng


@pytest.mark.parametrize("kind", ["grr", "oue", "sue", "the", "subset"])
def test_the_sum_of_squared_votes_is_the_largest_of_all_reports(kind):
    """Brute force over all reports.  Among mixtures of reports one alone has the largest sum: the
    twin that mixes two of them has less.
    """
    task = sv.Task("letters", sv.Histogram(list("abcde"), kind), epsilon=1.0)
    mechanism = task.opening.ask.mechanism
    (reports,) = MaximalLoss().reports(task.opening, 50, SeededRng(1)).values()
    mean_votes = mechanism.votes(reports, np.arange(5)).mean(axis=0)
    possible = mechanism.votes(mechanism.outcomes(), np.arange(5))
    losses = (possible**2).sum(axis=1)
    assert (mean_votes**2).sum() == pytest.approx(losses.max())
    mixed = (possible[losses.argmax()] + possible[losses.argmin()]) / 2
    assert (mixed**2).sum() < losses.max()


def test_the_loss_of_hashing_grows_with_the_tries():
    task = sv.Task("letters", sv.Histogram([str(n) for n in range(50)], "olh"), epsilon=1.0)
    mechanism = task.opening.ask.mechanism
    sizes = []
    for tries in (1, 200):
        (reports,) = MaximalLoss(tries).reports(task.opening, 3, SeededRng(1)).values()
        sizes.append(mechanism.support(reports[:1], np.arange(50)).sum())
    print(sizes)
    assert sizes[1] > sizes[0]


def test_a_number_is_the_extreme_and_large_domains_are_refused():
    mean = sv.Task("weight", sv.Mean(0, 10), epsilon=1.0)
    mechanism = mean.opening.ask.mechanism
    (reports,) = MaximalLoss().reports(mean.opening, 5, SeededRng(1)).values()
    numbers = mechanism.numbers(mechanism.codes(reports))
    assert abs(numbers) == pytest.approx(mechanism.influence.up)
    search = sv.Task("texts", sv.HeavyHitters(sv.Bits(48), 4), epsilon=1.0)
    with pytest.raises(ParameterError, match="at most 1,048,576 values"):
        MaximalLoss().reports(search.opening, 50, SeededRng(1))
    with pytest.raises(ParameterError, match="`against`"):
        MaximalLoss.aimed(Aim(mean, against=True))
