"""The estimator with fakes: unbiased, with the exact variance; the published one is neither."""

import numpy as np
import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.errors import MismatchError
from sottovoce.lab.peos.estimation import estimate, variances
from sottovoce.lab.peos.word_codecs import word_codec
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.shuffled_choice import expected_mse, shuffled_shares

SIZE = 10
BATCH = ShuffledBatch(users=20_000, fakes=8_000)
SHARES = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05, 0, 0, 0, 0])
MECHANISMS = [GRR(4.0, SIZE), OLH(4.0, SIZE, 8)]

both = pytest.mark.parametrize("mechanism", MECHANISMS, ids=["grr", "olh"])


def published(mechanism, supports, batch):
    """Return equation 9.5: as if every fake were the report of a uniform value."""
    total = batch.users + batch.fakes
    raw = (supports / total - mechanism.q) / (mechanism.p - mechanism.q)
    return total / batch.users * raw - batch.fakes / batch.users / SIZE


def expected_supports(mechanism):
    """Return the exact expectation of the support counts."""
    p, q = mechanism.p, mechanism.q
    return BATCH.users * (SHARES * p + (1 - SHARES) * q) + BATCH.fakes * mechanism.share


@both
def test_the_estimator_is_unbiased(mechanism):
    shares = shuffled_shares(mechanism, expected_supports(mechanism), BATCH)
    assert shares == pytest.approx(SHARES, abs=1e-12)


def test_the_published_estimator_is_biased_for_hashing():
    """A broken twin: eq. 9.5 is right for direct response, and off by -f / (n d) for hashing."""
    direct, hashed = MECHANISMS
    off = published(direct, expected_supports(direct), BATCH) - SHARES
    assert off == pytest.approx(np.zeros(SIZE), abs=1e-9)
    off = published(hashed, expected_supports(hashed), BATCH) - SHARES
    assert off == pytest.approx(np.full(SIZE, -BATCH.fakes / (BATCH.users * SIZE)), abs=1e-12)
    assert off[0] == pytest.approx(-0.04)


@both
def test_genuine_reports_and_uniform_words_give_the_shares(mechanism):
    rng = SeededRng(1)
    codec = word_codec(mechanism)
    values = np.repeat(np.arange(SIZE), np.round(SHARES * BATCH.users).astype(int))
    words = codec.lift(mechanism.privatize(values, rng), rng)
    reports = codec.read(np.concatenate([words, rng.longs(BATCH.fakes)]))
    found = estimate(mechanism, reports, BATCH)
    sigmas = variances(mechanism, SHARES, BATCH) ** 0.5
    deviations = (found.shares - SHARES) / sigmas
    assert np.abs(deviations).max() < 5, deviations
    if mechanism.kind == "olh":  # the check catches equation 9.5
        supports = mechanism.support(reports, np.arange(SIZE)).sum(axis=0)
        wrong = (published(mechanism, supports, BATCH) - SHARES) / sigmas
        assert np.abs(wrong).min() > 5


@both
def test_the_average_variance_is_that_of_the_chooser(mechanism):
    uniform = variances(mechanism, np.full(SIZE, 1 / SIZE), BATCH)
    assert uniform.mean() == pytest.approx(expected_mse(mechanism, BATCH), rel=1e-12)
    assert variances(mechanism, SHARES, BATCH).mean() == pytest.approx(uniform.mean(), rel=1e-12)


def test_the_variance_of_direct_response_is_not_the_published_one():
    """2000 small batches, drawn from the exact law of the counts."""
    mechanism = GRR(4.0, SIZE)
    batch = ShuffledBatch(users=400, fakes=1600)
    runs = 2000
    generator = np.random.default_rng(2)
    honest = generator.multinomial(200, mechanism.likelihood(mechanism.outcomes())[0], runs)
    honest += generator.multinomial(200, mechanism.likelihood(mechanism.outcomes())[1], runs)
    fakes = generator.multinomial(batch.fakes, np.full(SIZE, 1 / SIZE), runs)
    shares = shuffled_shares(mechanism, honest + fakes, batch)
    held = np.array([0.5, 0.5, *[0] * (SIZE - 2)])
    exact = variances(mechanism, held, batch)
    measured = shares.var(axis=0)
    # The variance of a sample variance is 2 sigma^4 / runs for sums of many coins.
    tolerance = 5 * exact * (2 / runs) ** 0.5
    assert (np.abs(measured - exact) < tolerance).all(), measured / exact
    p, q = mechanism.p, mechanism.q
    total = batch.users + batch.fakes
    as_users = total * q * (1 - q) / (batch.users * (p - q)) ** 2
    assert (measured[2:] / as_users > 1.5).all()


def test_reports_that_are_not_those_of_the_batch_are_refused():
    with pytest.raises(MismatchError, match="has 28000 reports, not 3"):
        estimate(MECHANISMS[0], np.zeros(3, int), BATCH)
