"""Rows for other programs: nothing is lost, and nothing is executed by a spreadsheet."""

import csv
import io
import json
import sys
from math import inf, nan

import pytest

from sottovoce.answers import export
from sottovoce.errors import MissingExtraError, ParameterError

ROWS = [{"value": 'é, or "e"', "estimate": 1.5}, {"value": "b", "low": 2}]


def test_json_keeps_letters_and_numbers():
    text = export.json_text({"rows": ROWS})
    assert json.loads(text) == {"rows": ROWS}
    assert "é" in text


def test_numbers_that_json_does_not_have_become_nothing():
    content = {"a": [1.0, inf], "b": {"c": (nan, "text", None, True)}}
    assert export.finite(content) == {"a": [1.0, None], "b": {"c": [None, "text", None, True]}}


def test_columns_are_those_of_all_rows_as_they_first_appear():
    assert export.column_names(ROWS) == ["value", "estimate", "low"]


def test_csv_quotes_what_needs_it_and_leaves_missing_cells_empty():
    text = export.csv_text(ROWS)
    assert text == 'value,estimate,low\n"é, or ""e""",1.5,\nb,,2\n'
    assert export.csv_text([{"a": 1}], ["b", "a"]) == "b,a\n,1\n"


@pytest.mark.parametrize("library", export.FRAME_LIBRARIES)
def test_a_frame_has_a_column_for_every_name(library):
    pytest.importorskip(library)
    frame = export.frame_of(ROWS, library)
    assert frame.shape == (2, 3)


def test_another_library_is_refused():
    with pytest.raises(ParameterError, match="`library` must be one of pandas, polars, pyarrow"):
        export.frame_of(ROWS, "excel")


def test_a_library_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sottovoce\[frames\]'"):
        export.optional("polars", "frames")


def read(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_text_that_a_spreadsheet_would_execute_gets_an_apostrophe(start):
    formula = f'{start}HYPERLINK("http://a",A1)'
    assert read(export.csv_text([{"value": formula, formula: 1}])) == [
        ["value", f"'{formula}"],
        [f"'{formula}", "1"],
    ]


@pytest.mark.parametrize("cell", ["-5", "+1.5", "-1e-3", "cat", "a=b", "", "'x", " =A1", "-inf"])
def test_other_text_stays_as_it_is(cell):
    assert read(export.csv_text([{"value": cell}, {"value": "end"}]))[1] == (
        [cell] if cell else [""]
    )


def test_numbers_stay_numbers():
    assert (
        export.csv_text([{"a": -5, "b": -0.25, "c": None, "d": True}])
        == "a,b,c,d\n-5,-0.25,,True\n"
    )


def test_columns_come_in_the_order_in_which_they_first_appear_or_as_named():
    rows = [{"a": 1}, {"b": 2, "a": 3}]
    assert export.csv_text(rows) == "a,b\n1,\n3,2\n"
    assert export.csv_text(rows, ["b", "a"]) == "b,a\n,1\n2,3\n"
