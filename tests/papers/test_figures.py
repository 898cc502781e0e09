"""Every experiment: the verdict that the gallery shows, at both sizes."""

import json
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

import pytest
from click.testing import CliRunner

from sottovoce.cli.lab import command
from sottovoce.lab.experiments import figures
from sottovoce.lab.experiments.base import experiment, experiments
from sottovoce.lab.experiments.results import Results

# What differs from the paper, and the claims that do not hold; all others are reproduced.
DIFFERS = {
    "cormode-table-3": [],
    "du-5-4-table": [],
    "du-6-4": [],
    "du-6-11": ["in most cases DE-EMF* outperforms no defence"],
    "wang-consistency-4-emoji": ["Norm-Sub lowers the error a hundredfold"],
    "wang-consistency-6": ["Base-Cut beats Base on sets"],
    "wang-consistency-8": ["Post-Pos works best on these sets at a small epsilon"],
    "wang-4-2-table": [],
    "wang-4-4": ["its advantage is largest at epsilon 2"],
    "wang-5-5": [],
    "wang-6-6": [
        "below majority and close to no noise (0.02) at epsilon 1.4 with sixteen times the people"
    ],
    "wang-6-8": [
        "results are best when views are planned for the order that is asked for",
        "planned for a larger order they are better than for a smaller one",
    ],
    "wang-7-10": ["SC is better than HIO for all types but 2+1"],
    "wang-9-2-table": [],
    "wang-9-3-table": [],
    "xu-2-table": ["AHIO and EHIO are better than HIO"],
}
# What holds at the size of the paper, and not at the quick one: two runs are too few for it.
ENOUGH_AT_FULL_SIZE = {"du-6-11"}


def test_every_file_of_figures_holds_experiments():
    modules = {type(each).__module__.rpartition(".")[2] for each in experiments().values()}
    assert modules == {module.name for module in iter_modules(figures.__path__)}


def check_verdict(name, document, differs):
    """The verdict, and which claims fail: a known difference cannot hide another one."""
    failed = [claim["text"] for claim in document["claims"] if not claim["holds"]]
    print(name, document["size"], document["verdict"], failed)
    if name in differs:
        assert document["verdict"].startswith("differs")
        assert failed == differs[name]
    else:
        has_values = any(row["published"] is not None for row in document["rows"])
        assert document["verdict"] == ("reproduced" if has_values else "claims hold")
        assert document["evidence"]["published"] + document["evidence"]["claims"] > 0


@pytest.mark.papers
@pytest.mark.parametrize("name", experiments())
def test_verdict(name):
    result = Results().get(experiment(name), "quick", lambda share: None)
    check_verdict(name, result.as_plain_data(), DIFFERS)


def of_command(*arguments):
    """What the command line says, with the folder of results that it keeps."""
    outcome = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    return json.loads(outcome.stdout)


@cache
def kept_at_full_size():
    listed = of_command("list")["experiments"]
    return {each["name"] for each in listed if "full" in each["kept"]}


@pytest.mark.papers
@pytest.mark.parametrize("name", experiments())
def test_verdict_at_full_size(name):
    """``make papers`` computes every experiment at full size first; here results are only read."""
    if name not in kept_at_full_size():
        pytest.skip(f"no result is kept: run `sottovoce lab run {name} --size full` first")
    expected = {each: failed for each, failed in DIFFERS.items() if each not in ENOUGH_AT_FULL_SIZE}
    check_verdict(name, of_command("run", name, "--size", "full"), expected)


def test_the_gallery_says_the_same():
    """It shows most experiments at the size of the paper."""
    page = (Path(__file__).parents[2] / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in experiments():
        shown = page.split(f"### {name}\n")[1].split("###")[0]
        is_enough = name in ENOUGH_AT_FULL_SIZE and "size of the paper" in shown
        assert ("**Differs" in shown) == (name in DIFFERS and not is_enough), name
