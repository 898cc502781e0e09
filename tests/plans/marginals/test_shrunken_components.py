from itertools import combinations

import numpy as np
import pytest

from plans.marginals.drawn_views import drawn
from sottovoce.plans.marginals.components import PooledComponents, assemble, centre
from sottovoce.plans.marginals.marginal_table import project
from sottovoce.plans.marginals.shrunken_components import ShrunkenComponents, predict

SIX = (2,) * 6
PAIRS = tuple(combinations(range(6), 2))


def follows(strength, attributes=6):
    """Return bits that follow one hidden bit, each with this probability above a half."""
    joint = np.zeros((2,) * attributes)
    for hidden in range(2):
        share = np.full(2, 0.5 - strength)
        share[hidden] = 0.5 + strength
        factor = np.ones(())
        for _ in range(attributes):
            factor = np.multiply.outer(factor, share)
        joint += factor / 2
    return joint


def shrunken(joint, views, users, epsilon, seed=1):
    reported = drawn(joint, views, users, epsilon, np.random.default_rng(seed))
    return ShrunkenComponents(PooledComponents(reported, joint.shape))


def test_without_noise_nothing_is_shrunken():
    joint = follows(0.35)
    found = shrunken(joint, PAIRS, 30_000_000, 8.0)
    for pair in PAIRS:
        true = centre(project(joint, tuple(range(6)), pair), 2)
        np.testing.assert_allclose(found.values[pair], true, atol=2e-3)


def test_independent_attributes_become_products():
    joint = np.full(SIX, 1 / 64)
    found = shrunken(joint, PAIRS, 20_000, 0.5)
    raw = sum((found.pooled.values[pair] ** 2).sum() for pair in PAIRS)
    kept = sum((found.values[pair] ** 2).sum() for pair in PAIRS)
    print("raw", raw, "shrunken", kept)
    assert kept < raw / 10


def test_interactions_of_three_are_predicted_by_maximum_entropy():
    """Of a table of pairs without an interaction of all three, the prediction is the truth."""
    signs = 1 - 2 * np.indices((2, 2, 2))
    weights = np.exp(
        sum(0.4 * signs[one] * signs[other] for one, other in combinations(range(3), 2))
        + 0.5 * signs[0]
    )
    joint = weights / weights.sum()
    values = {
        view: centre(project(joint, (0, 1, 2), view), len(view))
        for size in (1, 2)
        for view in combinations(range(3), size)
    }
    predicted = predict([(0, 1, 2)], values, (2, 2, 2))
    whole = assemble({**values, **predicted}, (0, 1, 2), (2, 2, 2))
    np.testing.assert_allclose(whole, joint, atol=1e-6)
    assert np.abs(predicted[0, 1, 2]).max() > 0.005


def test_draws_scatter_around_the_estimate_by_the_stated_error():
    found = shrunken(follows(0.2), PAIRS, 40_000, 1.0)
    generator = np.random.default_rng(2)
    replicates = 4000
    noise = {
        attributes: np.sqrt(variance)
        * centre(generator.standard_normal((replicates, *(2,) * len(attributes))), len(attributes))
        for attributes, variance in found.pooled.variances.items()
    }
    draws = found.draw(noise, generator)
    order = found.orders[2]
    for index, pair in enumerate(order.attributes[:4]):
        spread = ((draws[pair] - found.values[pair]) ** 2).sum(axis=(1, 2)).mean()
        stated = order.shrinkage.errors[index] * found.unit(pair)
        # The prediction errs as single attributes do, factors add noise, and the law is widened.
        assert stated < spread < 2 * found.pooled.variances[pair]


def test_unreported_interactions_are_as_strong_as_the_reported_ones_fade():
    found = shrunken(follows(0.35), PAIRS, 400_000, 3.0)
    generator = np.random.default_rng(3)
    triples = found.draw_unreported((0, 1, 2), 2000, generator)
    pairs = found.draw_unreported((0, 1), 2000, generator)
    assert (triples**2).sum(axis=(1, 2, 3)).mean() < (pairs**2).sum(axis=(1, 2)).mean() / 10
    np.testing.assert_allclose(triples.sum(axis=1), 0, atol=1e-12)
    single = shrunken(follows(0.35), tuple((one,) for one in range(6)), 40_000, 1.0)
    unknown = single.draw_unreported((0, 1), 2000, generator)
    assert (unknown**2).sum(axis=(1, 2)).mean() > 0.001


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_the_same_collection_gives_the_same_components(strength):
    first = shrunken(follows(strength), PAIRS, 10_000, 1.0)
    again = shrunken(follows(strength), PAIRS, 10_000, 1.0)
    for pair in PAIRS:
        np.testing.assert_array_equal(first.values[pair], again.values[pair])
