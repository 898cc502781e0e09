"""The page of the default mechanism: it is what the rules choose today."""

from pathlib import Path

import pytest

from sottovoce.lab.experiments import default_mechanism as experiment
from sottovoce.mechanisms.subset import SubsetSelection

PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "default-mechanism.md"


def test_the_page_is_what_its_command_prints():
    assert PAGE.read_text(encoding="utf-8") == experiment.page()


@pytest.mark.parametrize(("size", "epsilon"), [(20, 0.5), (1_000, 2.0), (30_000, 9.0)])
def test_the_least_variance_is_that_of_subset_selection(size, epsilon):
    exact = experiment.variance(SubsetSelection(epsilon, size))
    assert experiment.least_variance(size, epsilon) == pytest.approx(exact, rel=1e-9)


def test_the_default_never_loses_to_the_earlier_one():
    gains = [
        experiment.gain(size, epsilon)
        for size in (2, 5, 20, 80, 300, 100_000)
        for epsilon in (0.5, 2.0, 10.0)
    ]
    assert min(gains) >= 1 - 1e-9
    assert max(gains) > 1.6  # 100,000 values at epsilon 10
