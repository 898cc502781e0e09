"""The list of all figures and tables: complete, and every item is reproduced or says why not."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sottovoce.lab.experiments.base import experiment, experiments
from sottovoce.lab.experiments.catalogue import PAPERS, catalogue
from sottovoce.lab.experiments.results import Results

ROOT = Path(__file__).parents[3]
# By formula, so that they take no time and have one verdict at every size.
FORMULAS = {
    "wang-3-1": "reproduced",
    "wang-4-1": "reproduced",
    "wang-5-1": "reproduced",
    "wang-5-5": "differs",
    "wang-6-3": "claims hold",
    "wang-7-3": "claims hold",
    "wang-7-4": "claims hold",
    "wang-7-8": "claims hold",
    "wang-7-9": "claims hold",
    "wang-7-10": "differs",
    "wang-9-1-table": "claims hold",
    "wang-9-2-table": "differs",
    "wang-9-3-table": "differs",
    "wang-9-3": "claims hold",
    "cormode-table-2": "claims hold",
    "du-4-4": "claims hold",
    "du-5-4-table": "differs",
    "xu-8": "claims hold",
}


def test_every_figure_and_table_of_the_papers_is_listed():
    """Numbers of tables and figures as the lists of the theses and the papers have them."""
    counts = Counter((item.paper, item.label.split()[0]) for item in catalogue())
    assert counts == {
        ("wang", "Table"): 15,
        ("wang", "Figure"): 52,
        ("cormode", "Table"): 3,
        ("cormode", "Figure"): 10,
        ("consistency", "Table"): 1,
        ("consistency", "Figure"): 10,
        ("du", "Table"): 7,
        ("du", "Figure"): 34,
        ("xu", "Table"): 2,
        ("xu", "Figure"): 12,
    }
    assert {item.paper for item in catalogue()} == set(PAPERS)
    keys = [item.key for item in catalogue()]
    assert len(set(keys)) == len(keys)


def test_what_experiments_reproduce_is_in_the_list():
    keys = {item.key for item in catalogue()}
    for each in experiments().values():
        assert set(each.reproduces) <= keys, each.name


@pytest.mark.parametrize("item", catalogue(), ids=lambda item: item.key)
def test_an_item_has_an_experiment_or_a_verdict(item):
    assert bool(item.experiments) != (item.listed is not None)
    if item.listed is None:
        return
    assert bool(item.listed.because) == (item.listed.word != "reproduced")
    if item.listed.word != "not possible here":
        assert item.test, "somebody must assert it"


@pytest.mark.parametrize("test", sorted({item.test for item in catalogue() if item.test}))
def test_the_tests_in_the_list_are_there(test):
    assert (ROOT / test).is_file()


@pytest.mark.parametrize("name", FORMULAS)
def test_verdicts_of_formulas(name):
    result = Results().get(experiment(name), "quick", lambda share: None)
    assert result.verdict.word == FORMULAS[name], result.verdict


def test_the_gallery_has_every_item_and_every_picture():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for item in catalogue():
        assert f"| {item.label} | {item.shows} |" in page, item.key
    pictures = sorted((ROOT / "docs" / "images" / "gallery").glob("*.png"))
    assert {path.stem for path in pictures} == set(experiments())
    assert all(f"images/gallery/{path.name}" in page for path in pictures)
    sizes = [path.stat().st_size for path in pictures]
    assert max(sizes) <= 60_000
    assert sum(sizes) <= 3_000_000


def test_the_gallery_counts_what_is_in_the_list():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"\d+", page.split("## The count")[1])[:8]]
    total, drawings, measured, drawn, runs = numbers[:5]
    assert total == len(catalogue())
    assert measured == sum(item.is_measured for item in catalogue()) == total - drawings
    assert drawn == sum(bool(item.experiments) for item in catalogue())
    assert runs == len(experiments())
