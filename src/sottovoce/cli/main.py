"""The command ``sottovoce``: one module per sub-command, imported when the command is named.

No module here imports NumPy before its command runs, so that help and completion are fast.
"""

from importlib import import_module
from typing import Any

import click

from sottovoce import __version__
from sottovoce.errors import SottovoceError

COMMANDS = (
    "demo",
    "serve",
    "task",
    "token",
    "shuffle",
    "answer",
    "integrity",
    "sql",
    "data",
    "simulate",
    "advise",
    "audit",
    "bench",
)


class Commands(click.Group):
    """Sub-commands by the name of their module; an error of the library becomes its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"sottovoce.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SottovoceError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except FileNotFoundError as error:
            raise click.FileError(str(error.filename), "no such folder or file") from error


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="sottovoce")
def commands() -> None:
    """Ask everyone, overhear no one: statistics under local differential privacy."""


def main() -> None:
    """Run the command line."""
    commands(prog_name="sottovoce")
