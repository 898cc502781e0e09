"""The estimate of graded groups: on expected counts, on drawn ones, and its bootstrap."""

import numpy as np
import pytest

from sottovoce.errors import NoDataError
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts
from sottovoce.plans.numbers.graded_estimate import (
    Group,
    defended,
    drawn_again,
    graded_estimate,
    undefended,
)
from sottovoce.plans.numbers.graded_groups import grades

SIZE = 32
PEOPLE = shapes(SIZE)["Beta(2, 5)"]


def groups_of(users, share, seed=None, people=PEOPLE):
    """Return groups of so many users each, a share of whom reports in the upper quarter.

    Without a seed the counts are the expected ones.
    """
    made = []
    dice = np.random.default_rng(seed)
    for grade in grades(1.0):
        wave = SquareWave(epsilon=grade.epsilon, size=SIZE)
        chances = (1 - share) * wave.sliding.forward(people)
        upper = np.arange(wave.outputs) >= 3 * wave.outputs // 4
        chances[upper] += share / upper.sum()
        reports = users * grade.reports
        counts = reports * chances
        if seed is not None:
            counts = dice.multinomial(reports, chances / chances.sum())
        observed = OutputCounts(counts[None].astype(float), wave.sliding, SIZE, grade.epsilon)
        made.append(Group(users, grade.reports, observed))
    return made


def distance(distribution, people=PEOPLE):
    return float(np.abs(np.cumsum(distribution[0] - people)).mean())


def test_honest_reports_are_left_alone():
    found = graded_estimate(groups_of(2_000, 0.0, seed=1), replicates=4)
    assert not found.attack_seen
    assert found.fit.share[0] == 0
    np.testing.assert_array_equal(found.fit.distribution, found.fit.undefended)
    assert not any(found.segments)


def test_an_attack_is_seen_and_removed():
    groups = groups_of(2_000, 0.25, seed=1)
    found = graded_estimate(groups, replicates=4)
    assert found.attack_seen
    assert found.fit.share[0] == pytest.approx(0.25, abs=0.03)
    near, far = distance(found.fit.distribution), distance(found.fit.undefended)
    print(f"mean distance {near:.4f} with the defence, {far:.4f} without it")
    assert near < far / 2
    assert found.segments[-1][-1][1] == 1
    np.testing.assert_array_equal(found.fit.undefended, undefended(groups).distribution)


def test_a_share_below_the_least_is_no_attack():
    """1 % of many reports raises the alarm of the evidence, and is not worth a correction."""
    found = graded_estimate(groups_of(400_000, 0.01), replicates=2)
    assert found.evidence.alarm
    assert not found.attack_seen


def test_weights_of_groups_are_calibrated_and_sum_to_one():
    fit = defended(groups_of(2_000, 0.25, seed=1))
    assert fit.weights.sum() == pytest.approx(1)
    assert (np.diff(fit.weights[0]) < 0).all()


def test_nothing_is_no_estimate():
    with pytest.raises(NoDataError):
        graded_estimate([])


REPLICATES = 4_000


def redrawn_variance(reports, users, seed):
    """Return the variance of the count of a window of outputs, drawn again, over the exact one."""
    wave = SquareWave(epsilon=1.0, size=SIZE)
    people = np.zeros(SIZE)
    people[[0, -1]] = 0.5  # values as far apart as can be: the variance between people is largest
    chances = wave.sliding.forward(people)
    counts = (users * reports * chances)[None]
    group = Group(users, reports, OutputCounts(counts, wave.sliding, SIZE, 1.0))
    fit = undefended([group])
    fit.distribution[0] = people
    (redrawn,) = drawn_again([group], fit, REPLICATES)
    low = np.arange(wave.outputs) < wave.window
    total = redrawn.observed.counts[:, low].sum(axis=1)
    inside, outside = (wave.likelihood(wave.outcomes())[low, index].sum() for index in (0, -1))
    within = (inside * (1 - inside) + outside * (1 - outside)) / 2
    between = (inside - outside) ** 2 / 4
    exact = users * (reports * within + reports**2 * between)
    mean = users * reports * (inside + outside) / 2
    assert abs(total.mean() - mean) < FIVE_SIGMA * np.sqrt(exact / REPLICATES)
    independent = users * reports * (within + between)
    return total.var() / exact, independent / exact


@pytest.mark.parametrize("reports", [1, 4, 16])
def test_the_reports_of_one_person_are_drawn_from_one_value(reports):
    ratio, independent = redrawn_variance(reports, 500, seed=reports)
    print(
        f"{reports} reports: variance {ratio:.3f} of the exact one; independent {independent:.3f}"
    )
    assert abs(ratio - 1) < FIVE_SIGMA * np.sqrt(2 / REPLICATES)
    # The broken twin: reports drawn as if of different people.
    assert reports == 1 or abs(independent - 1) > FIVE_SIGMA * np.sqrt(2 / REPLICATES)


def test_liars_are_drawn_again_as_well():
    groups = groups_of(2_000, 0.25, seed=1)
    fit = defended(groups)
    redrawn = drawn_again(groups, fit, 200)
    for group, again, poison in zip(groups, redrawn, fit.poison, strict=True):
        assert (again.observed.counts.sum(axis=1) == group.users * group.reports).all()
        upper = np.arange(again.observed.outputs) >= 3 * again.observed.outputs // 4
        share = again.observed.counts[:, upper].sum(axis=1) / (group.users * group.reports)
        chances = again.observed.channel.forward(fit.distribution[0])
        expected = (1 - poison.sum()) * chances[upper].sum() + poison[0, upper].sum()
        error = np.sqrt(0.25 / (200 * group.users))
        assert abs(share.mean() - expected) < FIVE_SIGMA * error
