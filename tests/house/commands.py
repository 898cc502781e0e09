"""Commands of ours in texts: which there are, and what the command line does not know of them."""

import re
import shlex

import click

from sottovoce.cli.main import commands

USE = re.compile(r"(?<![\w./])sottovoce ((?:[^|;&<>()\n\"#`]|\"[^\"\n]*\")+)")


def used(lines):
    """Yield the words of every command of ours in some lines."""
    for line in lines:
        for words in USE.findall(line):
            yield shlex.split(words)


def unknown_words(words):
    """Return what the command line does not know of a command: its name, or options."""
    command = commands
    with click.Context(commands) as context:
        while isinstance(command, click.Group) and words and not words[0].startswith("--"):
            name, *words = words
            command = command.get_command(context, name)
            if command is None:
                return [name]
    known = {"--help"}
    for parameter in command.params:
        known |= {*parameter.opts, *parameter.secondary_opts}
    options = [word.split("=")[0] for word in words if word.startswith("--")]
    return [option for option in options if option not in known]
