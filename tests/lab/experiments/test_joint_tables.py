import numpy as np
import pytest

from sottovoce.lab.experiments.joint_tables import (
    Distances,
    JointSetting,
    collect_views,
    compare,
    coverage,
    swept_row,
)
from sottovoce.lab.populations.survey_tables import survey

HEALTH = survey("health").people(8_000)


def test_collected_views_are_those_of_the_people():
    """At a large epsilon a table is that of its own group."""
    reported = collect_views(HEALTH, [(0, 1)], 12.0, seed=1)
    cells = HEALTH.records[:, 0] * 4 + HEALTH.records[:, 1]
    true = np.bincount(cells, minlength=16) / len(cells)
    np.testing.assert_allclose(reported.tables[0, 1].shares.ravel(), true, atol=0.002)


def test_all_methods_are_compared_with_the_same_seeds():
    found = compare(JointSetting(HEALTH, 2, 2.0), runs=2)
    assert found.chosen in found.swept
    assert found.regret >= 1
    assert min(found.regrets.values()) == found.regrets[found.best] == 1
    row = swept_row("health", found)
    assert row.startswith("| health | 2 | 2 | 1:1 ")
    assert row.count(" ours") == 1
    assert found.ours.mean < found.published.mean
    assert found.ours.mean < found.coefficients.mean
    assert 0.3 < found.ours.mean / found.expected < 3
    assert found.ours.ratio_to(found.ours) == "1.00 ± 0.00"
    assert Distances((2.0, 4.0)).ratio_to(Distances((1.0, 2.0))) == "2.00 ± 0.00"


def test_intervals_are_counted():
    setting = JointSetting(HEALTH, 2, 2.0)
    found = coverage([setting.pooled(setting.planning.layout(), 1)], setting)
    assert 0.85 < found.covered <= 1
    assert 0 < found.length < 0.5


@pytest.mark.papers
def test_the_planner_is_near_the_best_layout_on_the_health_survey():
    for epsilon in (0.5, 2.0):
        assert compare(JointSetting(survey("health"), 2, epsilon)).regret < 1.1
