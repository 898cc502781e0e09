"""A collector over HTTP, against a real server: tasks, answers, SQL, and errors with their type.

The command line reaches the same server with ``--url`` and ``--token``.
"""

import asyncio
import json

import click
import pytest
from click.testing import CliRunner

import sottovoce as sv
from collector.people import text
from collector.running import running
from collector.sending import send
from sottovoce.cli.completion import task_names
from sottovoce.cli.main import commands
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.located import LocatedError
from sottovoce.errors import AccessError, NoDataError, ParameterError, StateError, UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.web.settings import clock

RULES = Collection(minimum=2, grace=0)
PETS = sv.Task("pets", sv.Histogram(["cat", "dog"]), 2.0, collection=RULES)
PEOPLE = sv.Task("people", sv.Table({"city": ["Rome", "Oslo"]}), 2.0, collection=RULES)
TOML = 'name = "new"\nepsilon = 1.0\n[plan]\nkind = "histogram"\ndomain = ["a", "b"]\n'


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with two finished tasks; its address and the tokens of two scopes."""
    folder = tmp_path_factory.mktemp("served")
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, clock)
    for task, values in (
        (PETS, ["cat"] * 60 + ["dog"] * 40),
        (PEOPLE, [{"city": "Rome"}] * 60 + [{"city": "Oslo"}] * 40),
    ):
        collector.create(text(task), toml=False)
        send(collector, task.name, crowd.messages(task, values, rng=SeededRng(1)))
        collector.close(task.name, at_once=True)
        collector.advance()
    tokens = {scope: access.issue(store, scope, clock())[0] for scope in ("analyst", "operator")}
    store.close()
    with running(folder) as server:
        yield server.url, tokens


@pytest.fixture
def collector(served):
    url, tokens = served
    return sv.Collector(url, tokens["analyst"])


def test_tasks_and_answers_come_as_the_collector_released_them(collector):
    assert {line["name"] for line in collector.tasks()} >= {"pets", "people"}
    assert collector.task("pets") == PETS
    assert collector.status("pets")["state"] == "finished"
    answer = collector.answer("pets", method="norm-sub", level=0.99)
    assert (answer.content["level"], answer.content["steps"]) == (0.99, ["norm-sub"])
    assert sum(row["estimate"] for row in answer.rows()) == pytest.approx(100)
    assert answer.frame()["value"].tolist() == ["cat", "dog"]
    assert collector.integrity("pets")["alarm"] is False


def test_queries_are_answered_and_explained(collector):
    query = "SELECT city, COUNT(*) AS number FROM people GROUP BY city"
    assert [row["city"] for row in collector.sql(query, task="people").rows()] == ["Rome", "Oslo"]
    explained = collector.sql(f"EXPLAIN {query}", task="people", users=5_000)
    assert "5000" in explained.to_json()


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda it: it.answer("nothing"), NoDataError, "no task of this name"),
        (lambda it: it.answer("pets", method="magic"), ParameterError, "`method` must be one of"),
        (lambda it: it.sql("SELEC", task="people"), ParameterError, "refuses"),
        (lambda it: it.publish(PETS), AccessError, "refuses"),
        (lambda it: sv.Collector(it.url).answer("pets"), AccessError, "refuses"),
        (lambda it: sv.Collector("http://127.0.0.1:9").tasks(), UnavailableError, "be reached"),
    ],
    ids=["unknown", "method", "query", "scope", "no-token", "nobody"],
)
def test_a_refusal_has_the_type_and_the_words_of_its_reason(collector, ask, error, words):
    with pytest.raises(error, match=words):
        ask(collector)


def test_a_refused_query_says_where(collector, served):
    query = "SELECT COUNT(*) FROM people WHERE town = 'Rome'"
    with pytest.raises(LocatedError, match="no such column") as caught:
        collector.sql(query, task="people")
    assert (caught.value.line, caught.value.column) == (1, query.index("town") + 1)
    assert caught.value.caret == f"{query}\n{' ' * query.index('town')}^"
    url, tokens = served
    reach = ["--url", url, "--token", tokens["analyst"]]
    refused = CliRunner().invoke(commands, ["sql", query, "--task", "people", *reach])
    assert refused.exit_code == ParameterError.exit_code
    assert caught.value.caret in refused.stderr


def test_the_token_is_not_in_the_representation(collector):
    assert collector.token not in repr(collector)


def test_an_operator_publishes_and_closes(served, tmp_path):
    url, tokens = served
    operator = sv.Collector(url, tokens["operator"])
    file = tmp_path / "new.toml"
    file.write_text(TOML)
    assert sv.Task.load(file).name == "new"
    assert operator.publish(file)["new"] is True
    assert operator.publish(file)["new"] is False
    with pytest.raises(StateError, match="refuses"):
        operator.close("new")
    assert operator.close("new", at_once=True, force=True)["state"] in ("sealed", "failed")


def test_an_operator_hands_out_tokens_and_revokes_them(served):
    url, tokens = served
    operator = sv.Collector(url, tokens["operator"])
    (token,) = operator.issue_tokens("analyst", label="Ada", days=3)
    assert sv.Collector(url, token).status("pets")["state"] == "finished"
    (line,) = [line for line in operator.tokens() if line["label"] == "Ada"]
    operator.revoke_token(line["id"])
    with pytest.raises(AccessError):
        sv.Collector(url, token).status("pets")
    with pytest.raises(NoDataError):
        operator.revoke_token(line["id"])

    async def ask():
        other = sv.AsyncCollector(url, tokens["operator"])
        (made,) = await other.issue_tokens("analyst", label="Bob")
        (listed,) = [line for line in await other.tokens() if line["label"] == "Bob"]
        await other.revoke_token(listed["id"])
        return made, await other.tokens()

    made, left = asyncio.run(ask())
    assert made not in str(left)
    assert "Bob" not in str(left)


def test_asynchronous_programs_get_the_same(served, collector):
    url, tokens = served

    async def ask():
        other = sv.AsyncCollector(url, tokens["analyst"])
        query = other.sql("SELECT COUNT(*) FROM people", task="people")
        return await asyncio.gather(other.tasks(), other.answer("pets"), query)

    tasks, answer, counted = asyncio.run(ask())
    assert len(tasks) == len(collector.tasks())
    assert answer.rows() == collector.answer("pets").rows()
    assert len(counted.rows()) == 1


def test_commands_reach_a_collector_by_its_address(served, tmp_path):
    url, tokens = served
    reach = ["--url", url, "--token", tokens["analyst"]]

    def run(*arguments):
        return CliRunner().invoke(commands, [*map(str, arguments), *reach])

    shown = run("answer", "pets", "--csv", tmp_path / "pets.csv", "--plot", tmp_path / "pets.png")
    assert "pets  (100 users, epsilon 2)" in shown.stdout
    assert (tmp_path / "pets.csv").read_text().startswith("value,")
    assert (tmp_path / "pets.png").stat().st_size > 1000
    counted = run("sql", "SELECT COUNT(*) AS number FROM people", "--task", "people", "--json")
    assert json.loads(counted.stdout)["numbers"] == ["number"]
    described = run("sql", "DESCRIBE people", "--task", "people").stdout
    assert "Rome, Oslo" in described
    assert "{" not in described
    assert "pets" in run("task", "list").stdout
    assert "epsilon 2" in run("task", "show", "pets").stdout
    assert json.loads(run("task", "show", "pets", "--json").stdout)["users"] == 100
    assert run("task", "show", "nothing").exit_code == NoDataError.exit_code
    assert "round 0  (100 reports)" in run("integrity", "pets").stdout
    assert json.loads(run("integrity", "pets", "--json").stdout)["alarm"] is False
    refused = run("task", "close", "pets")
    assert refused.exit_code == AccessError.exit_code
    for files in (["task", "canaries", "pets"], ["data", "export", "pets", tmp_path / "to"]):
        told = run(*files, "--data", tmp_path)
        assert told.exit_code == 2
    without = CliRunner().invoke(commands, ["answer", "pets"], env={"SOTTOVOCE_DATA": ""})
    assert "--url URL" in without.stderr


def test_commands_hand_out_and_revoke_tokens_by_the_address(served):
    url, tokens = served
    reach = ["--url", url, "--token", tokens["operator"], "--json"]

    def run(*arguments):
        done = CliRunner().invoke(commands, ["token", *arguments, *reach])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    (made,) = run("create", "analyst", "--label", "Eve")["tokens"]
    (line,) = [line for line in run("list")["tokens"] if line["label"] == "Eve"]
    assert set(line) == {"id", "scope", "label", "expires"}
    assert run("revoke", line["id"]) == {"revoked": line["id"]}
    assert "Eve" not in str(run("list"))
    assert made not in str(run("list"))


def test_names_of_tasks_are_completed_by_the_address(served):
    context = click.Context(click.Command("test"))
    context.params = {"url": served[0]}
    assert "pets" in task_names(context, click.Argument(["name"]), "p")
    context.params = {"url": "http://127.0.0.1:9"}
    assert task_names(context, click.Argument(["name"]), "p") == []
