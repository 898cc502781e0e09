"""The collector that a command works on: that of the folder it names, or a clear error."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from collector.people import counting, text
from sottovoce.cli import collector_options
from sottovoce.errors import NoDataError


def test_a_folder_without_a_collector_is_refused_and_left_alone(tmp_path):
    with (
        pytest.raises(NoDataError, match="there is no collector in this folder"),
        collector_options.opened(tmp_path),
    ):
        pytest.fail("nothing can be opened")
    assert list(tmp_path.iterdir()) == []


def test_a_new_collector_is_found_again(tmp_path):
    with collector_options.opened(tmp_path, new=True) as collector:
        collector.create(text(counting()), toml=False)
    with collector_options.opened(tmp_path) as collector:
        assert [published.record.name for published in collector.tasks()] == ["count"]


def test_folder_and_database_are_options_or_in_the_environment(tmp_path):
    @click.command()
    @collector_options.data
    def show(data, database):
        click.echo(f"{data.name} {database}")
        assert isinstance(data, Path)

    given = ["--data", str(tmp_path / "here"), "--database", "postgresql://there"]
    assert CliRunner().invoke(show, given).output == "here postgresql://there\n"
    environment = {"SOTTOVOCE_DATA": str(tmp_path / "there")}
    assert CliRunner().invoke(show, env=environment).output == "there \n"
    assert CliRunner().invoke(show).exit_code == 2
    refused = CliRunner().invoke(show, [*given, "--url", "https://reports.example.org"])
    assert refused.exit_code == 2
    assert "run it where the collector is, with --data FOLDER" in refused.output


def test_a_folder_on_the_command_line_beats_an_address_in_the_environment():
    @click.command()
    @collector_options.any_collector
    def show(data, database, url, token):
        click.echo(url or data)

    environment = {"SOTTOVOCE_URL": "https://reports.example.org"}
    assert CliRunner().invoke(show, env=environment).output == "https://reports.example.org\n"
    assert CliRunner().invoke(show, ["--data", "here"], env=environment).output == "here\n"
    both = ["--data", "here", "--url", "https://other.example.org"]
    assert CliRunner().invoke(show, both, env=environment).output == "https://other.example.org\n"
