"""The contract of attacks: whatever reports it returns enter the simulation beside honest ones,
and every attack answers every plan, with reports that a collector accepts or with a reason.
"""

import warnings

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ConcernWarning, ParameterError
from sottovoce.lab.attacks.base import Aim, Attack
from sottovoce.tasks.question import Address
from tasks.toys import shuffle

LABELS = ["a", "b", "c"]
TASK = sv.Task("letters", sv.Histogram(LABELS, "grr"), epsilon=1.0)
LETTERS = list("abcdefgh")
PEOPLE = 4000
RANDOM = np.random.default_rng(1)
KINDS = ("coins", "drop", "duplicate", "fakes", "gba", "ima", "mga", "mga_a", "mla", "query")
KINDS = (*KINDS, "rpa", "spa")
# Attacks that need the seeds or votes of single values, those on numbers, on SQL, and of a hop.
VOTES, NUMBERS, SQL, HOP = {"mga", "mga_a"}, {"gba"}, {"query"}, {"drop", "duplicate", "fakes"}


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


def drawn(labels):
    return RANDOM.choice(labels, PEOPLE).tolist()


def baskets():
    return [set(RANDOM.choice(LETTERS, 2).tolist()) for _ in range(PEOPLE)]


def buyers():
    return {
        "users": {"uid": list(range(PEOPLE)), "age": RANDOM.integers(0, 8, PEOPLE).tolist()},
        "txn": {
            "uid": RANDOM.integers(0, PEOPLE, PEOPLE).tolist(),
            "amount": RANDOM.integers(0, 8, PEOPLE).tolist(),
        },
    }


def joint_plan():
    txn = {"columns": {"amount": range(8)}, "most": 3}
    return sv.Joint({"users": {"columns": {"age": range(8)}}, "txn": txn})


XYZ = ["x", "y", "z"]
COUNT = "SELECT COUNT(*) FROM people WHERE age < 5"
SUM = "SELECT SUM(amount) FROM users JOIN txn USING (uid) WHERE age < 4"
# For every plan: people, targets, and the attacks that do not apply to it.
PLANS = {
    "histogram": (sv.Histogram(LETTERS), drawn(LETTERS), ("h", "g"), NUMBERS | SQL | {"coins"}),
    "survey": (
        sv.Survey({"p": LETTERS, "q": XYZ}),
        {"p": drawn(LETTERS), "q": drawn(XYZ)},
        ({"p": "h", "q": "x"},),
        NUMBERS | SQL,
    ),
    "mean": (sv.Mean(0, 10), RANDOM.uniform(2, 4, PEOPLE), (10,), VOTES | SQL | {"coins"}),
    "distribution": (
        sv.Distribution(0, 10, 32),
        RANDOM.uniform(2, 4, PEOPLE),
        (9.9,),
        VOTES | SQL | {"coins"},
    ),
    "heavy hitters": (
        sv.HeavyHitters(sv.Bits(12), 4),
        drawn([5, 77, 300, 4000]),
        (1234, 99),
        NUMBERS | SQL,
    ),
    "top items": (sv.TopItems(LETTERS, 3), baskets(), ({"h"},), NUMBERS | SQL | {"coins"}),
    "itemsets": (sv.Itemsets(LETTERS, 5), baskets(), ({"h", "g"},), NUMBERS | SQL | {"coins"}),
    "adaptive": (
        sv.AdaptiveTopItems(LETTERS, PEOPLE, 3, rounds=3),
        baskets(),
        ({"h"},),
        NUMBERS | SQL,
    ),
    "marginals": (
        sv.Marginals(dict.fromkeys("abc", XYZ), users=PEOPLE),
        {name: drawn(XYZ) for name in "abc"},
        (dict.fromkeys("abc", "x"),),
        NUMBERS | SQL,
    ),
    "table": (
        sv.Table({"age": range(16), "state": XYZ}),
        {"age": RANDOM.integers(0, 16, PEOPLE), "state": drawn(XYZ)},
        ({"age": 3, "state": "x"},),
        NUMBERS,
    ),
    "joint": (joint_plan(), buyers(), ({"users": {"age": 3}, "txn": [{"amount": 7}]},), NUMBERS),
}


class Watched(Attack):
    """Another attack, and how many reports it has sent."""

    def __init__(self, attack):
        self.attack = attack
        self.sent = 0
        self.check = attack.check
        self.counted_among = attack.counted_among
        self.public_parts = attack.public_parts
        self.mixed = attack.mixed

    def reports(self, asked, users, rng):
        made = self.attack.reports(asked, users, rng)
        self.sent += sum(len(reports) for reports in made.values())
        return made


def test_the_registry_knows_every_attack():
    assert {attack.kind for attack in Attack.kinds.classes()} == set(KINDS)
    assert Attack.kinds["mga"].kind == "mga"
    with pytest.raises(ParameterError, match="unknown attack kind"):
        Attack.kinds["charm"]


@pytest.mark.parametrize("plan_name", sorted(PLANS))
def test_every_attack_on_every_plan_is_made_or_refused_with_a_reason(plan_name):
    plan, values, targets, refused = PLANS[plan_name]
    task = sv.Task(plan_name.replace(" ", "-"), plan, epsilon=2.0)
    query = SUM if plan_name == "joint" else COUNT
    aim = Aim(task, targets, tries=20, each=1, members=(0,), query=query)
    reasons = {}
    for kind in KINDS:
        try:
            attack = Watched(Attack.kinds[kind].aimed(aim))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConcernWarning)
                sv.simulate(task, values, seed=1, attack=attack, share=0.1)
        except ParameterError as error:
            reasons[kind] = str(error)
        else:
            assert attack.sent >= PEOPLE // 10, kind
    assert all(len(reason) > 20 for reason in reasons.values())
    found = set(reasons)
    print(plan_name, "refused", sorted(found))
    assert found == refused | HOP


@pytest.mark.parametrize("kind", sorted(HOP))
def test_the_attacks_of_a_hop_apply_to_shuffled_tasks(kind):
    task = sv.Task("letters", sv.Histogram(LETTERS), 2.0, shuffle=shuffle(2.0, 2000))
    attack = Attack.kinds[kind].aimed(Aim(task, ("h",)))
    outcome = sv.simulate(task, PLANS["histogram"][1], seed=1, attack=attack, share=0.1)
    assert outcome.users <= PEOPLE


def test_a_report_that_no_device_could_make_is_refused():
    class TooLarge(Attack):
        def reports(self, asked, users, rng):
            return {Address(): np.full(users, 200)}

    with pytest.raises(sv.errors.CodecError, match="below 3"):
        sv.simulate(TASK, ["a"] * 50, seed=1, attack=TooLarge(), share=0.1)
