"""A command line in this process, and files to give to it."""

import csv
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import sottovoce
from sottovoce.cli.main import commands
from sottovoce.errors import EXTRAS

_MISSING = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


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


@pytest.fixture(scope="session")
def install_without(tmp_path_factory):
    """Return the environment of a process that does not find the modules of some extras."""

    def environment(*extras):
        folder = tmp_path_factory.mktemp("installed")
        modules = {module for module, extra in EXTRAS.items() if extra in extras}
        (folder / "sitecustomize.py").write_text(_MISSING.format(modules=modules))
        source = Path(sottovoce.__file__).parents[1]
        return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(source)])}

    return environment


@pytest.fixture(scope="session")
def base_install(install_without):
    """Return the environment of a process that finds none of the optional dependencies."""
    return install_without(*EXTRAS.values())
