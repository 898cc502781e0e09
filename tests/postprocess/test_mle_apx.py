"""MLE-Apx: golden shares, the conditions of an optimum, and the printed signs that fail them."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, BELOW, NOISE, TOP, estimate
from sottovoce.core.noise import IndependentNoise, SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.mle_apx import mle_apx, rule_for
from sottovoce.postprocess.norm_sub import norm_sub


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (ABOVE, [0.4674922601, 0.2693498452, 0.1702786378, 0.0712074303, 0.0216718266, 0, 0]),
        (BELOW, [0.5176470588, 0.3137254902, 0.1607843137, 0.0078431373]),
        (TOP, [1, 0, 0]),
    ],
)
def test_golden_shares(raw, expected):
    assert mle_apx(raw, NOISE.unheld, NOISE.held) == pytest.approx(expected, abs=1e-9)
    assert rule_for(estimate(raw))(raw) == pytest.approx(expected, abs=1e-9)


def pulls(shares, raw):
    """How hard each share is pulled from its raw one: alike on shares above 0, and at least that on
    the others.
    """
    ratio = (shares - raw) / (NOISE.unheld + NOISE.held * shares)
    return (2 * ratio - NOISE.held * ratio**2)[..., shares > 0], (
        2 * ratio - NOISE.held * ratio**2
    )[..., shares == 0]


def optimal(shares, raw):
    """Whether shares are a distribution and no shift between two of them lowers the objective."""
    kept, cut = pulls(shares, raw)
    return (
        abs(shares.sum() - 1) < 1e-9
        and np.ptp(kept) < 1e-8
        and (cut.size == 0 or cut.min() > kept.max() - 1e-8)
    )


def printed(raw, p=0.5, q=0.25):
    """The solution as published: the sign of B x changes between two of its equations."""
    P, A, B = p - q, q * (1 - q), 1 - p - q
    kept = np.ones(len(raw), bool)
    while True:
        x = (P * raw[kept].sum() - P) / (P * B - kept.sum() * A)
        shares = (A * x + P * raw) / (P - P * B * x)
        if not (kept & (shares < 0)).any():
            return np.where(kept, shares, 0.0)
        kept &= shares >= 0


def test_conditions_of_the_optimum_hold_and_the_printed_signs_fail_them():
    """300 random problems; the broken twin fails nearly all of them."""
    rng = np.random.default_rng(4)
    problems = [rng.normal(1 / size, 0.2, size) for size in rng.integers(2, 40, 300)]
    assert all(optimal(mle_apx(raw, NOISE.unheld, NOISE.held), raw) for raw in problems)
    assert sum(optimal(printed(raw), raw) for raw in problems) < 10
    assert abs(printed(ABOVE) - mle_apx(ABOVE, NOISE.unheld, NOISE.held)).max() > 1e-4


def test_symmetric_noise_makes_it_norm_sub():
    noise = IndependentNoise.of(0.7, 0.3)
    raw = np.random.default_rng(5).normal(0.05, 0.2, (20, 30))
    assert mle_apx(raw, noise.unheld, noise.held) == pytest.approx(norm_sub(raw), abs=1e-10)


def test_counts_need_a_variance_on_their_scale():
    counts = mle_apx(1000 * ABOVE, 1000 * NOISE.unheld, NOISE.held, total=1000)
    assert counts == pytest.approx(1000 * mle_apx(ABOVE, NOISE.unheld, NOISE.held))


def test_replicates_beyond_what_reports_can_give_still_become_a_distribution():
    raw = np.array([[-50.0, -50.0, -50.0], [-50.0, 0.2, 0.1], [30.0, -80.0, 29.0]])
    shares = mle_apx(raw, NOISE.unheld, NOISE.held)
    assert shares.sum(axis=1) == pytest.approx([1, 1, 1])
    assert shares[0] == pytest.approx([1 / 3] * 3)
    assert shares[1, 0] == 0


def test_votes_without_noise_or_without_a_formula_are_refused():
    with pytest.raises(ParameterError):
        mle_apx(ABOVE, 0.0, 0.0)
    with pytest.raises(ParameterError):
        rule_for(estimate(ABOVE, SampledNoise(np.zeros((10, 7)))))
