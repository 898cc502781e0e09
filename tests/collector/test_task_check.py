"""All that is known of a task before it is published, on the command line: ``task check``."""

import pytest
from click.testing import CliRunner

from cli.collecting import TOML, said
from cli.test_task_template import KINDS
from sottovoce.cli.main import commands
from sottovoce.cli.task_template import template
from sottovoce.collector.task_check import DEFAULT_USERS, TaskCheck
from sottovoce.tasks.task import Task


def run(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "browser.toml"
    path.write_text(TOML)
    return path


def test_it_shows_statement_error_price_influence_and_concerns(file, tmp_path):
    shown = run("task", "check", file, "--users", 5_000).stdout
    assert "Nothing was published." in shown
    assert "What people will read" in shown
    assert "Your device sends nothing in clear. Answering costs epsilon 2" in shown
    assert "What to expect from 5,000 people" in shown
    assert "One false report can add at most" in shown
    assert sorted(tmp_path.iterdir()) == [file]


def test_programs_get_the_same(file):
    facts = said(run("task", "check", file, "--json"))
    assert (facts["name"], facts["epsilon"], facts["users"]) == ("browser", 2.0, 10_000)
    assert facts["advice"]["users"] == 10_000
    assert facts["influence"]["up"] > 1


def test_what_a_false_report_does_to_sums_over_a_table_is_stated(tmp_path):
    file = tmp_path / "task.toml"
    file.write_text(template("table"))
    facts = said(run("task", "check", file, "--json"))
    (total,) = [number for number in facts["moved"] if number["name"] == "people.age"]
    assert total["kind"] == "sum"
    assert total["influence"]["up"] > total["high"]
    shown = run("task", "check", file).stdout
    assert "to the sum of people." in shown
    assert "Conditions and groups change these numbers" in shown


def test_concerns_are_listed(file):
    file.write_text(TOML.replace("epsilon = 2.0", "epsilon = 20.0"))
    listed = said(run("task", "check", file, "--json"))["concerns"]
    assert any("protects little" in concern for concern in listed)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_checked(tmp_path, kind):
    file = tmp_path / "task.toml"
    file.write_text(template(kind))
    result = run("task", "check", file, "--users", 1_000)
    assert result.exit_code == 0, result.output


def test_the_error_of_a_query_is_predicted(tmp_path):
    file = tmp_path / "task.toml"
    file.write_text(template("table"))
    query = "SELECT COUNT(*) FROM people WHERE age < 40"
    facts = said(run("task", "check", file, "--sql", query, "--json"))
    assert query in str(facts["advice"])
    refused = run("task", "check", file, "--sql", "SELEC")
    assert refused.exit_code == 2


def test_a_task_waits_for_its_quota_or_for_a_usual_number(file):
    assert TaskCheck.of(Task.load(file), None).users == DEFAULT_USERS
    file.write_text(TOML + "quota = 300\n")
    assert TaskCheck.of(Task.load(file), None).users == 300
