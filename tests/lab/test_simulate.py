"""A simulation says what speaks against its task, and adds the fakes of shufflers."""

import warnings

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ConcernWarning
from sottovoce.lab.checks import FIVE_SIGMA
from tasks.toys import shuffle

RUNS = 300


def songs(epsilon):
    return sv.Task("songs", sv.AdaptiveTopItems(range(2000), 400, 2, rounds=2), epsilon)


def test_every_concern_is_a_warning():
    with pytest.warns(ConcernWarning, match="pruning 2,000 items") as caught:
        sv.simulate(songs(0.5), [[1, 2]] * 400, seed=1)
    assert [str(one.message) for one in caught] == list(songs(0.5).concerns)
    assert caught[0].filename == __file__, "it names the line that asked for the simulation"


def test_without_concerns_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sv.simulate(sv.Task("pets", sv.Histogram(["a", "b"]), 1.0), ["a"] * 10, seed=1)


def shuffled(plan, epsilon, fakes):
    return sv.Task("shuffled", plan, epsilon, shuffle=shuffle(epsilon, fakes, hops=2))


def test_a_shuffled_task_has_the_fakes_of_all_its_hops():
    task = shuffled(sv.Histogram(["a", "b", "c"]), 3.0, fakes=200)
    answer = sv.simulate(task, ["a"] * 300, seed=1)
    assert answer.users == 300
    assert answer.estimate.noise.fakes.count.mean == 400
    again = sv.simulate(task, ["a"] * 300, seed=1)
    assert answer.rows() == again.rows()


def deviations(task, values, truth):
    """Return how far the mean of many runs is from the truth, and what the spread is of the stated.

    ``truth`` gives for the name of a part the counts of its first values.
    """
    totals = []
    variances = []
    for seed in range(RUNS):
        outcome = sv.simulate(task, values, seed=seed)
        parts = [(outcome.questions()[name].estimate, len(counts)) for name, counts in truth]
        totals.append(np.concatenate([part.totals[:count] for part, count in parts]))
        variances.append(np.concatenate([part.variance[:count] for part, count in parts]))
    drawn = np.array(totals)
    expected = np.concatenate([counts for _, counts in truth])
    stated = np.array(variances).mean(axis=0)
    sigmas = (drawn.mean(axis=0) - expected) / np.sqrt(stated / RUNS)
    ratios = ((drawn - expected) ** 2).mean(axis=0) / stated
    print("means off by", sigmas.round(2), "sigma; variance over the stated one", ratios.round(2))
    return sigmas, ratios


# Of the variance of so many normal numbers, over the true one.
RATIO = FIVE_SIGMA * np.sqrt(2 / RUNS)


@pytest.mark.parametrize("kind", ["grr", "olh", "oue", "subset", "affine", "hadamard"])
def test_a_histogram_with_more_fakes_than_people_is_unbiased(kind):
    task = shuffled(sv.Histogram(range(8), kind), 2.0, fakes=400)
    values = [0] * 250 + [1] * 150 + [5] * 100
    truth = [("shuffled", [250, 150, 0, 0, 0, 100])]
    sigmas, ratios = deviations(task, values, truth)
    assert np.abs(sigmas).max() < FIVE_SIGMA
    assert np.abs(ratios - 1).max() < RATIO


def test_a_survey_with_fakes_is_unbiased():
    """Questions of 2 and of 6 values: fakes are dealt by another coin than people."""
    plan = sv.Survey({"sex": ["f", "m"], "age": range(6)}, mechanism="grr")
    task = shuffled(plan, 3.0, fakes=400)
    assert task.opening.ask.fake_share(0) < 0.3
    people = [{"sex": "f", "age": 0}] * 480 + [{"sex": "m", "age": 3}] * 320
    truth = [("sex", [480, 320]), ("age", [480, 0, 0, 320])]
    sigmas, ratios = deviations(task, people, truth)
    assert np.abs(sigmas).max() < FIVE_SIGMA
    assert np.abs(ratios - 1).max() < RATIO


def test_fakes_that_are_dealt_as_people_are_would_be_seen(monkeypatch):
    """A broken twin: the estimate believes that fakes follow the coin of people."""
    monkeypatch.setattr(
        "sottovoce.tasks.choice.Choice.fake_share",
        lambda choice, member, slot=0: choice.coin_share(member),
    )
    plan = sv.Survey({"sex": ["f", "m"], "age": range(6)}, mechanism="grr")
    people = [{"sex": "f", "age": 0}] * 480 + [{"sex": "m", "age": 3}] * 320
    truth = [("sex", [480]), ("age", [480])]
    sigmas, _ = deviations(shuffled(plan, 3.0, fakes=400), people, truth)
    assert np.abs(sigmas).max() > FIVE_SIGMA


def test_a_search_for_items_with_fakes_finds_and_counts_them():
    """Three rounds, each with its own fakes; the count of the most frequent item covers."""
    plan = sv.TopItems(range(12), 3)
    task = shuffled(plan, 6.0, fakes=200)
    baskets = [[0, 1]] * 1500 + [[0]] * 1000 + [[2]] * 1500
    outcome = sv.simulate(task, baskets, seed=3)
    assert outcome.estimate.population == 4_000
    assert set(outcome.labels) == {"0", "1", "2"}
    held = {"0": 2_500, "1": 1_500, "2": 1_500}
    low, high = outcome.estimate.interval(0.9999)
    for place, label in enumerate(outcome.labels):
        assert low[place] < held[label] < high[place]
