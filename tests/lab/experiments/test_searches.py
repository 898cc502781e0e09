"""The experiment on real texts: what it measures, in the small."""

from math import isnan

import pytest

from sottovoce.lab.experiments import searches
from sottovoce.lab.experiments.searches import SearchScore, gain, judged, population
from sottovoce.lab.simulate import simulate
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.task import Task


def test_populations_are_texts_as_devices_cut_them():
    held = population("english words", 5_000, 6)
    assert sum(held.values()) == 5_000
    assert max(len(text.encode()) for text in held) == 6
    assert list(held.values()) == sorted(held.values(), reverse=True)


def test_the_gain_is_a_mean_with_students_interval():
    ours = [SearchScore(score, 0.0, 0.0, 0, 0) for score in (0.9, 0.8, 1.0)]
    theirs = [SearchScore(score, 0.0, 0.0, 0, 0) for score in (0.5, 0.5, 0.5)]
    mean, half_width = gain(ours, theirs)
    assert mean == pytest.approx(0.4)
    assert half_width == pytest.approx(4.30 * 0.1 / 3**0.5)


def test_a_search_that_finds_everything_is_judged_so():
    held = {"tea": 900, "oat": 600}
    plan = HeavyHitters(searches.Strings(3), 2)
    people = [text for text, count in held.items() for _ in range(count)]
    answer = simulate(Task("words", plan, 8.0), people, seed=1)
    score = judged(plan, 8.0, held, answer)
    assert (score.f1, score.ncr) == (1.0, 1.0)
    assert score.error < 100
    assert score.kept_promises == score.promised == 2
    other = judged(plan, 8.0, {"fig": 900, "rye": 600}, answer)
    assert other.f1 == 0.0
    assert isnan(other.error)


def test_the_held_out_shapes_are_most_of_them():
    assert set(searches.TUNED) < set(searches.SHAPES)
    assert len(searches.SHAPES) - len(searches.TUNED) == 7
