"""The gallery is written from results."""

import pytest

from sottovoce.lab.experiments import catalogue as module
from sottovoce.lab.experiments.base import experiment
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
    assert "- 1 are reproduced, 1 differ, and" in page
    assert "  0 at the size of the paper and 2 at the quick size;" in page
    assert page.count("; quick size.") == 2
    assert (
        "| Table 5.1 | direct response | reproduced | [`wang-5-1`](#wang-5-1), [test_wang" in page
    )
    assert "| Figure 5.2 | a drawing | not possible here, because it is a toy |  |" in page
    assert "- 30 of 30 printed values are met." in page
    assert "- 47 of 60 printed values are met." in page
    assert "![Epsilon inside, randomised response after sampling](images/gallery/wang-5-1" in page


def test_pictures_stand_beside_the_page(results, tmp_path):
    pytest.importorskip("matplotlib")
    write_gallery(results, tmp_path)
    assert (tmp_path / "gallery.md").read_text(encoding="utf-8") == gallery_page(results)
    assert len(list((tmp_path / "images" / "gallery").glob("*.png"))) == 2
