"""The page of measurements says what the script counts in this tree."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "house.md"
AGAIN = "print the page again: python scripts/house.py > docs/evidence/house.md"


@pytest.fixture(scope="module")
def house():
    """The script that measures; these tests are a package of the same name."""
    spec = spec_from_file_location("measuring_script", ROOT / "scripts" / "house.py")
    script = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "measuring_script", script)
        spec.loader.exec_module(script)
        yield script


@pytest.fixture(scope="module")
def static(house):
    return list(house.static_rows())


def missing(rows, page):
    """Return the lines of rows that a page does not have, and the reasons of theirs."""
    lines = page.splitlines()
    wanted = [row.line for row in rows]
    wanted += [f"- **{row.what}**: {row.reason}" for row in rows if row.reason]
    return [line for line in wanted if line not in lines]


def test_the_page_says_what_is_counted(static):
    assert not missing(static, PAGE.read_text(encoding="utf-8")), AGAIN


def test_a_page_with_another_number_is_noticed(static):
    page = PAGE.read_text(encoding="utf-8")
    for row in static:
        if row.line in page:
            assert missing([row], page.replace(f"| {row.now} |", f"| {row.now}1 |"))


def test_what_is_not_at_its_aim_has_a_reason(static):
    for row in static:
        if row.now != row.aim:
            assert row.reason, row.what


def test_rows_that_are_at_their_aim_stay_there(static):
    at_aim = {row.what for row in static if row.now == row.aim}
    assert {
        "wordings of the privacy statement",
        "files with byte offsets of the envelope outside `envelope.py`",
        "`isinstance` on noise laws outside their home",
        "comparisons with the kind of a SQL aggregate",
        "refusals that check two settings at once",
        "modules without a test of their name or a pointer to one",
    } <= at_aim


def test_every_file_of_the_package_fits_in_its_columns(house):
    assert house.long_lines() == []
