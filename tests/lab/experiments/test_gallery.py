"""The gallery is written from results."""

import re
from pathlib import Path

import pytest

from sottovoce.lab.experiments import catalogue as module
from sottovoce.lab.experiments.base import FigureEvidence, experiment
from sottovoce.lab.experiments.catalogue import Item
from sottovoce.lab.experiments.gallery import gallery_page, write_gallery
from sottovoce.lab.experiments.results import Results

NOT_POSSIBLE = module.FigureVerdict("not possible here", "it is a toy")


@pytest.fixture
def results(monkeypatch):
    """Two experiments, and a list of three items."""
    items = (
        Item("wang-table-5.1", "direct response", "tests/papers/test_wang_chapter5.py", None),
        Item("wang-table-5.2", "local hashing", "", None),
        Item(
            "wang-figure-5.2",
            "a drawing",
            "",
            NOT_POSSIBLE,
        ),
    )
    monkeypatch.setattr("sottovoce.lab.experiments.gallery.catalogue", lambda: items)
    names = ("wang-5-1", "wang-5-5")
    return [Results().get(experiment(name), "quick", lambda share: None) for name in names]


def test_the_page_counts_lists_and_shows(results):
    page = gallery_page(results)
    assert "- 3 figures and tables in the five papers; 1 of" in page
    assert "- 1 are reproduced, value by value; of 0 without" in page
    assert "  0 at the size of the paper and 2 at the quick size;" in page
    assert page.count("; quick size.") == 2
    assert "| Table 5.1 | direct response | reproduced | 30 of 30 published values" in page
    assert "| Figure 5.2 | a drawing | not possible here, because it is a toy |  |  |" in page
    assert "- 30 of 30 printed values are met." in page
    assert "- 47 of 60 printed values are met." in page
    assert "![Epsilon inside, randomised response after sampling](images/gallery/wang-5-1" in page


def test_pictures_stand_beside_the_page(results, tmp_path):
    pytest.importorskip("matplotlib")
    write_gallery(results, tmp_path)
    assert (tmp_path / "gallery.md").read_text(encoding="utf-8") == gallery_page(results)
    assert len(list((tmp_path / "images" / "gallery").glob("*.png"))) == 2


def sections(page):
    """Return the experiments of the page: their verdicts, and the evidence that is listed."""
    listed = {}
    for part in page.split("\n### ")[1:]:
        name, _, rest = part.partition("\n")
        word = re.search(r"^\*\*(Reproduced|Claims hold|Differs)", rest, re.MULTILINE)
        if word is None:
            continue
        values = re.search(r"^- (\d+) of (\d+) printed values", rest, re.MULTILINE)
        met, published = map(int, values.groups()) if values else (0, 0)
        held = len(re.findall("^- Holds: ", rest, re.MULTILINE))
        claims = held + len(re.findall("^- Does not hold: ", rest, re.MULTILINE))
        evidence = FigureEvidence(published, met, claims, held)
        listed[name] = (word[1].lower(), evidence)
    return listed


def test_the_committed_page_counts_what_every_verdict_rests_on():
    """Its table says what the sections of the experiments say."""
    page = (Path(__file__).parents[3] / "docs" / "gallery.md").read_text(encoding="utf-8")
    listed = sections(page)
    assert set(listed) == {each.name for item in module.catalogue() for each in item.experiments}
    for word, evidence in listed.values():
        if word == "reproduced":
            assert evidence.published == evidence.met > 0
            assert evidence.claims == evidence.held
        elif word == "claims hold":
            assert evidence.published == 0
            assert evidence.claims == evidence.held > 0
    tables = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    rows = [cells for cells in tables if cells[0] != "| item"]
    for item, cells in zip(module.catalogue(), rows, strict=True):
        found = (listed[each.name][1] for each in item.experiments)
        assert cells[3].strip(" |") == str(sum(found, start=FigureEvidence()))
