"""Any joint table over HTTP: by name, released like every other answer, refused where it cannot be
had.
"""

from urllib.parse import quote

import numpy as np
import pytest

import sottovoce as sv
from collector.test_api import problem
from sottovoce.errors import ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection

DICE = np.random.default_rng(9)
RECORDS = {
    "age": DICE.integers(0, 4, 1500).tolist(),
    "pay, monthly": DICE.choice(["low", "high"], 1500, p=[0.96, 0.04]).tolist(),
    "car & co": DICE.choice(["yes", "no"], 1500).tolist(),
}
DOMAIN = {"age": range(4), "pay, monthly": ["low", "high"], "car & co": ["yes", "no"]}


def joint(order=2, **settings):
    plan = sv.Marginals(DOMAIN, users=5000, order=order)
    collection = Collection(**({"minimum": 10, "grace": 0} | settings))
    return sv.Task("calm", plan, 5.0, collection=collection)


@pytest.fixture
def asked(site):
    """Publish a task, let everybody answer, and return what the answer's address says."""

    def ask(task):
        site.publish(task)
        messages = crowd.messages(task, RECORDS, rng=SeededRng(4))
        for start in range(0, len(messages), 500):
            assert site.upload(task.name, messages[start : start + 500]).json()["accepted"] == 500
        site.seal(task.name)

        def get(query="", **headers):
            address = f"/v1/tasks/{task.name}/answer?{query}"
            return site.client.get(address, headers=site.bearing("analyst") | headers)

        return get

    return ask


def test_the_listed_tables_are_those_of_single_attributes_and_pairs(asked):
    listed = asked(joint())().json()["answers"]
    assert list(listed) == [
        *DOMAIN,
        "age & pay, monthly",
        "age & car & co",
        "pay, monthly & car & co",
    ]
    assert all(one["users"] == 1500 and not one["suppressed"] for one in listed.values())


def test_a_table_is_named_by_its_attributes_in_any_order_and_way(asked, site):
    get = asked(joint())
    pay, car = quote("pay, monthly", safe=""), quote("car & co", safe="")
    made = get(f"marginal=age,{car}").json()
    assert (made["name"], len(made["rows"]), made["mechanism"]) == ("age & car & co", 8, "pooled-2")
    assert made["rows"][1]["value"] == "0 & no"
    assert made == get(f"marginal={car}%2Cage").json() == get(f"marginal={car}&marginal=age").json()
    assert get(f"marginal={pay}&marginal={car}").json()["name"] == "pay, monthly & car & co", (
        "a name with a comma"
    )
    whole = get(f"marginal={pay}&marginal=age,{car}&level=0.9&method=norm-sub").json()
    assert (whole["level"], whole["steps"][-1], len(whole["rows"])) == (0.9, "norm-sub", 16)
    expected = site.collector.answer("calm").marginal("age", "car & co")
    assert [row["estimate"] for row in made["rows"]] == expected.estimate.totals.tolist()


def test_a_table_comes_as_csv_too(asked):
    text = asked(joint())("marginal=age", accept="text/csv").text
    assert text.splitlines()[0].startswith("question,value,estimate")
    assert len(text.splitlines()) == 5


BAD = [
    "marginal=",
    "marginal=pets",
    "marginal=age,age",
    "marginal=age,",
    "marginal=age&marginal=age",
]


@pytest.mark.parametrize("query", BAD)
def test_attributes_that_there_are_not_are_refused(asked, query):
    said = problem(asked(joint())(query), 400, "invalid")
    assert (
        said["detail"]
        == f"a marginal needs attributes of this task, each once: {', '.join(DOMAIN)}"
    )


def test_only_joint_tables_have_marginals(site):
    task = sv.Task(
        "pets", sv.Histogram(["cat", "dog"]), 2.0, collection=Collection(minimum=2, grace=0)
    )
    site.publish(task)
    site.upload("pets", crowd.messages(task, ["cat"] * 20))
    site.seal("pets")
    problem(
        site.client.get("/v1/tasks/pets/answer?marginal=cat", headers=site.bearing("analyst")),
        400,
        "invalid",
    )


def test_a_table_has_its_small_cells_suppressed(asked, site):
    """About 15 people of every age earn much: fewer than the crowd, in this table and not in that
    of pay alone.
    """
    get = asked(joint(crowd=40))
    alone = get("marginal=pay,%20monthly").json()
    assert not any(row["suppressed"] for row in alone["rows"])
    both = get("marginal=age&marginal=pay,%20monthly").json()
    estimates = site.collector.answer("calm")["age & pay, monthly"].rows()
    small = [row["value"] for row in estimates if row["estimate"] < 40]
    assert [row["value"] for row in both["rows"] if row["suppressed"]] == small
    assert len(small) >= 2
    assert all(value.endswith("high") for value in small)
    assert all(set(row) == {"value", "suppressed"} for row in both["rows"] if row["suppressed"])


def test_too_few_users_have_no_table(asked):
    problem(asked(joint(minimum=1501))("marginal=age"), 409, "too-few-users")


def test_a_table_on_request_has_a_limited_number_of_cells():
    plan = sv.Marginals({name: range(11) for name in "abc"}, users=100_000, order=2)
    with pytest.raises(ParameterError, match="at most 1,024 cells"):
        plan.select(None, ["a,b,c"])


def test_large_pairs_and_many_attributes_are_not_listed_nor_drawn():
    wide = sv.Marginals({"a": range(40), "b": range(40), "c": ["x", "y"]}, users=50_000, order=2)
    held = {"a": [1] * 60, "b": [2] * 60, "c": ["x"] * 60}
    answer = sv.simulate(sv.Task("t", wide, 4.0), held, seed=1)
    assert list(answer) == ["a", "b", "c", "a & c", "b & c"]
    assert answer.views().pairs is None
