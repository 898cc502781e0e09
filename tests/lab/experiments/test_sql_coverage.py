"""Random worlds and queries: intervals hold the truth as often as they say."""

import numpy as np
import pytest

from sottovoce.lab.experiments import sql_coverage
from sottovoce.lab.experiments.sql_coverage import SqlCoverage, by, worlds

LEAST, MOST = 0.94, 0.97


def observed(count, runs, queries):
    found = []
    for world in worlds(count, runs):
        for trial in world.trials(queries):
            found += trial.observed()
    return found


@pytest.fixture(scope="module")
def few():
    return observed(3, 12, 3)


def test_a_world_is_the_same_for_the_same_seed():
    first, second = (next(worlds(1, 2)) for _ in range(2))
    assert [each.text for each in first.trials(5)] == [each.text for each in second.trials(5)]
    assert (first.columns["people"]["age"] == second.columns["people"]["age"]).all()


def test_a_few_worlds_are_covered_and_narrower_intervals_are_caught(few, monkeypatch):
    """Numbers of one query depend on each other, so the window is calibrated, not derived."""
    overall = SqlCoverage.of(few)
    assert overall.figures > 300
    assert 0.92 < overall.covered <= 0.99
    assert overall.certain_and_wrong == 0
    interval = sql_coverage.Figure.interval
    monkeypatch.setattr(
        sql_coverage.Figure, "interval", lambda self, level=0.673: interval(self, level)
    )
    assert SqlCoverage.of(few).covered < 0.9


@pytest.mark.papers
def test_every_kind_of_number_is_covered():
    found = sql_coverage.noisy(sql_coverage.collected())
    assert len(found) > 20_000
    for name in ("aggregate", "epsilon", "join", "group"):
        for kind, coverage in by(found, name).items():
            slack = 4 * np.sqrt(0.05 / max(coverage.figures, 1) * 8)  # eight alike in a query
            least, most = LEAST - slack, MOST + slack
            if kind in sql_coverage.DISCRETE:  # the interval of a whole number is too wide
                most = 1.0
            assert least < coverage.covered < most, kind
    assert not any(each.certain_and_wrong for each in found)
