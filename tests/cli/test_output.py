"""How commands print: documents and tables to stdout, warnings to stderr."""

import json
from math import nan

import pytest

from sottovoce.cli import output


def test_json_is_one_document_with_letters_as_they_are(capsys):
    output.print_json({"name": "caffè", "rows": [1]})
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"name": "caffè", "rows": [1]}
    assert "caffè" in printed.out
    assert printed.err == ""


def test_json_never_holds_a_number_that_json_does_not_have():
    with pytest.raises(ValueError, match="JSON compliant"):
        output.print_json({"error": nan})


def test_warnings_do_not_disturb_the_output(capsys):
    output.warn("be careful")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "Warning: be careful\n")


def test_people_are_counted_whole_and_figures_have_digits_of_their_error():
    row = {"truth": 1200.0, "estimate": 1234.4, "low": 1100.2, "high": 1368.9, "share": 0.1234}
    row["error"] = 1.5
    assert output.people_cells(row) == ("1,200", "1,234", "[1,100, 1,369]", "12.3 %")
    assert output.figure_cells(row) == ("1,200.0", "1,234.4", "[1,100.2, 1,368.9]")


def test_no_progress_is_drawn_where_nobody_watches():
    with output.progress(100, visible=False) as advance:
        assert advance is None
    with output.progress(100, visible=True) as advance:
        assert advance is None, "stderr is no terminal here"
