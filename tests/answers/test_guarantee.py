"""A guarantee says its epsilons as plain data, and every outcome carries one."""

from dataclasses import replace

import pytest

import sottovoce as sv
from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.mechanisms.grr import GRR
from tasks.toys import shuffle

TASK = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=1.5)


def test_it_is_plain_data():
    assert Guarantee(1.5).to_dict() == {"local": 1.5}


def test_an_outcome_promises_what_each_device_was_charged():
    answer = sv.simulate(TASK, ["cat", "dog"] * 50, seed=1)
    assert answer.guarantee == Guarantee(TASK.epsilon)
    assert answer.to_dict()["guarantee"] == {"local": 1.5}


BLANKET = GRR(4.0, 5).blanket
SHUFFLED = ShuffledReports(hops=2, fakes=500, delta=1e-9, blankets=(BLANKET,), users=(10_000,))


def test_a_shuffled_guarantee_is_the_triple_at_the_actual_number_of_people():
    """Of the fakes only those of one hop count."""
    expected = ShuffledGuarantee.of(BLANKET, users=10_000, fakes=500, delta=1e-9)
    assert SHUFFLED.guarantee == expected
    assert Guarantee(4.0, SHUFFLED).to_dict() == {
        **expected.to_dict(),
        "local": 4.0,
        "users": 10_000,
        "hops": 2,
        "fakes": 500,
    }


def test_of_several_rounds_each_epsilon_is_the_largest():
    rounds = replace(SHUFFLED, blankets=(BLANKET, GRR(3.0, 5).blanket), users=(10_000, 300))
    apart = [
        ShuffledGuarantee.of(blanket, users, 500, 1e-9)
        for blanket, users in zip(rounds.blankets, rounds.users, strict=True)
    ]
    assert apart[1].central > apart[0].central
    assert rounds.guarantee.central == apart[1].central
    assert rounds.guarantee.against_users == apart[0].against_users
    assert rounds.guarantee.local == 4.0


def test_it_is_computed_once_and_only_when_it_is_looked_at(monkeypatch):
    calls = []
    compute = Blanket.epsilon

    def counted(*arguments):
        calls.append(arguments)
        return compute(*arguments)

    monkeypatch.setattr(Blanket, "epsilon", counted)
    task = sv.Task("pets", sv.Histogram(["a", "b"]), 2.0, shuffle=shuffle(2.0, fakes=50))
    answer = sv.simulate(task, ["a", "b"] * 50, seed=1)
    assert answer.rows()
    assert not calls
    assert answer.to_dict()["guarantee"] == answer.about["guarantee"]
    assert len(calls) == 2  # central, and against all other users
    assert Guarantee(2.0).lines() == []


def outcomes():
    """An outcome of every kind of plan, shuffled."""
    records = [{"pet": "cat", "age": 1}, {"pet": "dog", "age": 3}] * 60
    attributes = {"pet": ["cat", "dog"], "age": range(4)}
    yield sv.Histogram(["a", "b"]), ["a", "b"] * 60, 10
    yield sv.Survey(attributes), records, 10
    yield sv.Marginals(attributes, users=100_000, order=2), records, 10
    yield sv.Mean(0, 15), [3, 7] * 60, 0
    yield sv.Distribution(0, 15), [3, 7] * 60, 0
    yield sv.Table({"age": range(20, 30)}), [{"age": 21}, {"age": 25}] * 60, 0


@pytest.mark.parametrize("case", list(outcomes()), ids=lambda case: case[0].kind)
def test_every_outcome_of_a_shuffled_task_carries_the_triple(case):
    plan, values, fakes = case
    task = sv.Task("pets", plan, 2.0, shuffle=shuffle(2.0, fakes, hops=2))
    outcome = sv.simulate(task, values, seed=1)
    guarantee = outcome.guarantee
    assert guarantee.local == 2.0
    assert guarantee.shuffled.users == (120,)
    assert (guarantee.shuffled.hops, guarantee.shuffled.fakes) == (2, fakes)
    assert guarantee.to_dict()["central"] <= guarantee.to_dict()["against_users"] <= 2.0
    assert outcome.about["guarantee"]["central"] == guarantee.to_dict()["central"]
    for part in outcome.questions().values():
        assert part.guarantee == guarantee
        assert "against the collector with all other users" in str(part)
        assert part.at(0.9).guarantee == guarantee


def test_an_answer_in_sql_carries_the_triple():
    task = sv.Task("t", sv.Table({"age": range(20, 30)}), 2.0, shuffle=shuffle(2.0, 0))
    database = sv.simulate(task, [{"age": 21}, {"age": 25}] * 60, seed=1)
    result = database.sql("SELECT COUNT(*) FROM people WHERE age > 22")
    assert result.guarantee == database.guarantee
    assert "if one hop is honest" in str(result)
