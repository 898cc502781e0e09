"""The recorded journeys: their commands are those of today, and their pictures are there.

`python scripts/journeys.py` runs them; these checks run nothing.
"""

import re
import shlex
from pathlib import Path

import click
import pytest

from sottovoce.cli.main import commands

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "journeys").glob("*.md"))
USE = re.compile(r"(?<![\w./])sottovoce ((?:[^|;&<>()\n\"]|\"[^\"\n]*\")+)")


def used(page):
    """Yield the words of every command of ours on a page."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    typed = [line[2:] for line in "".join(blocks).splitlines() if line.startswith("$ ")]
    for line in typed:
        for words in USE.findall(line):
            yield shlex.split(words)


def unknown_words(words):
    """Return what the command line does not know of a command: its name, or options."""
    command = commands
    with click.Context(commands) as context:
        while isinstance(command, click.Group):
            name, *words = words
            command = command.get_command(context, name)
            if command is None:
                return [name]
    known = {name for parameter in command.params for name in parameter.opts}
    return [word for word in words if word.startswith("--") and word not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_journey_is_one_of_today(page):
    found = list(used(page))
    assert len(found) >= 4
    for words in found:
        assert unknown_words(words) == [], " ".join(words)


def test_a_command_that_is_gone_is_noticed():
    assert unknown_words(["task", "lst"]) == ["lst"]
    assert unknown_words(["task", "list", "--dta", "x"]) == ["--dta"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_prints_has_printed(page):
    """A page that was written and not run has no output."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"\$ sottovoce (simulate|answer|sql|task check)[^\n]*\n(\$|```)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_are_there_in_light_dark_and_narrow(page):
    for name in re.findall(r"<!-- screen (\S+) ", page.read_text(encoding="utf-8")):
        for suffix in ("", "-dark", "-narrow"):
            picture = ROOT / "docs" / "images" / "journeys" / f"{name}{suffix}.png"
            assert picture.stat().st_size > 5_000, picture.name
