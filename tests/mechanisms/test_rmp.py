"""Random matrix projection."""

from itertools import product

import numpy as np
import pytest

from sottovoce.core.noise import IndependentNoise
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    CONTRACT_CHECKS,
    FIVE_SIGMA,
    HASHED_CHECKS,
    RecordedRng,
    sampled_estimates_are_unbiased,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.rmp import RMP, PooledNoise

FRESH = [RMP(epsilon, size) for epsilon in (0.2, 1.0, 3.0) for size in (2, 5)]
HELD = np.full(
    5, 2000
)  # ten thousand users of five values: a pool of 512 rows nearly doubles the variance
RUNS, NOBODY = 10, 400


@pytest.mark.parametrize(
    "mechanism", FRESH, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", HASHED_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize(
    "check", [*CONTRACT_CHECKS, sampled_estimates_are_unbiased], ids=lambda check: check.__name__
)
def test_contract_of_a_pool(check):
    """The votes of one user spread as without a pool; estimates need the pool's own variance."""
    check(RMP(1.0, 5, rows=512))


def test_it_is_binary_local_hashing_in_other_bytes():
    values = np.arange(1000) % 50
    rmp, blh = RMP(1.0, 50), BLH(1.0, 50)
    projected, hashed = rmp.privatize(values, SeededRng(21)), blh.privatize(values, SeededRng(21))
    np.testing.assert_array_equal(projected["row"], hashed["seed"])
    np.testing.assert_array_equal(projected["sign"], hashed["bucket"])
    assert (rmp.p, rmp.q, rmp.noise) == (blh.p, blh.q, blh.noise)
    np.testing.assert_array_equal(rmp.tally(projected)["support"], blh.tally(hashed)["support"])


def test_a_pool_of_rows_inflates_the_variance_as_predicted():
    """By 1.8 times at these counts.  Given the reports estimates of columns nobody holds are
    independent;
    their common variance is a sum over the rows."""
    measured, rmp = _spread_of_estimates(rows=512)
    plain = IndependentNoise.of(rmp.p, rmp.q).variances(np.zeros(1), HELD.sum())[0]
    stated = rmp.noise.variances(np.append(HELD, 0).astype(float), HELD.sum())[-1]
    assert stated / plain == pytest.approx(1 + (HELD**2).sum() / 512 / plain, rel=1e-3)
    assert stated / plain > 1.8
    five_sigma = FIVE_SIGMA * np.sqrt(2 / (RUNS * NOBODY) + 2 / (RUNS * 512))
    assert measured == pytest.approx(stated, rel=five_sigma), (measured, stated, plain)


def test_fresh_rows_have_the_variance_of_binary_local_hashing():
    """And so the prediction for a pool must fail here."""
    measured, rmp = _spread_of_estimates(rows=0)
    stated = rmp.noise.variances(np.zeros(1), HELD.sum())[0]
    five_sigma = FIVE_SIGMA * np.sqrt(2 / (RUNS * NOBODY))
    assert measured == pytest.approx(stated, rel=five_sigma), (measured, stated)
    pooled = RMP(1.0, 6, rows=512).noise.variances(np.append(HELD, 0).astype(float), HELD.sum())[-1]
    assert measured != pytest.approx(pooled, rel=0.15), (measured, pooled)


def test_the_variance_of_a_pool_is_exact_over_all_matrices():
    """Every matrix of two rows and three columns, held 2 1 1: mean and variance of a weighted sum
    by enumeration.
    """
    noise, held = (
        PooledNoise(IndependentNoise.of(0.7, 0.5).unheld, -1.0, 2),
        np.array([2.0, 1.0, 1.0]),
    )
    for coefficients in (np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([1.5, -2.0, 0.3])):
        matrices = np.array(list(product((-1, 1), repeat=6))).reshape(-1, 2, 3)
        meetings = np.einsum("mri,mrv->miv", matrices, matrices) / 2
        means = coefficients @ meetings  # (matrices, held value)
        squares = (matrices @ coefficients) ** 2 / (2 * 0.7 - 1) ** 2
        variance = ((squares.mean(axis=1)[:, None] - means**2) @ held).mean() + (means @ held).var()
        assert noise.linear(coefficients, held, 4) == pytest.approx(variance, rel=1e-12)
        if np.count_nonzero(coefficients) == 1:
            assert noise.variances(held, 4)[coefficients.argmax()] == pytest.approx(
                variance, rel=1e-12
            )


def test_recorded_bytes_give_a_known_report():
    """Row, keep word, the word of the only lie; xxh32 of 5 under this row is 0x481902e0: its top
    bit is 0.
    """
    row = b"\x78\x56\x34\x12"
    for keep, sign in ((b"\x00" * 8, 0), (b"\xff" * 8, 1)):
        recorded = RecordedRng(row + keep + b"\xff\xff\xff\xbf")
        rmp = RMP(1.0, 1000)
        assert rmp.pack(rmp.privatize(np.array([5]), recorded)) == row + bytes([sign])
        assert recorded.consumed == 16


def test_recorded_bytes_choose_a_row_of_the_pool():
    rmp = RMP(1.0, 1000, rows=512)
    report = rmp.privatize(np.array([5]), RecordedRng(b"\x00\x00\x00\x80" + b"\0" * 12))
    assert report["row"].tolist() == [256]


@pytest.mark.parametrize(
    "data", [b"\0\0\0\0\2", b"\0\2\0\0\0", b"\0\0\0\0"], ids=["sign", "row", "cut"]
)
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        RMP(1.0, 1000, rows=512).unpack(data)


@pytest.mark.parametrize("rows", [1, -8, True, 16.0, (1 << 32) + 1])
def test_an_impossible_pool_is_refused(rows):
    with pytest.raises(ParameterError):
        RMP(1.0, 1000, rows=rows)


def _spread_of_estimates(rows):
    """The mean square of estimates of values that nobody holds, other columns of the matrix in
    every run.
    """
    rmp, squares = RMP(1.0, 1 << 20, rows=rows), []
    for run in range(RUNS):
        start = 1000 * run
        reports = rmp.privatize(start + np.repeat(np.arange(len(HELD)), HELD), SeededRng(run))
        squares.append(rmp.estimate_among(reports, start + 500 + np.arange(NOBODY)).totals ** 2)
    return np.mean(squares), rmp
