"""A command line in this process, and files to give to it."""

import csv

import pytest
from click.testing import CliRunner

from sottovoce.cli.main import commands


@pytest.fixture
def run():
    """Run the command line; returns the result with stdout, stderr and exit_code."""

    def run(*arguments):
        result = CliRunner().invoke(commands, [str(one) for one in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def write(tmp_path):
    """Write rows to a CSV file."""

    def write(header, rows, name="data.csv"):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        return tmp_path / name

    return write
