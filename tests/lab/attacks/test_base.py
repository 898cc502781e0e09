"""The contract of attacks: whatever reports it returns enter the simulation beside honest ones."""

import numpy as np

import sottovoce as sv
from sottovoce.lab.attacks.base import Attack
from sottovoce.tasks.question import Address

LABELS = ["a", "b", "c"]
TASK = sv.Task("letters", sv.Histogram(LABELS, "grr"), epsilon=1.0)


class AlwaysLast(Attack):
    """Attackers who send the last label as their report, without randomising it."""

    def reports(self, asked, users, rng):
        return {Address(): np.full(users, len(LABELS) - 1)}


def test_reports_of_attackers_are_counted_as_they_are():
    """900 honest people and 100 attackers: each attacker casts a vote of (1 - q) / (p - q)."""
    honest = ["a"] * 900
    mechanism = TASK.opening.ask.mechanism
    attacked = sv.simulate(TASK, honest, seed=2, attack=AlwaysLast(), share=0.1)
    clean = sv.simulate(TASK, honest, seed=2)
    assert attacked.users == 1_000
    gained = attacked.estimate.votes[2] - clean.estimate.votes[2]
    vote = (1 - mechanism.q) / (mechanism.p - mechanism.q)
    np.testing.assert_allclose(gained, 100 * vote, rtol=1e-9)
