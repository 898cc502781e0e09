"""Questions in SQL over HTTP: answered from the reports, released as promised, refused with rule
and place.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from collector.people import digest_of, envelope, published
from collector.sending import send
from collector.test_api import problem
from sottovoce.collector import queries, taskfile
from sottovoce.collector.admission import admit
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.crowd import messages
from sottovoce.lab.seeded import SeededRng
from sottovoce.sql.query import Options
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import CATALOGUE
from sottovoce.wire import codec
from sottovoce.wire import envelope as envelopes

DICE = np.random.default_rng(14)
PEOPLE = 400
SHARES = {"iOS": 0.7, "Android": 0.26, "other": 0.04}
SERVICES = {
    "users": {
        "columns": {"age": range(1, 6), "state": ["NY", "WA", "CA"]},
        "public": {"os": list(SHARES), "since": range(2000, 2010)},
    },
    "txn": {"most": 2, "columns": {"amount": range(1, 4)}},
}
VALUES = [
    {
        "users": {
            "age": int(DICE.integers(1, 6)),
            "state": str(DICE.choice(["NY", "WA", "CA"], p=[0.6, 0.36, 0.04])),
            "os": str(DICE.choice(list(SHARES), p=list(SHARES.values()))),
            "since": int(DICE.integers(2000, 2010)),
        },
        "txn": [{"amount": int(one)} for one in DICE.integers(1, 4, DICE.integers(3))],
    }
    for _ in range(PEOPLE)
]
OF_OS = {name: sum(value["users"]["os"] == name for value in VALUES) for name in SHARES}


def shop(name="shop", **settings):
    collection = Collection(**({"minimum": 30, "grace": 0} | settings))
    return sv.Task(name, sv.Joint(services=SERVICES), 6.0, collection=collection)


def answers(task, values):
    return messages(task, values, rng=SeededRng(6))


MESSAGES = answers(shop(), VALUES)


@pytest.fixture
def asked(site):
    """Publish a task that everybody answers, seal it, and return what asking it says."""

    def ask(**settings):
        task = site.publish(shop(**settings))
        sent = answers(task, VALUES) if settings else MESSAGES
        for start in range(0, PEOPLE, 200):
            assert site.upload(task.name, sent[start : start + 200]).json()["accepted"] == 200
        site.seal(task.name)
        return put(site, task.name), sent

    return ask


def put(site, name, scope="analyst"):
    def put(sql, **rest):
        content = {"task": name, "sql": sql, **rest}
        return site.client.post(
            "/v1/sql", json=content, headers=site.bearing(scope) if scope else {}
        )

    return put


def test_the_answer_is_that_of_the_same_messages_without_a_collector(asked):
    ask, sent = asked()
    alone = sv.answer(shop(), sent)
    for sql in (
        "SELECT COUNT(*) FROM users WHERE age BETWEEN 2 AND 3 AND state = 'NY'",
        "SELECT state, AVG(amount) AS mean FROM users JOIN txn USING (uid) GROUP BY state ORDER BY "
        "mean DESC",
    ):
        said, expected = ask(sql).json(), alone.sql(sql).to_dict()
        assert {key: said[key] for key in expected if key != "rows"} == json.loads(
            json.dumps({key: expected[key] for key in expected if key != "rows"})
        )
        for row, own in zip(said["rows"], expected["rows"], strict=True):
            assert row.pop("state", "") == own.pop("state", "")
            unbounded = {name for name, entry in own.items() if entry is None}
            assert {name for name, entry in row.items() if entry is None} == unbounded
            for name in own.keys() - unbounded:
                assert row[name] == pytest.approx(own[name], rel=1e-9)
        assert (said["users"], said["minimum"], said["suppressed"]) == (PEOPLE, 30, [])


def test_a_message_less_would_be_seen(asked):
    """The broken twin of the comparison above."""
    ask, sent = asked()
    sql = "SELECT COUNT(*) FROM users WHERE age = 2"
    said = ask(sql).json()["rows"][0]["count"]
    assert said == pytest.approx(sv.answer(shop(), sent).sql(sql).figure.value, rel=1e-9)
    assert said != pytest.approx(sv.answer(shop(), sent[1:]).sql(sql).figure.value, rel=1e-9)


def test_a_level_goes_before_that_of_the_question(asked):
    ask, _ = asked()
    sql = "SELECT COUNT(*) FROM users WHERE age = 2 WITH (CONFIDENCE = 0.8)"
    assert ask(sql).json()["level"] == 0.8
    assert ask(sql, level=0.99).json()["level"] == 0.99


def test_public_groups_below_the_minimum_are_named_and_withheld_and_never_one_alone(asked):
    ask, _ = asked()
    assert OF_OS["other"] < 30 < OF_OS["Android"]
    said = ask("SELECT os, COUNT(*) AS c FROM users GROUP BY os").json()
    assert said["rows"] == [
        {"os": "iOS", "c": OF_OS["iOS"], "c_low": OF_OS["iOS"], "c_high": OF_OS["iOS"]}
        | {"c_error": 0.0, "c_unstable": False}
    ]
    assert said["suppressed"] == [{"os": "Android"}, {"os": "other"}]
    both = ask(
        "SELECT state, os, AVG(age) AS mean FROM users GROUP BY state, os ORDER BY mean"
    ).json()
    assert {row["os"] for row in both["rows"]} == {"iOS", "Android"}
    assert [row["os"] for row in both["suppressed"]] == ["other"] * 3
    means = [row["mean"] for row in both["rows"]]
    assert means == sorted(means)


def test_fewer_people_than_the_minimum_are_refused(asked):
    ask, _ = asked()
    problem(ask("SELECT COUNT(*) FROM users WHERE os = 'other'"), 409, "too-few-users")
    assert ask("SELECT COUNT(*) FROM users WHERE os = 'Android'").status_code == 200
    problem(
        ask("SELECT os, COUNT(*) FROM users WHERE since > 2030 GROUP BY os"), 409, "too-few-users"
    )


def test_a_condition_that_nobody_meets_does_not_make_a_small_public_group_larger(asked):
    ask, _ = asked()
    problem(ask("SELECT COUNT(*) FROM users WHERE os = 'other' OR age = 77"), 409, "too-few-users")
    problem(
        ask("SELECT FREQ(*) FROM users WHERE os = 'other'"), 409, "too-few-users"
    )  # a share of everybody
    problem(ask("SELECT FREQ(*) FROM users WHERE os = 'other' AND age = 2"), 409, "too-few-users")
    assert ask("SELECT FREQ(*) FROM users WHERE os = 'iOS'").status_code == 200
    assert ask("SELECT COUNT(*) FROM users WHERE os = 'other' OR age = 2").status_code == 200
    said = ask(
        "SELECT os, COUNT(*) AS c FROM users WHERE since >= 2001 OR age = 77 GROUP BY os"
    ).json()
    assert [row["os"] for row in said["rows"]] == ["iOS"]
    assert said["suppressed"] == [{"os": "Android"}, {"os": "other"}]


def test_rows_below_the_crowd_are_withheld_whatever_they_would_tell(asked):
    ask, sent = asked(crowd=60)
    counts = {
        row["state"]: row["count"]
        for row in sv.answer(shop(crowd=60), sent)
        .sql("SELECT state, COUNT(*) FROM users GROUP BY state")
        .rows()
    }
    assert counts["CA"] < 60 < min(counts["NY"], counts["WA"])
    said = ask("SELECT state, AVG(age) AS mean FROM users GROUP BY state").json()
    assert [row["state"] for row in said["rows"]] == ["NY"], (
        "the smallest and, so that it is not alone, the next"
    )
    assert sorted(row["state"] for row in said["suppressed"]) == ["CA", "WA"]
    assert said["numbers"] == ["mean"]
    assert [one["name"] for one in said["plan"]["numbers"]] == ["mean"]
    assert set(said["rows"][0]) == {
        "state",
        "mean",
        "mean_low",
        "mean_high",
        "mean_error",
        "mean_unstable",
    }
    alone = ask("SELECT AVG(age) FROM users WHERE state = 'CA'").json()
    assert (alone["rows"], alone["suppressed"]) == ([], [{}])
    limited = ask("SELECT state, COUNT(*) AS c FROM users GROUP BY state ORDER BY c LIMIT 1").json()
    assert [row["state"] for row in limited["rows"]] == ["NY"], "a limit cuts what is shown"


def test_numbers_that_do_not_exist_are_null(asked):
    ask, _ = asked()
    answer = ask("SELECT AVG(age) AS mean FROM users WHERE age = 77")
    assert answer.status_code == 200
    assert "NaN" not in answer.text
    assert "Infinity" not in answer.text
    (row,) = answer.json()["rows"]
    assert (row["mean"], row["mean_unstable"]) == (None, True)
    assert answer.json()["notices"]
    assert (
        ask("EXPLAIN SELECT AVG(age) FROM users WHERE age = 77").json()["numbers"][0]["relative"]
        is None
    )


def test_a_question_that_is_refused_says_which_rule_and_where(asked):
    ask, _ = asked()
    answer = ask("SELECT COUNT(*)\nFROM users WHERE shoes = 3")
    said = answer.json()
    assert (answer.status_code, said["status"], said["code"], said["title"]) == (
        400,
        400,
        "query",
        CATALOGUE["query"].title,
    )
    assert (said["rule"], said["line"], said["column"]) == ("unknown-column", 2, 18)
    assert "no such column" in said["detail"]
    assert ask("").json()["rule"] == "empty"
    assert ask("x" * 20_000).json()["rule"] == "too-long"


def test_a_question_is_explained_before_anybody_has_answered(site):
    site.publish(shop())
    ask = put(site, "shop")
    said = ask("EXPLAIN SELECT COUNT(*) FROM users WHERE age = 2").json()
    assert (said["people"], said["epsilon"], said["reports of a person"]) == (30, 6.0, 2)
    assert ask("EXPLAIN SELECT COUNT(*) FROM users", users=10_000).json()["people"] == 10_000
    site.upload("shop", MESSAGES[:40])
    site.collector.refresh()
    assert ask("EXPLAIN SELECT COUNT(*) FROM users").json()["people"] == 40
    problem(ask("SELECT COUNT(*) FROM users"), 409, "not-ready")


def test_without_reports_the_counts_of_columns_remain_and_questions_are_refused(site, asked, clock):
    ask, _ = asked()
    address = "/v1/tasks/shop/answer"
    before = site.client.get(address, headers=site.bearing("analyst")).json()
    assert list(before["answers"]) == ["users.age", "users.state", "txn.amount"]
    clock.pass_(91 * 86_400)
    site.collector.advance()
    assert not list(site.collector.folder.glob("sealed/*/*.parquet"))
    assert site.client.get(address, headers=site.bearing("analyst")).json() == before
    refused = ask("SELECT COUNT(*) FROM users")
    problem(refused, 404, "no-data")
    assert "erased" in refused.json()["detail"]
    assert ask("EXPLAIN SELECT COUNT(*) FROM users").json()["people"] == PEOPLE


def test_who_may_ask(site):
    site.publish(shop())
    sql = "EXPLAIN SELECT COUNT(*) FROM users"
    assert put(site, "shop", "operator")(sql).status_code == 200
    problem(put(site, "shop", "enrolment")(sql), 403, "forbidden")
    problem(put(site, "shop", None)(sql), 401, "unauthenticated")
    problem(put(site, "none")(sql), 404, "not-found")


@pytest.mark.parametrize(
    "rest", [{"level": 0.2}, {"level": "much"}, {"users": 0}, {"more": 1}, {"sql": None}]
)
def test_a_request_of_another_shape_is_refused(site, rest):
    site.publish(shop())
    content = {"task": "shop", "sql": "SELECT COUNT(*) FROM users", **rest}
    answer = site.client.post("/v1/sql", json=content, headers=site.bearing("analyst"))
    problem(answer, 400, "malformed-request")


def test_other_tasks_do_not_speak_sql(site):
    site.publish(sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0, collection=Collection()))
    problem(put(site, "pets")("SELECT COUNT(*) FROM pets"), 400, "invalid")


def test_counts_of_tables_are_not_made_to_sum_to_the_number_of_people(site, asked):
    asked()
    address = "/v1/tasks/shop/answer?method="
    problem(site.client.get(f"{address}norm-sub", headers=site.bearing("analyst")), 400, "invalid")
    assert site.client.get(f"{address}base-pos", headers=site.bearing("analyst")).status_code == 200
    queries.check_step(sv.Histogram(["a", "b"]), "norm-sub")


SHAPE = {"slot": 0, "subject": b"s" * 16}


def forged(task, public, others=None):
    """A message whose envelopes carry these public parts."""
    (message,) = answers(task, VALUES[:1])
    (pieces,) = envelopes.read([message], task.opening.width)
    return b"".join(
        envelope(
            digest_of(task),
            pieces.payloads[slot].tobytes(),
            member=int(pieces.members[slot]),
            slot=slot,
            subject=pieces.subjects[slot].tobytes(),
            public=public if slot == 0 or others is None else others,
        )
        for slot in range(2)
    )


GOOD = b'{"users.os":"iOS","users.since":2003}'
PUBLIC = {
    "as devices write it": (GOOD, None, ""),
    "another order": (b'{"users.since":2003,"users.os":"iOS"}', None, "malformed"),
    "not a document": (b"{", None, "malformed"),
    "a label that there is not": (b'{"users.os":"BeOS","users.since":2003}', None, "impossible"),
    "a number outside": (b'{"users.os":"iOS","users.since":1999}', None, "impossible"),
    "a column missing": (b'{"users.os":"iOS"}', None, "impossible"),
    "a column too many": (
        b'{"users.name":"x","users.os":"iOS","users.since":2003}',
        None,
        "impossible",
    ),
    "a private column": (
        b'{"users.age":1,"users.os":"iOS","users.since":2003}',
        None,
        "impossible",
    ),
    "two public parts in one message": (GOOD, GOOD.replace(b"2003", b"2004"), "incomplete"),
    "two of other lengths": (GOOD, GOOD.replace(b"iOS", b"other"), "incomplete"),
}


@pytest.mark.parametrize(("public", "others", "code"), PUBLIC.values(), ids=PUBLIC)
def test_a_public_part_is_one_that_the_task_has(public, others, code):
    task = shop()
    admitted = admit(published(task), [forged(task, public, others), MESSAGES[1]], ())
    assert admitted.codes == ({0: code} if code else {})


def test_what_is_public_must_be_there_and_nothing_else_may_be(collector):
    collector.create(codec.canonical(codec.document(shop())), toml=False)
    digest, width = digest_of(shop()), shop().opening.width
    bare = b"".join(envelope(digest, b"\0" * width, **SHAPE | {"slot": slot}) for slot in range(2))
    assert send(collector, "shop", [bare]) == ["undeclared"]


def test_somebody_who_answers_twice_under_one_subject_is_left_out(site):
    site.publish(shop())
    twice = forged_again(MESSAGES[0])
    site.upload("shop", [*MESSAGES[:100], twice])
    site.seal("shop")
    said = put(site, "shop")("SELECT COUNT(*) FROM users WHERE age = 1").json()
    assert said["users"] == 99
    assert any("left out" in notice for notice in said["notices"])


def forged_again(message):
    """The same reports of the same subject under other ids."""
    half = len(message) // 2
    pieces = [message[:half], message[half:]]
    return b"".join(
        one[:28] + bytes(16 - 1) + bytes([place]) + one[44:] for place, one in enumerate(pieces)
    )


FILE = """
name = "shop"
epsilon = 4.0
[plan]
kind = "joint"
fanout = 4
[plan.services.users.columns]
age = {low = 1, high = 125}
income = {low = 0, high = 250000, buckets = 125}
state = ["NY", "WA", "CA"]
[plan.services.users.public]
os = ["iOS", "Android"]
[plan.services.txn]
most = 10
rows = 2
[plan.services.txn.columns]
amount = {low = 1, high = 625}
rate = {low = 0, high = 1, points = 101}
"""


def test_a_file_of_services_is_the_task_that_python_would_make():
    users = sv.Table(
        {"age": Integers(1, 125), "income": Buckets(0, 250_000, 125), "state": ["NY", "WA", "CA"]},
        public={"os": ["iOS", "Android"]},
    )
    txn = sv.Table({"amount": Integers(1, 625), "rate": Numbers(0, 1, 101)}, most=10, rows=2)
    made = taskfile.read(FILE, toml=True)
    plan = sv.Joint({"users": users, "txn": txn}, fanout=4)
    assert made == replace(sv.Task("shop", plan, 4.0), collection=Collection())
    assert made.declares == ("subject", "public")
    assert codec.task(codec.document(made)) == made


def test_a_file_of_one_table_is_the_task_that_python_would_make():
    text = FILE.replace('"joint"\nfanout = 4', '"table"\nname = "users"\nfanout = 9').replace(
        "services.users.", ""
    )
    made = taskfile.read(text.partition("[plan.services")[0], toml=True)
    columns = {
        "age": Integers(1, 125),
        "income": Buckets(0, 250_000, 125),
        "state": ["NY", "WA", "CA"],
    }
    assert made.plan == sv.Table(columns, public={"os": ["iOS", "Android"]}, name="users", fanout=9)


def test_the_files_in_the_documentation_are_task_files():
    page = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")
    plans = [
        taskfile.read(text, toml=True).plan
        for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    ]
    assert [plan.kind for plan in plans] == ["histogram", "joint"]


WRONG = {
    "a setting of the whole in a service": ("most = 10", "fanout = 4"),
    "more rows than records": ("rows = 2", "rows = 11"),
    "rows in words": ("rows = 2", 'rows = "two"'),
    "a name that SQL does not have": ("age = {", '"my age" = {'),
    "the column that joins": ("age = {", "uid = {"),
    "a public column of a list": ("[plan.services.users.public]", "[plan.services.txn.public]"),
    "no columns": ("columns]\nage", "colums]\nage"),
    "buckets in words": ("buckets = 125", 'buckets = "many"'),
    "services that are a list": ("[plan.services.users.columns]", "[[plan.services]]"),
    "a setting that there is not": ("fanout = 4", 'method = "hio"'),
    "one label": ('["iOS", "Android"]', '["iOS"]'),
}


@pytest.mark.parametrize(("old", "new"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_with_a_rule(old, new):
    assert old in FILE
    with pytest.raises((ParameterError, CodecError)):
        taskfile.read(FILE.replace(old, new), toml=True)


def test_the_concern_about_many_tables_is_told_when_a_task_is_published(site):
    tables = {f"t{number}": {"columns": {"a": ["x", "y"]}} for number in range(3)}
    content = {"name": "many", "epsilon": 2.0, "plan": {"kind": "joint", "services": tables}}
    said = site.client.post("/v1/tasks", json=content, headers=site.bearing("operator")).json()
    assert len(said["concerns"]) == 2
    assert "three tables" in said["concerns"][0]


def test_the_options_of_a_question_stay_when_its_level_is_given():
    sql = "SELECT COUNT(*) FROM users WITH (METHOD = ADD, K = 2)"
    read = queries.QueryRequest(sql, 0.9).query(sv.Joint(services=SERVICES))
    assert read.options == Options(method=read.options.method, k=2, confidence=0.9)
