"""Hadamard response."""

import numpy as np
import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    PURE_CHECKS,
    RecordedRng,
    ScriptedRng,
    samples_follow_the_likelihood,
    the_variance_is_as_stated,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.hadamard import HadamardResponse

SMALL = [HadamardResponse(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5, 15)]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", PURE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize("size", range(2, 16))
def test_support_by_enumeration(size):
    """Ratio exp(epsilon), p and q = 1/2 from the matrix itself, for every size up to 15."""
    response = HadamardResponse(0.8, size)
    matrix = transform(np.eye(response.columns, dtype=np.int64))
    assert response.columns > size >= response.columns // 2
    rows = matrix[1 : size + 1]
    chances = np.where(rows > 0, response.p, 1 - response.p).T / (response.columns / 2)
    np.testing.assert_allclose(response.likelihood(response.outcomes()), chances, rtol=1e-15)
    supported = (rows > 0) @ chances  # (candidate, held)
    np.testing.assert_allclose(
        supported, np.where(np.eye(size, dtype=bool), response.p, 0.5), atol=1e-12
    )
    assert np.log(chances.max() / chances.min()) == pytest.approx(0.8, abs=1e-12)


def test_scripted_draws_give_known_reports():
    """Value 1 owns row 10 in binary: column 1 is positive, 2 negative; its partner differs in that
    bit.
    """
    rng = ScriptedRng(bernoulli=[True, True, False, False], integers=[1, 2, 1, 2])
    assert HadamardResponse(1.0, 5).privatize(np.full(4, 1), rng).tolist() == [1, 0, 3, 2]


def test_recorded_bytes_give_a_known_report():
    """A keep word, then the top three bits of a word: column 6, negative in row 101 in binary,
    partner 7.
    """
    response = HadamardResponse(1.0, 5)
    for keep, column in ((b"\x00" * 8, 7), (b"\xff" * 8, 6)):
        recorded = RecordedRng(keep + b"\x00\x00\x00\xc0")
        assert response.pack(response.privatize(np.array([4]), recorded)) == bytes([column])
        assert recorded.consumed == 12


def test_every_column_of_a_sign_is_reached_once():
    """For every value, the exchange maps the columns of one sign onto those of the other."""
    response = HadamardResponse(1.0, 6)
    for value in range(6):
        rng = ScriptedRng(bernoulli=[True] * 8, integers=list(range(8)))
        reports = response.privatize(np.full(8, value), rng)
        positive = np.flatnonzero(response.support(np.arange(8), np.array([value]))[:, 0])
        np.testing.assert_array_equal(np.sort(reports), positive.repeat(2))


def test_the_transform_counts_what_support_says():
    response = HadamardResponse(1.0, 100)
    reports = response.privatize(np.arange(3000) % 100, SeededRng(31))
    expected = PureMechanism.count(response, reports, np.arange(100))
    np.testing.assert_array_equal(response.supports(response.tally(reports)), expected)
    np.testing.assert_array_equal(response.count(reports, np.array([99, 3])), expected[[99, 3]])
    assert response.tally(reports)["columns"].sum() == 3000


def test_the_transform_scores_what_votes_say():
    response = HadamardResponse(1.0, 100)
    coefficients = np.random.default_rng(32).normal(size=100)
    reports = response.privatize(np.arange(500) % 100, SeededRng(32))
    expected = response.votes(reports, np.arange(100)) @ coefficients
    np.testing.assert_allclose(
        response.score(reports, coefficients), expected, rtol=1e-12, atol=1e-9
    )


def test_candidates_keep_their_covariance():
    """Values 0 and 1 own rows 1 and 2; holders of value 2, row 3, move both estimates together."""
    response, candidates = HadamardResponse(1.0, 6), np.array([0, 2, 1])
    reports = response.privatize(np.full(100, 2), SeededRng(33))
    estimate = response.estimate_among(reports, candidates)
    held = np.array([0, 100.0, 0])
    gain = 1 / (2 * response.p - 1)
    pair = estimate.noise.linear(np.array([1.0, 0, 1.0]), held, 100)
    assert pair == pytest.approx(100 * (2 * gain**2 + 2 * gain))
    assert pair == pytest.approx(
        response.noise.linear(np.array([1.0, 1, 0, 0, 0, 0]), np.eye(6)[2] * 100, 100)
    )


def test_cells_err_as_in_binary_local_hashing():
    votes = np.array([0.0, 50.0, 100.0])
    hashed, mine = (
        BLH(0.5, 3).noise.variances(votes, 100),
        HadamardResponse(0.5, 3).noise.variances(votes, 100),
    )
    np.testing.assert_allclose(mine, hashed, rtol=1e-12)


def test_independent_cells_would_be_caught():
    """Broken twin: the covariance of Hadamard's cells is left out."""
    with pytest.raises(AssertionError):
        the_variance_is_as_stated(Independent(1.0, 5))


def test_a_column_of_the_wrong_sign_is_caught():
    """Broken twin: the exchange is forgotten."""
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(Unexchanged(1.0, 5))


@pytest.mark.parametrize("data", [b"\x08", b"\x00\xff"], ids=["too big", "one too big"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        HadamardResponse(1.0, 5).unpack(data)


@pytest.mark.parametrize("keep", [1, UNIT // 2, UNIT, HadamardResponse(1.0, 5).keep + 1])
def test_an_impossible_threshold_is_refused(keep):
    with pytest.raises(ParameterError):
        HadamardResponse(1.0, 5, keep=keep)


@pytest.mark.parametrize("size", [1, True, 1 << 26])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError):
        HadamardResponse(1.0, size)


class Independent(HadamardResponse):
    @property
    def noise(self):
        return PureMechanism.noise.fget(self)


class Unexchanged(HadamardResponse):
    def privatize(self, values, rng):
        return rng.integers(self.columns, len(values))


@pytest.mark.parametrize("size", [2, 5, 15])
def test_the_covariance_is_that_of_all_reports_listed(size):
    """The twin that takes votes for independent is wrong as soon as two rows have a XOR."""
    response = HadamardResponse(0.8, size)
    truth = np.arange(1, size + 1)
    reports = response.outcomes()
    votes = response.votes(reports, np.arange(size))
    expected = np.zeros((size, size))
    for value, chances in enumerate(response.likelihood(reports).T):
        mean = chances @ votes
        expected += truth[value] * ((chances[:, None] * votes).T @ votes - np.outer(mean, mean))
    stated = response.noise.covariance(truth.astype(float), int(truth.sum()))
    np.testing.assert_allclose(stated, expected, atol=1e-9)
    independent = np.diag(np.diag(stated))
    assert np.allclose(independent, expected) == (size == 2)
