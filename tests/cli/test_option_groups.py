"""Options in groups."""

from dataclasses import dataclass
from typing import ClassVar

import click
from click.testing import CliRunner

from sottovoce.cli.option_groups import group_of, options_of


@dataclass(frozen=True)
class Inner:
    OPTIONS: ClassVar = (click.option("--size", type=int, default=3),)

    size: int


@dataclass(frozen=True)
class Outer:
    OPTIONS: ClassVar = (click.option("--name"), click.option("--loud", is_flag=True))

    name: str
    loud: bool
    inner: Inner


@click.command()
@options_of(Outer)
def command(**options):
    click.echo(repr(group_of(Outer, options)))


def test_a_command_gets_its_options_as_groups():
    said = CliRunner().invoke(command, ["--name", "x", "--size", "7"]).stdout
    assert said == "Outer(name='x', loud=False, inner=Inner(size=7))\n"


def test_help_lists_the_options_in_the_order_of_the_groups():
    text = CliRunner().invoke(command, ["--help"]).stdout
    assert text.index("--name") < text.index("--loud") < text.index("--size")
