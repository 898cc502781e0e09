"""Planted values, the small version: liars plant strings, and every one of them is flagged."""

import numpy as np
import pytest

from sottovoce.lab.experiments.planted_values import PLANTED, planting


def test_planted_strings_are_flagged_and_the_frequent_ones_stay():
    found = [planting("SPA", 0.05, run, people=60_000) for run in range(2)]
    print(found)
    assert sum(each.planted for each in found) >= 4
    assert all(each.flagged == each.planted for each in found)
    assert all(each.kept >= each.kept_clean - 1 for each in found)


def test_honest_lies_plant_less():
    by_support = planting("SPA", 0.05, 3, people=60_000)
    by_lies = planting("IMA", 0.05, 3, people=60_000)
    assert by_lies.planted < by_support.planted <= PLANTED


@pytest.mark.papers
def test_the_published_counts_within_their_sampling_error():
    """6.2 of 8 by SPA at 5 %, 0.8 by IMA, none at 2 %: each from 5 runs.

    Our mean of 20 and the published mean of 5 differ by chance with the variance s^2 (1/20 + 1/5).
    """
    expected = {("SPA", 0.05): 6.2, ("IMA", 0.05): 0.8, ("SPA", 0.02): 0.0, ("IMA", 0.02): 0.0}
    for (attack, share), published in expected.items():
        found = [planting(attack, share, run) for run in range(20)]
        planted = np.array([each.planted for each in found])
        window = 5 * max(planted.std(ddof=1), 0.3) * np.sqrt(1 / 20 + 1 / 5)
        print(attack, share, planted.mean(), "published", published, "window", window)
        assert abs(planted.mean() - published) <= window
        assert all(each.flagged == each.planted for each in found)
        assert all(each.kept == each.kept_clean == 8 for each in found)
