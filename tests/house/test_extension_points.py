"""A mechanism, a domain, a post-processing method, a plan, a SQL aggregate and a store are one file
each.

Every toy below is written to a folder that its package finds.  A process of its own then publishes
tasks with them, and each toy must show up wherever a kind of the product shows up.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-mechanism.md"


def toy_mechanism():
    """The mechanism of the page on adding one, under another name: it inherits from no other."""
    module = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    named = module.replace('class Redraw(PureMechanism, kind="redraw")', TOY_CLASS)
    assert TOY_CLASS in named
    return re.sub(r'("""Report one domain index).*?"""', '"""Toy randomised response."""', named)


TOY_CLASS = 'class ToyFlip(PureMechanism, kind="toy_flip")'
TOYS = {
    "sottovoce.mechanisms/toy_flip.py": toy_mechanism(),
    "sottovoce.domains/toy_shirts.py": '''
"""A toy domain."""

from dataclasses import dataclass

import numpy as np

from sottovoce.domains.base import Domain
from sottovoce.errors import DomainError


@dataclass(frozen=True)
class ToyShirts(Domain, kind="toy_shirts"):
    """Sizes of toy shirts."""

    listed = True
    short_forms = (frozenset({"shirts"}),)
    phrases = {"en": "one of {count} toy shirts", "de": "eines von {count} Spielzeughemden"}

    shirts: int

    @property
    def size(self):
        return self.shirts

    @property
    def labels(self):
        return tuple(f"size {number}" for number in range(self.shirts))

    def statement_facts(self):
        return {"count": self.shirts}

    def indices(self, values):
        if not set(values) <= set(self.labels):
            raise DomainError("a value must be the size of a shirt")
        return np.array([self.labels.index(value) for value in values], np.int64)
''',
    "sottovoce.postprocess/toy_halve.py": '''
"""A toy method of post-processing."""

from sottovoce.postprocess.base import PostProcessor, Rule


def rule_for(estimate):
    """Return the rule."""
    return Rule("toy-halve", lambda raw: raw / 2)


METHOD = PostProcessor("toy-halve", "toy shares, all of them halved", rule_for)
''',
    "sottovoce.plans.frequencies/toy_poll.py": '''
"""A toy plan."""

from dataclasses import dataclass

from sottovoce.answers.answer import Answer
from sottovoce.domains.base import Domain
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


@dataclass(frozen=True)
class ToyPoll(Plan, kind="toy_poll"):
    """Poll toy owners."""

    domain: Domain

    def step(self, collected):
        if not collected.rounds:
            return Round(0, Question(GRR(collected.epsilon, self.domain.size)))
        return Answer("poll", self.domain.labels, collected.estimate(Address()), "grr")
''',
    "sottovoce.sql.aggregates/toy_double.py": '''
"""A toy aggregate."""

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class ToyDouble(Aggregate):
    """Twice the sum of a toy column."""

    sql_names = ("TOY_DOUBLE",)
    formula = "twice the toy sum"

    @property
    def moments(self):
        return (Moment(self.measure),)

    def combine(self, totals):
        return Combination(2 * totals[0], (2.0,))
''',
    "sottovoce.collector.store/toy_store.py": '''
"""A toy store."""

from pathlib import Path

from sottovoce.collector.store.sqlite import SqliteStore


class ToyStore(SqliteStore, schemes=("toy",)):
    """A store in a toy box."""

    @classmethod
    def from_url(cls, url):
        return cls(url.removeprefix("toy://"))

    @classmethod
    def exists(cls, url):
        return Path(url.removeprefix("toy://")).exists()
''',
}

DRIVER = '''
import json
import sys
from base64 import b64encode
from importlib import import_module
from pathlib import Path

folder = Path(sys.argv[1])
for package in (folder / "packages").iterdir():
    import_module(package.name).__path__.append(str(package))

from click.testing import CliRunner
from starlette.testclient import TestClient

from sottovoce.cli.main import commands
from sottovoce.collector import access
from sottovoce.collector.app import create
from sottovoce.collector.dashboard import sessions
from sottovoce.collector.dashboard.pages import routes
from sottovoce.collector.store.base import open_store
from sottovoce.lab import crowd, reference
from sottovoce.lab.seeded import SeededRng
from sottovoce.web.settings import Settings

BOX = f"toy://{folder}/toy.db"
DATA = ("--data", str(folder / "collector"), "--database", BOX)


def run(*arguments):
    result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return result.stdout


def saw(name):
    """Return everything that is shown of a task, from its file to its page."""
    file = folder / f"{name}.toml"
    people = (folder / "people.csv", "--column", "shirt")
    shown = {
        "simulate": run(
            "simulate", folder / "people.csv", "--column", "shirt", "--task", file, "--seed", 1
        ),
        "advise": run("advise", "--task", file, "--users", 1000),
        "create": run("task", "create", file, *DATA),
        "statement": run("task", "show", name, *DATA),
    }
    store = open_store(BOX)
    settings = Settings(folder / "collector", rate=0, tick=3600.0)
    app = create(store, settings, pages=routes)
    collector = app.state.api.collector
    with TestClient(app) as browser:
        task = collector.find(name).task
        values = ["size 0"] * 60 + ["size 2"] * 40
        messages = crowd.messages(task, values, rng=SeededRng(1))
        upload = {"reports": [b64encode(message).decode() for message in messages]}
        assert browser.post(f"/v1/tasks/{name}/reports", json=upload).json()["accepted"] == 100
        collector.close(name, at_once=True)
        collector.advance()
        token = access.issue(store, access.ANALYST, collector.now)[0]
        browser.cookies[sessions.COOKIE] = sessions.enter(store, token, collector.now, 3600)
        page = browser.get(f"/tasks/{name}?method=toy-halve", headers={"accept": "text/html"})
        assert page.status_code == 200, page.text
        shown["page"] = page.text
        shown["openapi"] = browser.get("/v1/openapi.json").text
    store.close()
    shown["answer"] = run("answer", name, *DATA, "--method", "toy-halve", "--json")
    return shown


def asked():
    """Return what a query with the toy aggregate answers and explains."""
    import sottovoce as sv

    people = {"height": [1, 2] * 200, "city": ["Rome", "Oslo"] * 200}
    table = sv.Table({"height": range(1, 5), "city": ["Rome", "Oslo"]})
    database = sv.simulate(sv.Task("people", table, epsilon=4.0), people, seed=1)
    query = "SELECT TOY_DOUBLE(height), SUM(height) FROM people"
    return {
        "numbers": [[figure.value, figure.error] for figure in database.sql(query).figures[0]],
        "explained": str(database.sql(f"EXPLAIN {query}")),
    }


def worn():
    """Return what queries about a private and a public column of shirts answer."""
    import sottovoce as sv
    from sottovoce.domains.toy_shirts import ToyShirts
    from sottovoce.wire import codec
    from sottovoce.wire.statement import explain, statement

    people = {"shirt": ["size 0"] * 300 + ["size 2"] * 100, "seen": ["size 1", "size 2"] * 200}
    table = sv.Table({"shirt": ToyShirts(3)}, public={"seen": ToyShirts(3)})
    task = sv.Task("people", table, epsilon=4.0, declares=table.needs)
    database = sv.simulate(task, people, seed=1)

    def rows(query):
        result = database.sql(query)
        return [
            [*labels, figures[0].value, figures[0].error]
            for labels, figures in zip(result.groups, result.figures, strict=True)
        ]

    poll = sv.Task("poll", sv.Histogram(ToyShirts(3)), epsilon=1.0)
    return {
        "counted": rows("SELECT COUNT(*) FROM people WHERE shirt IN ('size 0', 'size 1')"),
        "grouped": rows("SELECT shirt, COUNT(*) FROM people GROUP BY shirt"),
        "seen": rows("SELECT seen, COUNT(*) FROM people WHERE seen <> 'size 0' GROUP BY seen"),
        "columns": str(database.sql("SHOW TABLES")),
        "german": explain(statement(codec.publish(poll)), "de"),
    }


def asked_by_commands():
    """Return what the commands show of a query with the toy aggregate to a collected task."""
    file, query = folder / "people.toml", "SELECT TOY_DOUBLE(height) FROM people"
    run("task", "create", file, *DATA)
    store = open_store(BOX)
    app = create(store, Settings(folder / "collector", rate=0, tick=3600.0), pages=routes)
    collector = app.state.api.collector
    with TestClient(app) as browser:
        task = collector.find("people").task
        people = [{"height": 1, "city": "Rome"}, {"height": 2, "city": "Oslo"}] * 50
        messages = crowd.messages(task, people, rng=SeededRng(1))
        upload = {"reports": [b64encode(message).decode() for message in messages]}
        assert browser.post("/v1/tasks/people/reports", json=upload).json()["accepted"] == 100
        collector.close("people", at_once=True)
        collector.advance()
    store.close()
    return {
        "advise": run("advise", "--task", file, "--users", 1000, "--sql", query),
        "cli": run("sql", query, "--task", "people", *DATA),
        "explain": run("sql", f"EXPLAIN {query}", "--task", "people", *DATA),
    }


tasks = {"poll": saw("poll"), "shirts": saw("shirts")}
by_commands = asked_by_commands()
queries = {"sql": asked(), "by_commands": by_commands, "worn": worn()}
print(json.dumps({**tasks, **queries, "reference": reference.page()}))
'''

TASK = """
name = "{name}"
epsilon = 2.0
plan = {{{plan}, domain = {{shirts = 3}}}}

[collection]
minimum = 20
grace = 0
"""

TABLE = """
name = "people"
epsilon = 4.0

[plan]
kind = "table"

[plan.columns]
height = {low = 1, high = 4}
city = ["Rome", "Oslo"]

[collection]
minimum = 20
grace = 0
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a process that has all toys shows of two tasks."""
    folder = tmp_path_factory.mktemp("toys")
    for path, source in TOYS.items():
        file = folder / "packages" / path
        file.parent.mkdir(parents=True)
        file.write_text(source.lstrip("\n"))
    (folder / "poll.toml").write_text(TASK.format(name="poll", plan='kind = "toy_poll"'))
    histogram = 'kind = "histogram", mechanism = "toy_flip"'
    (folder / "shirts.toml").write_text(TASK.format(name="shirts", plan=histogram))
    (folder / "people.toml").write_text(TABLE)
    (folder / "people.csv").write_text("shirt\n" + "size 0\n" * 300 + "size 2\n" * 200)
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, str(folder / "driver.py"), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "folder": folder}


def test_the_toys_are_no_part_of_the_product():
    source = Path(__file__).parents[2] / "src"
    assert not [path for path in source.rglob("*.py") if path.name.startswith("toy")]


def test_a_mechanism_is_one_file(shown):
    seen = shown["shirts"]
    assert "toy_flip" in seen["simulate"].splitlines()[0]
    assert "toy_flip" in seen["advise"]
    assert "toy_flip" in seen["statement"]
    assert json.loads(seen["answer"])["mechanism"] == "toy_flip"
    facts, privacy = seen["page"].split('id="privacy"')
    assert "<dd>toy_flip</dd>" in facts
    assert "toy_flip" in privacy.lower()
    assert "| `toy_flip` | ToyFlip | Toy randomised response. |" in shown["reference"]


@pytest.mark.parametrize("task", ["poll", "shirts"])
def test_a_domain_is_one_file(shown, task):
    seen = shown[task]
    assert "published" in seen["create"], "from its short form in a task file"
    assert "size 0" in seen["simulate"]
    assert "300" in seen["simulate"], "with the truth"
    assert [row["value"] for row in json.loads(seen["answer"])["rows"]] == [
        "size 0",
        "size 1",
        "size 2",
    ]
    facts, privacy = seen["page"].split('id="privacy"')
    assert "size 2" in facts
    assert "one of 3" in privacy
    line = "| `toy_shirts` | ToyShirts | Sizes of toy shirts. | `shirts` | `{shirts}` |"
    assert line in shown["reference"]


def test_a_domain_is_a_column_of_a_table(shown):
    worn = shown["worn"]
    ((count, error),) = worn["counted"]
    assert abs(count - 300) < 5 * error
    assert [label for label, *_ in worn["grouped"]] == ["size 0", "size 1", "size 2"]
    for (_, value, its_error), truth in zip(worn["grouped"], (300, 0, 100), strict=True):
        assert abs(value - truth) < 5 * its_error
    assert worn["seen"] == [["size 1", 200.0, 0.0], ["size 2", 200.0, 0.0]]
    assert "size 0, size 1, size 2" in worn["columns"]


def test_a_domain_has_its_phrases_in_the_statement(shown):
    assert "eines von 3 Spielzeughemden" in shown["worn"]["german"]


@pytest.mark.parametrize("task", ["poll", "shirts"])
def test_a_post_processing_method_is_one_file(shown, task):
    seen = shown[task]
    answer = json.loads(seen["answer"])
    assert answer["steps"] == ["toy-halve"]
    assert sum(row["estimate"] for row in answer["rows"]) == pytest.approx(50.0)
    assert (
        '<option value="toy-halve" selected>toy-halve: toy shares, all of them halved</option>'
        in seen["page"]
    )
    assert "toy-halve" in seen["openapi"]
    assert "| `toy-halve` | toy shares, all of them halved |" in shown["reference"]


def test_a_plan_is_one_file(shown):
    seen = shown["poll"]
    assert "contain the truth" in seen["simulate"]
    assert "toy_poll" in seen["advise"]
    assert "published" in seen["create"]
    assert "grr" in json.loads(seen["answer"])["mechanism"]
    assert 'class="bars"' in seen["page"]
    assert "poll" in seen["statement"]
    assert "| `toy_poll` | ToyPoll | Poll toy owners. | `domain` |" in shown["reference"]


def test_a_store_is_one_file(shown):
    assert (shown["folder"] / "toy.db").exists()
    assert not (shown["folder"] / "collector" / "collector.db").exists()
    assert "| ToyStore | A store in a toy box. | `toy://...` |" in shown["reference"]


def test_a_sql_aggregate_is_one_file(shown):
    (double, its_error), (total, error) = shown["sql"]["numbers"]
    assert double == pytest.approx(2 * total)
    assert its_error == pytest.approx(2 * error)
    assert "twice the toy sum" in shown["sql"]["explained"]
    line = "| `TOY_DOUBLE` | Twice the sum of a toy column. | twice the toy sum |"
    assert line in shown["reference"]


def test_a_sql_aggregate_is_known_to_the_commands(shown):
    seen = shown["by_commands"]
    assert "TOY_DOUBLE(height)" in seen["advise"]
    assert "toy_double_height" in seen["cli"]
    assert "twice the toy sum" in seen["explain"]


def test_the_toy_mechanism_inherits_from_no_other(shown):
    assert "GRR" not in TOYS["sottovoce.mechanisms/toy_flip.py"].split("class ToyFlip")[1]
