"""The file that says how to cite the software: it agrees with the package, and states no guess."""

import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize(
    "cited", [CITATION, CITATION["preferred-citation"]], ids=["software", "preferred"]
)
def test_the_software_is_cited_as_the_package_is_named(cited):
    assert cited["type"] == "software"
    assert cited["title"].startswith("Sottovoce: ")
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == [{"name": "The Sottovoce authors"}]


def test_only_what_is_known_is_cited():
    """A release, an address or an identifier enters together with the file that has it."""
    unknown = {"doi", "url", "repository-code", "date-released", "year", "publisher"}
    assert not unknown & {*CITATION, *CITATION["preferred-citation"]}
    assert "urls" not in PROJECT
