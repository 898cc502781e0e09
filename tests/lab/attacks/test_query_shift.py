"""Query shifts: false messages score what EXPLAIN says at most, and move the answer by that."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.query_shift import QueryShift
from sottovoce.tasks.collection import Collection

QUERY = "SELECT COUNT(*) FROM people WHERE age < 5"
AGES = np.arange(3000) % 16
PEOPLE = {"age": AGES, "state": [("x", "y", "z")[age % 3] for age in AGES]}
TABLE = sv.Table({"age": range(16), "state": ["x", "y", "z"]})
TASK = sv.Task("people", TABLE, epsilon=3.0)
SHARE = 0.02


def answered(task, query, attack=None):
    share = None if attack is None else SHARE
    outcome = sv.simulate(task, PEOPLE, seed=1, attack=attack, share=share)
    result = outcome.sql(query)
    (row,) = result.rows()
    name = result.names[0]
    explained = outcome.sql(f"EXPLAIN {query}").to_dict()["numbers"][0]
    bound = explained["one false report moves this by at most"]
    return row[name], row[f"{name}_high"] - row[name], result.users, bound


@pytest.mark.parametrize("against", [False, True])
def test_the_count_moves_in_the_wanted_direction_and_within_the_bound(against):
    """The move per attacker is at most the influence that EXPLAIN states, and most of it."""
    attack = QueryShift(TASK, QUERY, against, 400, chooses=True)
    clean, noise, _, _ = answered(TASK, QUERY)
    moved, _, users, bound = answered(TASK, QUERY, attack)
    attackers = users - 3000
    per_attacker = (moved - clean) / attackers
    print("moved per attacker", per_attacker, "bound", bound, "noise", noise / attackers)
    assert (per_attacker < 0) is against
    assert abs(per_attacker) <= bound + 4 * noise / attackers
    if not against:
        assert per_attacker > 0.5 * bound


def test_dealt_layers_move_it_less():
    collection = Collection(enrolment=True)
    dealt = sv.Task("people", TABLE, epsilon=3.0, collection=collection)
    with pytest.raises(ParameterError, match="`chooses` must be false"):
        answered(dealt, QUERY, QueryShift(dealt, QUERY, chooses=True))
    assert not QueryShift.aimed(Aim(dealt, query=QUERY)).chooses
    chosen = answered(TASK, QUERY, QueryShift(TASK, QUERY, tries=200, chooses=True))[0]
    spread = answered(dealt, QUERY, QueryShift(dealt, QUERY, tries=200))[0]
    clean = answered(TASK, QUERY)[0]
    print(clean, spread, chosen)
    assert clean < spread < chosen


def test_it_needs_a_query_and_a_task_that_answers_it():
    with pytest.raises(ParameterError, match="needs the `query`"):
        QueryShift.aimed(Aim(TASK))
    letters = sv.Task("letters", sv.Histogram(["a", "b"]), epsilon=1.0)
    with pytest.raises(ParameterError, match="tasks that answer SQL"):
        QueryShift(letters, QUERY)
