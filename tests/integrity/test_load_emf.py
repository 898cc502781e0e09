"""Load EMF: its likelihood, its gradient, and weights that bring the honest shares back."""

import numpy as np
import pytest

from integrity.collections import collection
from sottovoce.core.plausibility import PublicHash
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.load_emf import LoadFit, LoadModel


def model_of(found):
    votes = found.mechanism.estimate(found.mechanism.tally(found.reports)).votes
    candidates = gather(found.mechanism, found.reports, largest(votes))
    suspects = found.targets[candidates.values]
    model = LoadModel.of(candidates.hashed, suspects)
    return candidates, model, LoadFit(candidates.shares, model.start)


def test_the_fullest_bucket_is_shared_among_ties():
    table = np.array([[0, 0, 1, 1], [2, 2, 2, 1], [0, 1, 2, 3]], np.uint16)
    hashed = PublicHash(table, np.array([1, 1, 3], np.uint16), 4, 0.6, 0.25, 16)
    model = LoadModel.of(hashed, np.ones(4, bool))
    np.testing.assert_allclose(model.greedy, [0.5, 0.0, 0.25])


def test_the_probabilities_of_all_buckets_sum_to_one():
    table = np.array([[0, 0, 1, 2]], np.uint16)
    shares, total_honest, total_false = np.array([0.4, 0.1, 0.2, 0.05]), 0.0, 0.0
    for bucket in range(4):
        hashed = PublicHash(table, np.array([bucket], np.uint16), 4, 0.6, 0.25, 16)
        model = LoadModel.of(hashed, np.ones(4, bool))
        total_honest += model.honest(shares)[0]
        total_false += model.greedy[0]
    assert total_honest == pytest.approx(1.0, abs=1e-6)
    assert total_false == 1.0


def test_a_fit_is_a_maximum_of_the_likelihood():
    _, model, start = model_of(collection("1"))
    fit = model.fit(start)

    def likelihood(shares, false):
        whole = (1 - false[model.levels]) * model.honest(shares) + false[
            model.levels
        ] * model.greedy
        return np.log(whole).mean()

    best = likelihood(fit.shares, fit.false)
    generator = np.random.default_rng(1)
    for _ in range(20):
        shares = fit.shares + 0.01 * generator.standard_normal(len(fit.shares))
        false = np.clip(fit.false + 0.01 * generator.standard_normal(len(fit.false)), 0, 1)
        assert likelihood(shares, false) < best + 1e-6


@pytest.mark.parametrize("tries", ["1", "30"])
def test_the_share_of_false_reports_and_the_honest_shares_come_back(tries):
    found = collection(tries)
    candidates, model, start = model_of(found)
    fit = model.fit(start)
    weights = model.weights(fit)
    attackers = weights[-found.attackers :]
    honest = weights[: -found.attackers]
    print(f"share {1 - weights.mean():.3f}, weights {honest.mean():.3f} and {attackers.mean():.3f}")
    assert abs(1 - weights.mean() - 0.1) < 0.03
    assert attackers.mean() < honest.mean() - 0.2
    gain = (fit.shares - found.truth[candidates.values])[found.targets[candidates.values]].sum()
    raw_gain = (candidates.shares - found.truth[candidates.values])[
        found.targets[candidates.values]
    ].sum()
    print(f"gain {gain:.3f}, raw {raw_gain:.3f}")
    assert abs(gain) < 0.2 * raw_gain


def test_a_step_from_the_fit_of_all_is_near_the_fit_of_a_half():
    _, model, start = model_of(collection("1"))
    fit = model.fit(start)
    half = model.picked(np.arange(0, len(model.levels), 2))
    stepped, fitted = half.stepped(fit, model.information(fit)), half.fit(fit)
    moved = np.abs(fitted.shares - fit.shares).mean()
    left = np.abs(fitted.shares - stepped.shares).mean()
    print(f"mean change of shares {moved:.4f}, of which a step leaves {left:.5f}")
    assert left < 0.2 * moved
    assert (stepped.false >= 0).all()
