"""The pages of evidence: each has a module that prints it, and is written whole or not at all."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from sottovoce.lab.experiments.evidence_pages import PAGES, EvidencePage

EVIDENCE = Path(__file__).parents[3] / "docs" / "evidence"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_there_and_so_is_its_module(page):
    assert (EVIDENCE / f"{page.name}.md").is_file()
    assert find_spec(f"sottovoce.lab.experiments.{page.module}") is not None


def test_a_page_is_what_its_module_prints(tmp_path):
    EvidencePage("figures", "catalogue").write(tmp_path)
    assert (tmp_path / "figures.md").read_text() == ""
    assert [path.name for path in tmp_path.iterdir()] == ["figures.md"]


def test_a_module_that_fails_leaves_the_page_alone(tmp_path):
    (tmp_path / "page.md").write_text("before")
    with pytest.raises(subprocess.CalledProcessError):
        EvidencePage("page", "nowhere").write(tmp_path)
    assert (tmp_path / "page.md").read_text() == "before"
