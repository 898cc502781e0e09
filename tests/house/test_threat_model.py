"""The threat model names every party, and tests that exist for what it says is stopped."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "threat-model.md"
PARTIES = (
    "The collector",
    "A network observer",
    "Other users",
    "Whoever steals a device",
    "Whoever serves the client code",
    "A hop of a shuffler",
    "The issuer of tokens",
    "An analyst",
    "An operator",
    "A hostile client",
)
COLUMNS = "| what it can do | what it learns or achieves | what stops it | shown by |"


def rows_of(party):
    """The rows of a party's table, each a list of cells."""
    section = PAGE.read_text().split(f"\n## {party}\n")[1].split("\n## ")[0]
    _, table = section.split(COLUMNS)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def missing_tests(cell):
    """The tests that a cell names and that are not in the linked files; none named counts too."""
    links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", cell)
    return [name for name, target in links if not _is_there(name, PAGE.parent / target)] or (
        [] if links else ["no test is named"]
    )


def _is_there(name, path):
    text = path.read_text() if path.is_file() else ""
    definition = f'test("{name}"' if path.suffix == ".js" else f"\ndef {name}("
    return definition in text


@pytest.mark.parametrize("party", PARTIES)
def test_every_row_of_a_party_names_tests_that_exist(party):
    rows = rows_of(party)
    assert len(rows) >= 2
    for row in rows:
        assert len(row) == 4, row
        if row[2].startswith("not stopped"):
            assert row[3] == "none", row[0]
        else:
            assert missing_tests(row[3]) == [], row[0]


def test_a_name_without_a_test_is_noticed():
    there = "[test_a_name_without_a_test_is_noticed](../tests/house/test_threat_model.py)"
    assert missing_tests(there) == []
    assert missing_tests(there.replace("[test_a_", "[test_no_")) != []
    assert missing_tests("somebody has looked at it") != []
