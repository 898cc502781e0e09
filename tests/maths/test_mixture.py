"""The most likely mixture: against expectation maximisation, and against all mixtures of a grid."""

from itertools import product

import numpy as np
import pytest

from sottovoce.maths.em import Sliding, em
from sottovoce.maths.mixture import ComponentGroups, Mixture, MixtureProblem
from sottovoce.mechanisms.square_wave import SquareWave

COUNTS = np.array([30.0, 20, 25, 15, 10, 100])  # of four components with a window of three outputs
WAVE = SquareWave(1.0, 4)
ROUNDING = 1e-9  # of sums of some hundred
SMALL = MixtureProblem(COUNTS, WAVE.sliding)


def problem(size=64, epsilon=1.0, users=5_000, seed=1):
    wave = SquareWave(epsilon, size)
    shares = np.random.default_rng(seed).dirichlet(np.full(size, 0.3))
    chances = wave.sliding.forward(shares)
    counts = np.random.default_rng(seed).multinomial(users, chances / chances.sum())
    return MixtureProblem(counts.astype(float), wave.sliding)


def log_likelihood(each, weights):
    return float(each.counts @ np.log(each.channel.forward(weights)))


def spread(each, mixture):
    weights = np.zeros(each.size)
    weights[mixture.support] = mixture.weights
    return weights


def grid_of_mixtures(steps=20):
    """All weights of four components in steps."""
    for first, second, third in product(range(steps + 1), repeat=3):
        if first + second + third <= steps:
            yield np.array([first, second, third, steps - first - second - third]) / steps


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_as_likely_as_expectation_maximisation_finds(epsilon, seed):
    each = problem(epsilon=epsilon, seed=seed)
    best = each.best()
    climbed = em(each.counts, each.channel, smooth=False, tolerance=1e-9, max_steps=20_000)
    print(best.log_likelihood, best.most, float(climbed.log_likelihood), len(best.support))
    assert best.log_likelihood >= float(climbed.log_likelihood) - 1e-6
    assert 0 <= best.most - best.log_likelihood < 1e-3
    assert best.log_likelihood == pytest.approx(log_likelihood(each, spread(each, best)))
    assert best.weights.sum() == pytest.approx(1)
    assert best.weights.min() > 0


def test_no_mixture_of_a_grid_is_more_likely():
    best = SMALL.best()
    most = max(log_likelihood(SMALL, weights) for weights in grid_of_mixtures())
    assert most <= best.most + ROUNDING
    assert best.log_likelihood >= most - 1e-9


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("marked", [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
def test_groups_have_their_weights_and_no_such_mixture_is_more_likely(marked, weight):
    marked = np.array(marked, bool)
    best = SMALL.best(ComponentGroups.split(marked, weight))
    assert best.weight_of(marked) == pytest.approx(weight, abs=1e-9)
    allowed = [
        log_likelihood(SMALL, weights)
        for weights in grid_of_mixtures()
        if abs(weights[marked].sum() - weight) < 1e-9
    ]
    assert max(allowed) <= best.most + ROUNDING
    assert best.log_likelihood >= max(allowed) - 1e-3
    assert best.log_likelihood <= SMALL.best().most


def test_a_start_changes_nothing_but_the_way():
    each = problem()
    groups = ComponentGroups.split(np.arange(64) < 20, 0.4)
    start = Mixture(np.array([50]), np.ones(1))  # outside one of the groups
    assert each.best(groups, start).log_likelihood == pytest.approx(
        each.best(groups).log_likelihood, abs=2e-3
    )


@pytest.mark.parametrize("distance", [-5.0, 5.0])
def test_a_threshold_ends_the_search_with_the_right_answer(distance):
    each = problem()
    groups = ComponentGroups.split(np.arange(64) < 20, 0.4)
    most = each.best(groups).log_likelihood
    found = each.best(groups, threshold=most + distance)
    if distance < 0:
        assert found.log_likelihood >= most + distance
    else:
        assert found.most < most + distance


def test_one_component_explains_what_it_alone_makes():
    channel = Sliding(0.5, 0.1, 1)
    best = MixtureProblem(np.array([500.0, 100, 100, 100, 100, 100]), channel).best()
    assert best.support[0] == 0
    assert best.weights[0] > 0.98
