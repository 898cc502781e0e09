"""Two services over HTTP: ten thousand people, a collector that is killed, and SQL.

Every person answers for both services at once, with one budget; a column is public.  A thousand
people have a device and a ledger each, the messages of the others are made over arrays.
"""

from functools import cache

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.errors import BudgetError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.test_marginals import Killed

PEOPLE, DEVICES, REHEARSING, AT_ONCE = 10_000, 1000, 300, 1000
EPSILON = 8.0
DICE = np.random.default_rng(7)
SERVICES = {
    "users": {
        "columns": {"age": range(1, 26), "state": ["NY", "WA", "CA"]},
        "public": {"os": ["iOS", "Android", "other"]},
    },
    "txn": {"most": 2, "columns": {"amount": range(1, 6)}},
}
SHARES = (0.599, 0.4, 0.001)


def person():
    """One person: older people buy dearer things."""
    age = int(DICE.integers(1, 26))
    users = {"age": age, "state": ["NY", "WA", "CA"][DICE.integers(3)]}
    users["os"] = str(DICE.choice(SERVICES["users"]["public"]["os"], p=SHARES))
    amounts = 1 + DICE.binomial(4, age / 30, DICE.integers(3))
    return {"users": users, "txn": [{"amount": int(one)} for one in amounts]}


@cache
def people():
    """Everybody, drawn once and not before a test needs them."""
    return [person() for _ in range(PEOPLE)]


COLLECTION = Collection(minimum=50, grace=0)
SHOP = sv.Task("shop", sv.Joint(services=SERVICES), EPSILON, collection=COLLECTION)
REHEARSAL = sv.Task(
    "rehearsal",
    sv.Joint(services=SERVICES),
    EPSILON,
    collection=Collection(minimum=50, grace=0, sandbox=True),
)
QUESTIONS = {
    "people": "SELECT COUNT(*) FROM users WHERE age BETWEEN 6 AND 20 AND os <> 'Android'",
    "purchases": "SELECT COUNT(*) FROM users JOIN txn USING (uid) WHERE age >= 13 AND amount >= 3",
    "spent": "SELECT SUM(amount) FROM txn JOIN users ON users.uid = txn.uid WHERE age <= 15",
    "mean": "SELECT AVG(amount) FROM users JOIN txn USING (uid) WHERE age > 10 AND os = 'iOS'",
}


def truths():
    """Return the true answers to the questions."""
    joined = [(one["users"], bought["amount"]) for one in people() for bought in one["txn"]]
    dear = [amount for user, amount in joined if user["age"] > 10 and user["os"] == "iOS"]
    return {
        "people": sum(
            6 <= one["users"]["age"] <= 20 and one["users"]["os"] != "Android" for one in people()
        ),
        "purchases": sum(user["age"] >= 13 and amount >= 3 for user, amount in joined),
        "spent": sum(amount for user, amount in joined if user["age"] <= 15),
        "mean": sum(dear) / len(dear),
    }


def answered(task, values, cap=EPSILON):
    """Let everybody answer with a device and a ledger of their own; returns the messages and what
    all have spent.
    """
    notice, messages, spent = codec.publish(task), [], 0.0
    for value in values:
        ledger = sv.Ledger(":memory:", cap=cap)
        accepts = sv.Accepts(public=notice.domain.public_names)
        messages.append(Client(notice, ledger, accepts=accepts).answer(value))
        spent += ledger.spent
        ledger.close()
    return messages, spent


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Collect both tasks; the collector is killed when half of all people have been heard."""
    site = Killed(tmp_path_factory.mktemp("shop") / "data")
    sent, spent = answered(SHOP, people()[:DEVICES])
    assert spent == EPSILON * DEVICES
    sent += crowd.messages(SHOP, people()[DEVICES:], rng=SeededRng(8))
    at_random, nothing = answered(REHEARSAL, people()[:REHEARSING], cap=1.0)
    assert nothing == 0.0, "a rehearsal costs nobody anything"
    try:
        for task in (SHOP, REHEARSAL):
            assert site.request("POST", "/v1/tasks", codec.document(task), "operator")[0] == 201
        upload(site, "shop", sent[: PEOPLE // 2])
        site.server.kill()
        upload(site, "shop", sent)  # all of them again: nobody counts twice
        upload(site, "rehearsal", at_random)
        site.close({name: site.asked(name) for name in ("shop", "rehearsal")})
        yield site, sent
    finally:
        site.server.discard()


def upload(site, name, messages):
    for start in range(0, len(messages), AT_ONCE):
        assert site.upload(name, messages[start : start + AT_ONCE]) == []


def ask(site, sql, task="shop", **rest):
    return site.request("POST", "/v1/sql", {"task": task, "sql": sql, **rest}, "analyst")


def test_the_collector_was_killed_once_and_went_on(run):
    assert run[0].starts == 2
    assert run[0].server.errors() == []


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_truth_lies_within_five_standard_errors(run, name):
    status, said = ask(run[0], QUESTIONS[name])
    assert status == 200, said
    (number,) = said["numbers"]
    (row,) = said["rows"]
    truth = truths()[name]
    assert abs(row[number] - truth) < 5 * row[f"{number}_error"], (row, truth)
    assert not row[f"{number}_unstable"]
    assert row[f"{number}_error"] < truth, "which says something"


def same(said, own):
    """Return whether the collector says what a database of messages says."""
    equal = said["rows"][0] == pytest.approx(own.rows()[0], rel=1e-9)
    return equal and (said["users"], said["epsilon"]) == (own.users, EPSILON)


@pytest.mark.parametrize("lost", [0, 1], ids=["all", "all but one"])
def test_the_answers_are_those_of_the_same_messages_without_a_collector(run, lost):
    """The broken twin lacks one message."""
    site, sent = run
    alone = sv.answer(SHOP, sent[lost:])
    for name in ("purchases", "spent"):
        assert same(ask(site, QUESTIONS[name])[1], alone.sql(QUESTIONS[name])) is not bool(lost)


def test_a_public_group_of_too_few_people_is_withheld(run):
    site, _ = run
    held = [one["users"]["os"] for one in people()]
    assert held.count("other") < 50
    status, said = ask(site, "SELECT os, COUNT(*) AS people FROM users GROUP BY os")
    assert status == 200, said
    assert [(row["os"], row["people"]) for row in said["rows"]] == [("iOS", held.count("iOS"))]
    assert said["suppressed"] == [{"os": "Android"}, {"os": "other"}]
    status, said = ask(site, "SELECT COUNT(*) FROM users WHERE os = 'other'")
    assert (status, said["code"]) == (409, "too-few-users")


def test_a_device_answers_once_and_within_its_cap():
    ledger = sv.Ledger(":memory:", cap=2 * EPSILON)
    accepts = sv.Accepts(public=SHOP.plan.domain.public_names)
    device = Client(SHOP, ledger, accepts=accepts)
    message = device.answer(people()[0])
    with pytest.raises(BudgetError):
        device.answer(people()[0])
    assert (ledger.spent, device.resend()) == (EPSILON, message)
    ledger.close()
    small = sv.Ledger(":memory:", cap=EPSILON - 0.5)
    poor = Client(SHOP, small, accepts=accepts)
    with pytest.raises(BudgetError):
        poor.answer(people()[0])
    with pytest.raises(BudgetError):
        poor.resend()
    assert small.spent == 0.0
    small.close()


def test_a_rehearsal_is_answered_at_random_and_counted_like_the_real_thing(run):
    status, said = ask(run[0], "SELECT state, COUNT(*) AS c FROM users GROUP BY state", "rehearsal")
    assert (status, said["users"]) == (200, REHEARSING)
    for row in said["rows"]:
        assert abs(row["c"] - REHEARSING / 3) < 5 * np.hypot(
            row["c_error"], np.sqrt(REHEARSING * 2 / 9)
        )


def test_how_a_question_would_be_answered_is_told_without_reading_reports(run):
    status, said = ask(run[0], f"EXPLAIN {QUESTIONS['mean']}", users=10**6)
    assert (status, said["people"], said["reports of a person"], said["epsilon of a record"]) == (
        200,
        10**6,
        2,
        4.0,
    )
