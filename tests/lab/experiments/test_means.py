"""The page of means: it is what the mechanisms state today."""

from pathlib import Path

import pytest

from sottovoce.lab.experiments import means
from sottovoce.mechanisms.duchi import Duchi

PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "means.md"


def test_the_page_is_what_its_command_prints():
    assert PAGE.read_text(encoding="utf-8") == means.page()


def test_the_worst_and_the_average_of_duchi_are_those_of_its_formula():
    """c^2 - x^2, over all x of [-1, 1]: c^2 at worst, and c^2 - 1/3 on average."""
    duchi = Duchi(1.0, means.POINTS)
    c = duchi.numbers(duchi.outcomes())[1]
    assert means.worst_variance(duchi) == pytest.approx(c**2, rel=1e-6)
    assert means.average_variance(duchi) == pytest.approx(c**2 - 1 / 3, rel=1e-4)
