"""Advice: what it predicts is what a simulation shows."""

import json

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.advice import advise_histogram


def squared_errors(answer, users):
    """Return the squared errors of the shares of all values but the first, which everybody
    holds.
    """
    return (answer.estimate.totals[1:] / users) ** 2


@pytest.mark.parametrize(
    ("size", "epsilon", "users", "runs"),
    [(4, 1.0, 2_000, 420), (64, 1.0, 5_000, 25), (300, 2.0, 4_000, 10), (20, 0.5, 3_000, 70)],
)
def test_the_error_of_a_rare_value_is_as_predicted(size, epsilon, users, runs):
    """Within 10 %, which is five standard errors of the simulated root mean square or more."""
    task = sv.Task("t", sv.Histogram(range(size)), epsilon)
    held = np.zeros(users, np.int64)
    squares = [squared_errors(sv.simulate(task, held, seed=seed), users) for seed in range(runs)]
    simulated = np.sqrt(np.mean(squares))
    assert simulated == pytest.approx(advise_histogram(users, size, epsilon).error, rel=0.1)


def test_the_error_over_all_values_is_as_predicted():
    """Everybody holds the first value of six: its larger variance counts one sixth, whoever holds
    what.
    """
    users, task = 2_000, sv.Task("t", sv.Histogram(range(6)), 3.0)
    held = np.zeros(users, np.int64)
    truth = np.array([1.0, 0, 0, 0, 0, 0])
    runs = [sv.simulate(task, held, seed=seed).estimate.frequencies - truth for seed in range(500)]
    advice = advise_histogram(users, 6, 3.0)
    assert np.sqrt(np.mean(np.square(runs))) == pytest.approx(advice.average_error, rel=0.1)
    assert advice.average_error > 1.1 * advice.error


def test_the_error_of_three_questions_is_as_predicted():
    users, size = 12_000, 50
    task = sv.Task("t", sv.Survey({name: range(size) for name in "abc"}), 1.0)
    held = dict.fromkeys("abc", np.zeros(users, np.int64))
    answers = [sv.simulate(task, held, seed=seed) for seed in range(12)]
    simulated = np.sqrt(
        np.mean([squared_errors(part, users) for one in answers for part in one.values()])
    )
    predicted = advise_histogram(users, size, 1.0, questions=3)
    assert simulated == pytest.approx(predicted.error, rel=0.1)
    assert predicted.error > 1.6 * advise_histogram(users, size, 1.0).error


@pytest.mark.parametrize(("share", "questions"), [(0.4, 3)])
def test_the_drawing_of_groups_counts_for_frequent_values(share, questions):
    """A value that 40 % hold, at epsilon 4: without the drawing the prediction would be a fifth too
    small.
    """
    from sottovoce.mechanisms.grr import GRR
    from sottovoce.plans.frequencies.advice import Respondents

    users, size = 3_000, 5
    held = np.zeros(users, np.int64)
    held[int(share * users) :] = 1
    task = sv.Task("t", sv.Survey({name: range(size) for name in "abc"}, mechanism="grr"), 4.0)
    answers = [sv.simulate(task, dict.fromkeys("abc", held), seed=seed) for seed in range(500)]
    errors = [part.estimate.frequencies[0] - share for one in answers for part in one.values()]
    grr = GRR(4.0, size)
    predicted = Respondents(users, questions).error(grr, share)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(predicted, rel=0.1)
    assert Respondents(users // questions, 1).error(grr, share) < 0.8 * predicted


def test_a_detectable_value_is_detected_95_times_in_100():
    users, runs = 2_000, 600
    advice = advise_histogram(users, 4, 1.5)
    held = (np.arange(users) >= round(advice.detectable * users)).astype(np.int64) * 3
    task = sv.Task("t", sv.Histogram(range(4)), 1.5)
    found = np.mean(
        [sv.simulate(task, held, seed=seed).estimate.significant()[0] for seed in range(runs)]
    )
    reach = 5 * np.sqrt(0.95 * 0.05 / runs)
    assert abs(found - 0.95) < reach, (found, reach)


def test_nothing_is_detectable_where_everybody_could_pass_for_noise():
    advice = advise_histogram(users=50, size=1_000, epsilon=0.1)
    assert advice.detectable is None
    assert "could pass for noise" in str(advice)


@pytest.mark.parametrize("questions", [1, 4])
def test_the_users_needed_suffice_and_fewer_do_not(questions):
    needed = advise_histogram(1_000, 100, 1.0, questions=questions, error=0.01).users_needed
    assert advise_histogram(needed, 100, 1.0, questions=questions).error <= 0.01
    assert advise_histogram(needed - questions, 100, 1.0, questions=questions).error > 0.01


@pytest.mark.parametrize(
    ("epsilon", "questions", "ratio"),
    [
        (1.0, 1, 1.0),
        (1.0, 2, 2.128),
        (1.0, 4, 4.322),
        (2.0, 4, 5.411),
        (4.0, 2, 4.762),
        (4.0, 8, 25.77),
    ],
)
def test_splitting_costs_what_was_published(epsilon, questions, ratio):
    """Wang 2021, section 3.4.2."""
    assert advise_histogram(1_000, 100, epsilon, questions=questions).split_ratio == pytest.approx(
        ratio, rel=5e-4
    )


@pytest.mark.parametrize("size", [4, 1_000])
def test_a_message_has_the_predicted_bytes(size):
    message = sv.Client(sv.Task("t", sv.Histogram(range(size)), 1.0), ":memory:").answer(0)
    assert advise_histogram(1_000, size, 1.0).message_bytes == len(message)


@pytest.mark.parametrize("size", [20, 500])
def test_the_advised_mechanism_has_the_least_average_error_of_all_short_reports(size):
    """Reports of subset selection are longer than ten bytes from 81 values on."""
    advice = advise_histogram(10_000, size, 1.0)
    by_kind = {one.mechanism: one for one in advice.alternatives}
    assert {"grr", "affine", "subset"} <= set(by_kind)
    assert by_kind[advice.mechanism].average_error == advice.average_error
    short = [one for one in advice.alternatives if one.report_bytes <= 10]
    assert all(one.average_error >= advice.average_error * (1 - 1e-9) for one in short)
    assert advice.mechanism == ("subset" if size <= 80 else "affine")


def test_a_mechanism_that_cannot_serve_the_domain_is_left_out():
    assert "affine" not in {one.mechanism for one in advise_histogram(1_000, 2, 1.0).alternatives}


def test_the_rule_can_be_the_published_one():
    assert advise_histogram(1_000, 6, 1.0, rule="published").mechanism == "grr"


def test_advice_is_text_and_json():
    advice = advise_histogram(users=50_000, size=1_000, epsilon=1.0, questions=3, error=0.005)
    assert json.loads(advice.to_json())["mechanism"] == advice.mechanism
    for word in ("affine", "95 % margin", "users needed", "splitting", "16,666 reports"):
        assert word in str(advice)


@pytest.mark.parametrize(
    "settings",
    [
        {"users": 0},
        {"users": 1.5},
        {"users": True},
        {"size": 1},
        {"epsilon": 0},
        {"epsilon": 21},
        {"questions": 0},
        {"questions": 1_001},
        {"error": 0},
        {"error": 1},
        {"error": float("nan")},
        {"rule": "hope"},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        advise_histogram(**{"users": 1_000, "size": 10, "epsilon": 1.0, **settings})
