"""Expectation maximisation, plain and with smoothing."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import MismatchError, NoDataError, ParameterError
from sottovoce.lab.experiments.numbers import BINS, distances, kolmogorov, shapes, wasserstein
from sottovoce.maths.em import Channel, Dense, Sliding, em
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.square_wave import SquareWave

COARSE, FINE = "GRR, 16 bins", 512


@given(
    st.integers(2, 60),
    st.integers(0, 30),
    st.sampled_from([0.25, 1.0, 4.0]),
    st.integers(1, 3),
    st.integers(0, 1 << 32),
)
def test_prefix_sums_are_the_matrix(size, reach, epsilon, rows, seed):
    wave, dice = SquareWave(epsilon, size, reach=min(reach, size // 2)), np.random.default_rng(seed)
    dense, inputs, outputs = (
        Dense(wave.channel()),
        dice.random((rows, size)),
        dice.random((rows, wave.outputs)),
    )
    np.testing.assert_allclose(
        wave.sliding.forward(inputs), dense.forward(inputs), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        wave.sliding.backward(outputs), dense.backward(outputs), rtol=0, atol=1e-12
    )
    assert isinstance(wave.sliding, Channel)


def test_a_window_that_is_one_too_wide_is_seen():
    wave = SquareWave(1.0, 20)
    wide = Sliding(wave.inside, wave.outside, wave.window + 2)
    assert wide.forward(np.full(20, 0.05)).shape != wave.sliding.forward(np.full(20, 0.05)).shape
    sums = wave.channel().sum(axis=0)
    np.testing.assert_allclose(sums, 1, atol=1e-12)
    assert np.abs(wide.backward(np.ones(wave.outputs + 2)) - 1).max() > 0.01


@pytest.mark.parametrize("smooth", [False, True])
def test_both_channels_lead_to_the_same_fit(smooth):
    wave, counts = SquareWave(1.0, 40), _counts(SquareWave(1.0, 40), "bimodal", 10_000, rows=3)
    fast, slow = (em(counts, channel, smooth=smooth) for channel in (wave.sliding, wave.channel()))
    np.testing.assert_allclose(fast.frequencies, slow.frequencies, atol=1e-9)
    np.testing.assert_array_equal(fast.iterations, slow.iterations)


@pytest.mark.parametrize("smooth", [False, True])
def test_rows_do_not_see_each_other(smooth):
    """Rows of different lengths of run, together and alone."""
    wave = SquareWave(1.0, 40)
    counts = np.stack(
        [_counts(wave, name, users) for name, users in (("spiky", 10**6), ("Beta(2, 5)", 300))]
    )
    together, alone = (
        em(counts, wave.sliding, smooth=smooth),
        [em(row, wave.sliding, smooth=smooth) for row in counts],
    )
    for row, fit in enumerate(alone):
        np.testing.assert_allclose(together.frequencies[row], fit.frequencies, atol=1e-12)
        assert (together.iterations[row], together.converged[row]) == (
            fit.iterations,
            fit.converged,
        )
        assert together.log_likelihood[row] == pytest.approx(float(fit.log_likelihood))
    assert together.iterations[0] != together.iterations[1]
    nested = em(counts.reshape(2, 1, -1), wave.sliding, smooth=smooth)
    assert nested.frequencies.shape == (2, 1, 40)
    assert nested.converged.shape == (2, 1)


@pytest.mark.parametrize("name", ["Beta(2, 5)", "bimodal", "spiky"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_likelihood_never_falls_along_em(name, epsilon):
    """After each of the first steps; smoothing ends lower."""
    wave = SquareWave(epsilon, 64)
    counts = _counts(wave, name, 5_000)
    plain, smoothed = (_path(counts, wave.sliding, smooth=smooth) for smooth in (False, True))
    assert (np.diff(plain) >= -1e-9 * np.abs(plain[0])).all()
    assert plain[-1] > smoothed[-1]


@given(
    st.lists(st.integers(0, 1000), min_size=9, max_size=9).filter(any),
    st.booleans(),
    st.integers(1, 50),
)
def test_total_mass_is_one(counts, smooth, most):
    wave = SquareWave(1.0, 5, reach=2)
    fit = em(np.array(counts), wave.sliding, smooth=smooth, max_steps=most)
    assert fit.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert (fit.frequencies >= 0).all()


def test_likelihood_and_largest_change_are_what_they_say():
    wave = SquareWave(1.0, 20)
    counts = _counts(wave, "bimodal", 1_000)
    fits = [em(counts, wave.sliding, smooth=True, tolerance=0, max_steps=most) for most in (7, 8)]
    before, after = (fit.frequencies for fit in fits)
    assert fits[1].log_likelihood == pytest.approx(float(counts @ np.log(wave.channel() @ after)))
    assert fits[1].largest_change == pytest.approx(np.abs(after - before).max())
    assert (fits[1].iterations, fits[1].converged) == (8, False)


def test_it_stops_by_itself_or_says_that_it_did_not():
    wave = SquareWave(1.0, 64)
    counts = _counts(wave, "spiky", 1_000_000)
    loose, tight, cut = (
        em(counts, wave.sliding, smooth=False, tolerance=tolerance, max_steps=most)
        for tolerance, most in ((1e-6, 10_000), (1e-8, 10_000), (1e-8, 10))
    )
    assert loose.converged
    assert tight.converged
    assert loose.iterations < tight.iterations
    assert loose.log_likelihood < tight.log_likelihood
    assert not cut.converged


def test_plain_em_finds_the_maximum_of_the_likelihood():
    """Two values, kept with 3/4: the maximum is where the expected shares are the observed ones, or
    at the end.
    """
    channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    for ones, share in ((60, 0.7), (30, 0.1), (10, 0.0)):
        fit = em(np.array([ones, 100 - ones]), channel, smooth=False, tolerance=1e-13)
        assert fit.frequencies[0] == pytest.approx(share, abs=1e-4)


def test_outputs_that_were_not_seen_or_cannot_be_do_no_harm():
    channel = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.0]])
    fit = em(np.array([7, 0, 3]), channel, smooth=False)
    assert fit.frequencies == pytest.approx([1, 0, 0], abs=1e-3)
    assert np.isfinite(fit.log_likelihood)


def test_the_reports_of_piecewise_decode_too():
    """A dense channel of another mechanism: better than the truth's own histogram moved by one
    bucket.
    """
    piecewise, truth = Piecewise(4.0, 33, cells=64), shapes(33)["Beta(2, 5)"]
    counts = np.random.default_rng(31).multinomial(200_000, piecewise.channel() @ truth)
    fit = em(counts, piecewise.channel(), smooth=True)
    assert wasserstein(fit.frequencies, truth) < 0.5 * wasserstein(np.roll(truth, 1), truth)


def test_smoothing_is_better_for_a_smooth_shape():
    assert _distances("EMS", "Beta(2, 5)", 1.0)[0] < 0.8 * _distances("EM", "Beta(2, 5)", 1.0)[0]


def test_no_smoothing_is_better_for_spikes_at_large_epsilon():
    assert _distances("EM", "spiky", 4.0)[0] < 0.5 * _distances("EMS", "spiky", 4.0)[0]


@pytest.mark.parametrize("name", ["Beta(2, 5)", "bimodal", "spiky"])
def test_square_wave_is_nearer_to_the_truth_than_binned_randomised_response(name):
    """Both distances, at epsilon 1; docs/evidence/numbers.md has more, among them where 32 bins are
    nearer.
    """
    assert COARSE in BINS
    for wave, binned in zip(
        _distances("EMS", name, 1.0), _distances(COARSE, name, 1.0), strict=True
    ):
        assert wave < binned


def test_distances_are_those_of_distribution_functions():
    left, right = np.array([1.0, 0, 0, 0]), np.array([0, 0, 0.5, 0.5])
    assert wasserstein(left, right) == pytest.approx((2 * 0.5 + 3 * 0.5) / 4)
    assert kolmogorov(left, right) == 1
    assert all(shares.sum() == pytest.approx(1) for shares in shapes(FINE).values())


def test_users_never_enter_the_loop():
    """Ten million reports are the same work as ten: their histogram is decoded."""
    wave = SquareWave(1.0, 1024)
    counts = _counts(wave, "bimodal", 10_000_000)
    fit = em(counts, wave.sliding, smooth=True)
    assert fit.converged


def test_what_cannot_be_decoded_is_refused():
    wave = SquareWave(1.0, 8)
    with pytest.raises(NoDataError):
        em(np.zeros(wave.outputs, np.int64), wave.sliding, smooth=True)
    with pytest.raises(MismatchError):
        em(np.ones(wave.outputs + 1, np.int64), wave.channel(), smooth=True)
    for settings in ({"tolerance": -1e-9}, {"tolerance": float("nan")}, {"max_steps": 0}):
        with pytest.raises(ParameterError):
            em(np.ones(wave.outputs, np.int64), wave.sliding, smooth=True, **settings)


def _counts(wave, name, users, rows=None):
    chances = wave.sliding.forward(shapes(wave.size)[name])
    return np.random.default_rng(30).multinomial(users, chances, rows)


def _path(counts, channel, *, smooth):
    ends = [
        em(counts, channel, smooth=smooth, tolerance=0, max_steps=most) for most in range(1, 60)
    ]
    return np.array([fit.log_likelihood for fit in ends])


@cache
def _distances(decoder, name, epsilon):
    return distances(decoder, shapes(FINE)[name], epsilon)
