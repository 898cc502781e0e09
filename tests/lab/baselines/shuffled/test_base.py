"""Every shuffled method: unbiased, with the stated variance, and drawn by its own law."""

from math import sqrt

import numpy as np
import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffled.affine import ShuffledAffine
from sottovoce.lab.baselines.shuffled.appended_unary import AppendedUnary
from sottovoce.lab.baselines.shuffled.base import REMOVAL, PublishedClaim, permuted
from sottovoce.lab.baselines.shuffled.direct import DirectReports
from sottovoce.lab.baselines.shuffled.fragmented_unary import FragmentedUnary
from sottovoce.lab.baselines.shuffled.hashed import HashedReports
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.sue import SUE

SIGMAS = 5
SIZE = 16
RUNS = 2000
CLAIM = PublishedClaim(1.0, 1e-6, 3.0)
TRUTH = np.array([60, 30, 20, 15, 12, 10, 9, 8, 7, 6, 6, 5, 5, 4, 3, 0])
PEOPLE = np.repeat(np.arange(SIZE), TRUTH)
WITH_FAKES = {
    "SH": DirectReports(GRR(3.0, SIZE), CLAIM),
    "SOLH": HashedReports(OLH(3.0, SIZE, 8), CLAIM),
    "Had": HashedReports(BLH(3.0, SIZE), CLAIM),
    "affine": ShuffledAffine(AffineResponse(3.0, SIZE, 4), CLAIM),
}
WITHOUT_FAKES = {
    "RAP": FragmentedUnary(SUE(3.0, SIZE), CLAIM),
    "AUE": AppendedUnary(SIZE, 0.7, PublishedClaim(1.0, 1e-6, None)),
}
ORACLES = WITH_FAKES | WITHOUT_FAKES
CASES = [(name, 0) for name in ORACLES] + [(name, 80) for name in WITH_FAKES]


def deviations(oracle, fakes, estimates):
    """Return the bias of every value in standard errors, and the pooled excess of the variance."""
    batch = ShuffledBatch(len(PEOPLE), fakes)
    stated = oracle.variances(TRUTH / len(PEOPLE), batch)
    errors = estimates - TRUTH / len(PEOPLE)
    biases = errors.mean(axis=0) / np.sqrt(stated / len(estimates))
    return np.abs(biases).max(), (errors**2 / stated).mean() - 1


@pytest.mark.parametrize(("name", "fakes"), CASES)
def test_genuine_messages_are_unbiased_and_vary_as_stated(name, fakes):
    oracle = ORACLES[name]
    rng = SeededRng(9)
    estimates = np.array([oracle.collect(PEOPLE, fakes, rng) for _ in range(RUNS)])
    bias, excess = deviations(oracle, fakes, estimates)
    print(name, "bias", bias, "sigma; variance off by", excess)
    assert bias < SIGMAS
    # About 15 independent squares in a run, each with a relative variance of about 2.
    assert abs(excess) < SIGMAS * sqrt(2 / (15 * RUNS)) < 0.05


@pytest.mark.parametrize(("name", "fakes"), CASES)
def test_drawn_shares_follow_the_same_law(name, fakes):
    oracle = ORACLES[name]
    generator = np.random.default_rng(10)
    estimates = np.array([oracle.draw(TRUTH, fakes, generator) for _ in range(RUNS)])
    bias, excess = deviations(oracle, fakes, estimates)
    print(name, "bias", bias, "sigma; variance off by", excess)
    assert bias < SIGMAS
    assert abs(excess) < SIGMAS * sqrt(2 / (15 * RUNS))


def published_shares(mechanism, supports, batch):
    """Return the shares of equation 9.5, which treats fakes as randomised uniform values."""
    reports = batch.users + batch.fakes
    votes = (supports / reports - mechanism.q) / (mechanism.p - mechanism.q)
    return reports / batch.users * votes - batch.fakes / batch.users / mechanism.size


@pytest.mark.parametrize(("name", "is_biased"), [("SH", False), ("SOLH", True)])
def test_the_published_estimator_with_fakes_is_biased_for_hashing(name, is_biased):
    """The broken twin: its bias is -fakes / (users size)."""
    oracle = ORACLES[name]
    batch = ShuffledBatch(len(PEOPLE), 80)
    rng = SeededRng(11)
    estimates = []
    for _ in range(RUNS):
        sent = np.concatenate([oracle.messages(PEOPLE, rng), oracle.fakes(80, rng)])
        estimates.append(published_shares(oracle.mechanism, oracle.supports(sent), batch))
    bias, _ = deviations(oracle, 80, np.array(estimates))
    print(name, "bias", bias, "sigma")
    assert (bias > SIGMAS) == is_biased
    if is_biased:
        mean = (np.mean(estimates, axis=0) - TRUTH / len(PEOPLE)).mean()
        assert mean == pytest.approx(-80 / (len(PEOPLE) * SIZE), rel=0.1)


def test_the_published_variance_with_fakes_is_too_small_for_direct_response():
    """The broken twin: it counts fakes as if they were users of the mechanism."""
    oracle = WITH_FAKES["SH"]
    batch = ShuffledBatch(len(PEOPLE), 400)
    shares = TRUTH / len(PEOPLE)
    p, q = oracle.mechanism.p, oracle.mechanism.q
    published = (600 * q * (1 - q)) / (200 * (p - q)) ** 2
    unheld = oracle.variances(shares, batch)[-1]
    print("published", published, "exact", unheld)
    assert 1.5 <= unheld / published <= 3.0
    rng = SeededRng(12)
    sampled = np.array([oracle.collect(PEOPLE, 400, rng)[-1] for _ in range(RUNS)]).var()
    assert sampled == pytest.approx(unheld, rel=SIGMAS * sqrt(2 / RUNS))


@pytest.mark.parametrize("name", ORACLES)
def test_the_mean_squared_error_is_the_mean_variance(name):
    oracle = ORACLES[name]
    batch = ShuffledBatch(len(PEOPLE))
    mean = oracle.variances(TRUTH / len(PEOPLE), batch).mean()
    assert oracle.mse(TRUTH) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("name", WITHOUT_FAKES)
def test_methods_without_fakes_refuse_them(name):
    with pytest.raises(ParameterError, match="`fakes` must be 0"):
        ORACLES[name].collect(PEOPLE, 1, SeededRng(1))


def test_a_permutation_moves_every_message_everywhere():
    rng = SeededRng(2)
    runs = 4000
    positions = np.array([np.argsort(permuted(np.arange(8), rng)) for _ in range(runs)])
    found = np.array([np.bincount(column, minlength=8) for column in positions.T])
    statistic = ((found - runs / 8) ** 2 / (runs / 8)).sum()
    print("chi-square", statistic, "with 49 degrees of freedom")
    assert statistic < 49 + SIGMAS * sqrt(2 * 49)


def test_a_claim_names_whom_it_compares():
    assert PublishedClaim(1.0, 1e-9, 3.0, REMOVAL).neighbours == "removal"
    with pytest.raises(ParameterError, match="`neighbours` must be one of"):
        PublishedClaim(1.0, 1e-9, 3.0, "both")
