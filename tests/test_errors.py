"""Errors: one exit code and one HTTP status each, under one root."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from sottovoce import errors
from sottovoce.errors import EXTRAS, MissingExtraError, SottovoceError, UnavailableError

DISTRIBUTIONS = {"sklearn": "scikit-learn", "prometheus_client": "prometheus-client"}

CLASSES = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, SottovoceError)
]


def test_every_class_has_an_exit_code_of_its_own():
    codes = sorted(member.exit_code for member in CLASSES)
    assert codes == list(range(1, len(CLASSES) + 1))


def test_every_class_has_a_status_of_an_error():
    assert all(400 <= member.status < 600 for member in CLASSES)


def test_only_unavailability_says_when_to_try_again():
    assert UnavailableError("busy").retry_after is None
    assert UnavailableError("busy", 3.5).retry_after == 3.5


def test_every_extra_that_an_error_names_installs_the_module():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for module, extra in EXTRAS.items():
        installed = {re.split(r"[\[<>=;]", line)[0] for line in extras[extra]}
        assert DISTRIBUTIONS.get(module, module) in installed, module


def test_every_optional_dependency_has_its_extra_in_the_table():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    named = {DISTRIBUTIONS.get(module, module) for module in EXTRAS}
    for lines in project["project"]["optional-dependencies"].values():
        installed = {re.split(r"[\[<>=;]", line)[0] for line in lines} - {"sottovoce"}
        assert installed <= named


def test_a_module_that_is_not_ours_is_no_missing_extra():
    assert MissingExtraError.of(ModuleNotFoundError(name="somebody")) is None
    assert MissingExtraError.of(ModuleNotFoundError("without a name")) is None


@pytest.mark.parametrize("name", ["numba.core", "numba"])
def test_a_module_inside_a_package_is_found_by_its_package(name):
    assert "sottovoce[server]" in str(MissingExtraError.of(ModuleNotFoundError(name=name)))
