"""The page of evidence: its sections, and that the committed page is what the command prints."""

from pathlib import Path

from sottovoce.lab.experiments import poisoning
from sottovoce.lab.experiments.pieces import Pieces
from sottovoce.lab.experiments.poisoning.__main__ import main
from sottovoce.lab.experiments.poisoning.page import (
    CORRECTED,
    MAIN,
    METHODS,
    Sizes,
    mean_errors,
    page,
)
from sottovoce.lab.experiments.poisoning.scenario import Errors, Measured

COMMITTED = Path(__file__).parents[4] / "docs" / "evidence" / "poisoning.md"
NONE = {"runs": 0, "other_runs": 0, "power_runs": 0, "coverage_runs": 0, "clean_rounds": 0}


def test_clean_rounds_are_listed_by_test():
    text = page(Pieces(), Sizes(**NONE | {"clean_rounds": 10}))
    assert "## False alarms" in text
    assert "Rounds with an alarm: 0 of 10." in text
    assert "## Power" not in text


def test_a_sitting_that_is_too_short_says_so(tmp_path, capsys):
    sizes = [f"--{name.replace('_', '-')}=0" for name in NONE]
    arguments = [*sizes[:-1], "--clean-rounds=10", f"--keep={tmp_path}", "--seconds=-1"]
    assert main(arguments) == 3
    assert "run the same command again" in capsys.readouterr().err
    assert main([*sizes, f"--keep={tmp_path}"]) == 0
    assert capsys.readouterr().out.startswith("# Poisoned frequency collections")


def test_errors_are_means_in_millionths():
    runs = [Measured((), 0.0, {"ours": Errors(squared, 0.5)}, ()) for squared in (1e-6, 3e-6)]
    assert mean_errors(runs, "ours") == Errors(2.0, 0.5)


def rows_of(title):
    section = COMMITTED.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]


def test_the_committed_page_has_the_rows_and_claims_of_the_decision():
    """Ours at most half of LDPRecover's error and 1.25 of the honest one; RIA and SPA not seen."""
    rows = {row[0]: row for row in rows_of("The setting of the papers") if len(row) == 10}
    assert set(rows) - {"attack"} == {scenario.name for scenario in MAIN}
    assert rows["attack"][4:] == list(METHODS)
    assert rows["none"][1] == "no alarm"
    assert rows["RIA"][1] == rows["SPA"][1] == "**not seen**"
    achieved = {row[0]: row for row in rows_of("The setting of the papers") if len(row) == 4}
    for scenario in CORRECTED:
        of_recover, of_honest, gain = map(float, achieved[scenario.name][1:])
        assert of_recover <= 0.5
        assert of_honest <= 1.25
        assert gain <= 0.05


def test_the_committed_page_has_at_most_one_alarm_among_a_thousand_clean_rounds():
    text = COMMITTED.read_text(encoding="utf-8")
    assert any(f"Rounds with an alarm: {count} of 1000." in text for count in (0, 1))


def test_the_experiment_has_a_name():
    assert poisoning.__doc__
