"""Every server has the same options, in the words of what people send to it."""

import click
import pytest
from click.testing import CliRunner

from sottovoce.cli.server_options import listening, stopping


@click.command()
@listening("parcel")
@stopping
def toy(**options):
    click.echo(sorted(options.items()))


def test_the_options_stand_in_their_order_in_the_words_of_the_server():
    names = [parameter.name for parameter in toy.params]
    listened = ["host", "port", "rate", "health_rate", "origins"]
    assert names == [*listened, "grace_seconds", "proxies", "root_path"]
    text = " ".join(CliRunner().invoke(toy, ["--help"]).output.split())
    assert "Parcels per second from one address; any other request counts as one parcel" in text
    assert "Origins of web pages that may send parcels" in text


def test_nothing_is_set_unless_somebody_sets_it():
    """So that the environment and the defaults of the settings come next."""
    result = CliRunner().invoke(toy, ["--port", "0"])
    assert "('port', 0)" in result.output
    assert result.output.count("None") == 7


@pytest.mark.parametrize("wrong", [["--port", "70000"], ["--rate", "-1"], ["--grace-seconds", "0"]])
def test_a_wrong_number_is_refused(wrong):
    result = CliRunner().invoke(toy, wrong)
    assert result.exit_code == 2
    assert wrong[0] in result.output
