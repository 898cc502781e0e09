"""Crafted fakes: each adds its vote beyond that of a fake, and a hop has only so many."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.crafted_fakes import CraftedFakes
from sottovoce.lab.attacks.support_target import SupportTarget
from tasks.toys import shuffle

LABELS = list("abcdefgh")
HONEST = ["a"] * 3000 + ["b"] * 1000
TASK = sv.Task("letters", sv.Histogram(LABELS, "affine"), 2.0, shuffle=shuffle(2.0, 1000, hops=2))


def test_the_target_gains_the_influence_less_the_vote_of_a_fake():
    """600 of 6,000 messages are crafted: 600 ((1 - q) / (p - q) - (s - q) / (p - q)) people.

    Honest fakes, the twin, add nothing.
    """
    attack = CraftedFakes(SupportTarget(TASK.plan.domain, ("h",)))
    outcome = sv.simulate(TASK, HONEST, seed=1, attack=attack, share=0.1)
    mechanism = TASK.opening.ask.mechanism
    expected = 600 * (1 - mechanism.share) / (mechanism.p - mechanism.q)
    row = outcome.rows()[7]
    print(row, "expected", expected)
    assert outcome.users == 4000
    assert abs(row["estimate"] - expected) < 5 * row["error"]
    quiet = sv.simulate(TASK, HONEST, seed=1).rows()[7]
    assert abs(quiet["estimate"] - expected) > 5 * quiet["error"]


def test_a_hop_crafts_no_more_than_its_own_fakes():
    attack = CraftedFakes.aimed(Aim(TASK, ("h",)))
    with pytest.raises(ParameterError, match="a hop of this task adds 1,000"):
        sv.simulate(TASK, HONEST, seed=1, attack=attack, share=0.3)
