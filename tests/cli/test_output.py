"""How commands print: documents and tables to stdout, warnings to stderr."""

import json
from io import StringIO
from math import nan

import pytest
from rich.console import Console
from rich.progress import Progress

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


def test_every_stage_is_a_line_where_there_is_no_terminal(capsys):
    with output.stages(visible=True) as stages:
        stages.begin("the crowd answers", 198_000)
        stages.advance(1_000)
        stages.begin("the collector seals", 1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "the crowd answers (198,000)\nthe collector seals (1)\n"
    with output.stages(visible=False) as stages:
        assert stages is None


def test_every_stage_is_a_bar_of_its_own_on_a_terminal():
    with Progress(console=Console(file=StringIO(), force_terminal=True, width=100)) as bars:
        stages = output.DrawnStages(bars)
        stages.begin("the crowd answers", 200)
        stages.advance(150)
        stages.advance(50)
        stages.begin("the collector seals", 2)
        stages.advance(1)
        drawn = [(bar.description, bar.completed, bar.total) for bar in bars.tasks]
    assert drawn == [("the crowd answers", 200, 200), ("the collector seals", 1, 2)]
    text = bars.console.file.getvalue()
    assert "the crowd answers" in text
    assert "100%" in text
    assert "50%" in text


def test_no_progress_is_drawn_where_nobody_watches():
    with output.progress(100, visible=False) as advance:
        assert advance is None
    with output.progress(100, visible=True) as advance:
        assert advance is None, "stderr is no terminal here"
