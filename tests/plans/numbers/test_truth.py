"""True figures of people whose numbers are known."""

import numpy as np
import pytest

import sottovoce as sv

HOURS = [1.0, 2.0, 3.0, 30.0]


def test_figures_are_of_numbers_within_the_range():
    plan = sv.Mean(0, 24, clamped=True)
    outcome = sv.simulate(sv.Task("hours", plan, 1.0), HOURS, seed=1)
    assert plan.truth(HOURS, outcome) == {"hours": {"mean": 7.5}}


def test_a_distribution_has_figures_and_people_by_interval():
    plan = sv.Distribution(0, 24, 4, clamped=True)
    outcome = sv.simulate(sv.Task("hours", plan, 4.0), HOURS * 50, seed=1)
    true = plan.truth(HOURS * 50, outcome)["hours"]
    assert [true[label] for label in plan.domain.labels] == [150, 0, 0, 50]
    assert true["mean"] == 7.5
    assert true["variance"] == pytest.approx(np.var([1, 2, 3, 24]))
    assert true["50 %"] == pytest.approx(2.5)
    assert set(true) >= set(outcome.highlights().figures)
