"""The command ``sottovoce``: one module per sub-command, imported when the command is named.

No module here imports NumPy before its command runs, so that help and completion are fast.
"""

import json
from importlib import import_module
from typing import Any, NoReturn

import click

from sottovoce import __version__
from sottovoce.core.located import LocatedError
from sottovoce.errors import MissingExtraError, SottovoceError

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
    "compare",
    "advise",
    "audit",
    "lab",
    "bench",
    "doctor",
    "warm",
)


_JSON = "sottovoce.json"  # the key of a context's notes that says whether to print JSON


class Commands(click.Group):
    """Sub-commands by the name of their module; an error of the library becomes its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"sottovoce.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LocatedError as error:
            if not ctx.meta[_JSON]:
                click.echo(error.caret, err=True)
            _fail(ctx, str(error), error.exit_code)
        except SottovoceError as error:
            _fail(ctx, str(error), error.exit_code)
        except ModuleNotFoundError as error:
            missing = MissingExtraError.of(error)
            if missing is None:
                raise
            _fail(ctx, str(missing), missing.exit_code)
        except FileNotFoundError as error:
            _fail(ctx, f"{error.filename}: no such folder or file", 1)
        except click.ClickException as error:
            if not ctx.meta[_JSON]:
                raise
            _fail(ctx, error.format_message(), error.exit_code)


def _fail(ctx: click.Context, message: str, exit_code: int) -> NoReturn:
    """Print an error to stderr, as JSON where JSON was asked for, and end with its exit code."""
    document = json.dumps({"error": message, "exit_code": exit_code}, ensure_ascii=False)
    click.echo(document if ctx.meta[_JSON] else f"Error: {message}", err=True)
    ctx.exit(exit_code)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="sottovoce")
def commands() -> None:
    """Ask everyone, overhear no one: statistics under local differential privacy."""


def main() -> None:
    """Run the command line."""
    commands(prog_name="sottovoce")
