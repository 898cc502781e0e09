"""Questions in SQL on the command line: to a collector's folder, and to a rehearsal with the truth
beside them.
"""

import csv
import json

import numpy as np
import pytest

import sottovoce as sv
from cli.collecting import said
from collector.people import text
from collector.sending import send
from collector.test_queries import FILE, MESSAGES, OF_OS, PEOPLE, VALUES, shop
from sottovoce.cli.truths import Truth
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.sql.errors import QueryError
from sottovoce.sql.reading import read
from sottovoce.web.settings import clock
from sottovoce.wire import codec

BY_STATE = "SELECT state, COUNT(*) AS c FROM users GROUP BY state"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collector's folder with a finished task and one that nobody has answered."""
    made = tmp_path_factory.mktemp("collector")
    store = SqliteStore(made / "collector.db")
    collector = Collector(store, made, clock)
    for task in (shop(), shop("open")):
        collector.create(text(task), toml=False)
    assert set(send(collector, "shop", MESSAGES)) == {"accepted"}
    collector.close("shop", at_once=True)
    collector.advance()
    store.close()
    return made


def test_the_answer_is_a_table_json_a_file_and_a_chart(run, folder, tmp_path):
    files = ("--csv", tmp_path / "rows.csv", "--plot", tmp_path / "chart.png")
    shown = run("sql", BY_STATE, "--task", "shop", "--data", folder, *files)
    assert shown.exit_code == 0, shown.stderr
    own = sv.answer(shop(), MESSAGES).sql(BY_STATE)
    assert shown.stdout == f"{own}\n"
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [row["state"] for row in rows] == ["NY", "WA", "CA"]
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    made = said(run("sql", BY_STATE, "--task", "shop", "--data", folder, "--json", "--level", 0.8))
    assert (made["level"], made["users"], made["suppressed"], len(made["rows"])) == (
        0.8,
        PEOPLE,
        [],
        3,
    )


def test_what_is_suppressed_is_named_and_never_drawn(run, folder, tmp_path):
    asked = (
        "sql",
        "SELECT os, COUNT(*) AS c FROM users GROUP BY os",
        "--task",
        "shop",
        "--data",
        folder,
    )
    shown = run(*asked).stdout
    assert "suppressed: Android\nsuppressed: other\n" in shown
    assert f"{OF_OS['Android']}" not in shown
    refused = run(*asked, "--plot", tmp_path / "chart.png")
    assert refused.exit_code == 7
    assert not (tmp_path / "chart.png").exists()


def test_a_plan_needs_no_reports(run, folder):
    asked = (
        "sql",
        "EXPLAIN SELECT COUNT(*) FROM users WHERE age = 1",
        "--task",
        "open",
        "--data",
        folder,
    )
    assert "people: 30\n" in run(*asked).stdout
    assert said(run(*asked, "--users", 5000, "--json"))["people"] == 5000


REFUSED = {
    "a wrong question": (
        "SELECT COUNT(*) FROM users\nWHERE shoes = 3",
        "shop",
        2,
        "WHERE shoes = 3\n      ^\nError: ",
    ),
    "another task": (
        "SELECT COUNT(*) FROM users",
        "none",
        7,
        "Error: there is no task of this name",
    ),
    "too early": (
        "SELECT COUNT(*) FROM users",
        "open",
        11,
        "Error: this task has not finished collecting",
    ),
    "too few": (
        "SELECT COUNT(*) FROM users WHERE os = 'other'",
        "shop",
        11,
        "Error: fewer than 30 users",
    ),
}


@pytest.mark.parametrize(("sql", "task", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_where_and_leaves_its_exit_code(run, folder, sql, task, code, words):
    refused = run("sql", sql, "--task", task, "--data", folder)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert words in refused.stderr
    as_json = run("sql", sql, "--task", task, "--data", folder, "--json")
    assert json.loads(as_json.stderr)["exit_code"] == code  # and nothing beside the document


def test_the_caret_stands_under_its_column_whatever_is_before_it():
    assert QueryError("syntax", "a\n\tb cd", 5).caret == "\tb cd\n\t  ^"
    assert QueryError("syntax", "", 0).caret == "\n^"
    assert QueryError("syntax", "ab", 2).caret == "ab\n  ^"


def test_steps_that_make_shares_are_refused(run, folder):
    refused = run("answer", "shop", "--data", folder, "--method", "norm-sub")
    assert refused.exit_code == 2
    assert "txn.amount" in run("answer", "shop", "--data", folder).stdout


def test_help_shows_how_to_ask(run):
    assert "JOIN txn USING (uid)" in run("sql", "--help").stdout
    assert "--table txn=txn.csv" in run("simulate", "--help").stdout


UIDS = [f"id {(number * 7) % PEOPLE}" for number in range(PEOPLE)]
JOINED_SUM = "SELECT SUM(amount) FROM users JOIN txn USING (uid) WHERE NOT (age = 1 OR amount = 2)"
JOINED_AVERAGE = (
    "SELECT AVG(2 * age - amount) FROM txn JOIN users USING (uid) WHERE state IN ('NY', 'CA')"
)
QUESTIONS = {
    "SELECT COUNT(*) FROM users WHERE age BETWEEN 2 AND 4 AND os = 'iOS'": lambda user, amounts: (
        float(2 <= user["age"] <= 4 and user["os"] == "iOS"),
        1.0,
    ),
    JOINED_SUM: lambda user, amounts: (
        float(sum(one for one in amounts if one != 2)) if user["age"] != 1 else 0.0,
        1.0,
    ),
    JOINED_AVERAGE: lambda user, amounts: (
        float(sum(2 * user["age"] - one for one in amounts)) if user["state"] != "WA" else 0.0,
        float(len(amounts)) if user["state"] != "WA" else 0.0,
    ),
}


@pytest.fixture
def files(write, tmp_path):
    """The tables as files, people in another order in each, and the task as operators write it."""
    users = [[UIDS[at], *one["users"].values()] for at, one in enumerate(VALUES)]
    txn = [[UIDS[at], bought["amount"]] for at, one in enumerate(VALUES) for bought in one["txn"]]
    (tmp_path / "shop.json").write_text(text(shop()))
    return (
        write(["uid", *VALUES[0]["users"]], users, "users.csv"),
        *(
            "--table",
            f"txn={write(['amount', 'uid'], [row[::-1] for row in txn[::-1]], 'txn.csv')}",
        ),
        *("--task", tmp_path / "shop.json", "--seed", 3),
    )


def test_a_rehearsal_has_the_truth_beside_every_answer(run, files):
    asked = [word for sql in QUESTIONS for word in ("--sql", sql)]
    made = said(run("simulate", *files, *asked, "--json"))
    for sql, one in zip(QUESTIONS, made["answers"], strict=True):
        parts = np.array(
            [
                QUESTIONS[sql](each["users"], [bought["amount"] for bought in each["txn"]])
                for each in VALUES
            ]
        )
        top, bottom = parts.sum(axis=0)
        expected = top / bottom if "AVG" in sql else top
        ((truth,),) = one["truth"]
        assert truth == pytest.approx(expected, rel=1e-9), sql
        (row,), (name,) = one["rows"], one["numbers"]
        assert abs(row[name] - truth) < 5 * row[f"{name}_error"]
    shown = run("simulate", *files, *asked[:2]).stdout
    assert f"truth: {made['answers'][0]['truth'][0][0]:,.6g}\n" in shown


def test_numbers_that_do_not_exist_are_null_in_a_rehearsal_too(run, files):
    asked = (
        "--sql",
        "SELECT AVG(age) FROM users WHERE age = 77",
        "--sql",
        "EXPLAIN SELECT AVG(age) FROM users WHERE age = 77",
    )
    answer, plan = said(run("simulate", *files, *asked, "--json"))["answers"]
    assert (answer["rows"][0]["avg_age"], answer["truth"]) == (None, [[None]])
    assert plan["numbers"][0]["relative"] is None


def test_without_questions_the_values_of_every_column_are_counted(run, files):
    made = said(run("simulate", *files, "--json"))
    assert [one["groups"] for one in made["answers"]] == [["age"], ["state"], ["amount"]]
    truth = [row[0] for row in made["answers"][1]["truth"]]
    assert truth == [
        sum(one["users"]["state"] == state for one in VALUES) for state in ("NY", "WA", "CA")
    ]


def test_the_truth_of_public_groups_and_spreads():
    plan = shop().plan
    answer = sv.answer(shop(), MESSAGES)
    for sql, expected in (
        ("SELECT os, COUNT(*) FROM users WHERE since >= 2005 GROUP BY os ORDER BY os", None),
        ("SELECT STDDEV(age) FROM users", np.std([one["users"]["age"] for one in VALUES])),
        (
            "SELECT FREQ(*) FROM users WHERE age = 2",
            np.mean([one["users"]["age"] == 2 for one in VALUES]),
        ),
        ("SELECT AVG(age) FROM users WHERE age = 9", None),
    ):
        rows = Truth(plan.domain, plan.domain.indices(VALUES)).rows(
            read(sql, plan.domain), answer.sql(sql)
        )
        if expected is not None:
            assert rows == [[pytest.approx(expected)]]
        elif "os" in sql:
            late = [one["users"]["os"] for one in VALUES if one["users"]["since"] >= 2005]
            assert rows == [[float(late.count(name))] for name in sorted(OF_OS)]
        else:
            assert rows == [[None]]


def test_one_table_needs_no_uid_and_a_toml_file_will_do(run, write, tmp_path):
    toml = tmp_path / "people.toml"
    toml.write_text(
        FILE.replace('"joint"\nfanout = 4', '"table"')
        .replace("services.users.", "")
        .partition("[plan.services")[0]
    )
    dice = np.random.default_rng(1)
    rows = [
        [
            dice.integers(1, 126),
            dice.uniform(0, 250_000),
            dice.choice(["NY", "WA", "CA"]),
            dice.choice(["iOS", "Android"]),
        ]
        for _ in range(500)
    ]
    people = write(["age", "income", "state", "os"], rows)
    made = said(
        run("simulate", people, "--task", toml, "--sql", "SELECT AVG(income) FROM people", "--json")
    )
    ((truth,),) = made["answers"][0]["truth"]
    assert truth == pytest.approx(np.mean([row[1] for row in rows]), abs=1000), (
        "by the middles of its buckets"
    )


BAD = {
    "a table missing": (lambda files: [files[0], *files[3:]], 2),
    "a table that there is not": (
        lambda files: [files[0], "--table", "shoes=x.csv", *files[3:]],
        2,
    ),
    "a table twice": (lambda files: [*files, *files[1:3]], 2),
    "a file that there is not": (
        lambda files: [files[0], "--table", "txn=none.csv", *files[3:]],
        1,
    ),
    "columns": (lambda files: [*files, "--column", "age"], 2),
    "a wrong question": (lambda files: [*files, "--sql", "SELECT 1"], 2),
}


@pytest.mark.parametrize(("change", "code"), BAD.values(), ids=BAD)
def test_files_and_options_that_do_not_fit_are_refused(run, files, change, code):
    refused = run("simulate", *change(list(files)))
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert "Error: " in refused.stderr


def test_rows_of_strangers_and_people_twice_are_refused(run, files, write):
    stray = write(["amount", "uid"], [["1", "nobody"]], "stray.csv")
    refused = run("simulate", files[0], "--table", f"txn={stray}", *files[3:])
    assert refused.exit_code == 3
    assert "1 rows of table 'txn' have a uid" in refused.stderr
    twice = write(
        ["uid", *VALUES[0]["users"]], [["a", *VALUES[0]["users"].values()]] * 2, "twice.csv"
    )
    assert run("simulate", twice, *files[1:]).exit_code == 3


def test_questions_need_a_task_about_tables(run, write):
    people = write(["pet"], [["cat"], ["dog"]])
    refused = run(
        "simulate", people, "--column", "pet", "--epsilon", 1, "--sql", "SELECT COUNT(*) FROM pets"
    )
    assert refused.exit_code == 2
    assert "task about tables" in refused.stderr


def test_the_task_of_a_rehearsal_is_that_of_its_file(run, files, tmp_path):
    run("simulate", *files, "--save-task", tmp_path / "saved.json", "--sql", BY_STATE)
    assert json.loads((tmp_path / "saved.json").read_text()) == codec.document(shop())


def test_bounds_allow_for_a_share_of_false_messages(run, folder):
    answer = said(
        run("sql", BY_STATE, "--task", "shop", "--data", folder, "--json", "--fakes", 0.01)
    )
    assert answer["fakes"] == 0.01
    for row in answer["rows"]:
        assert row["c_low_attacked"] < row["c_low"] < row["c_high"] < row["c_high_attacked"]
    shown = run("sql", BY_STATE, "--task", "shop", "--data", folder, "--fakes", 0.01).stdout
    assert "if up to 1 % of the reports were false" in shown
    explained = run("sql", f"EXPLAIN {BY_STATE}", "--task", "shop", "--data", folder).stdout
    assert "one false report moves this by at most" in explained
