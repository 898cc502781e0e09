"""Laws of all methods of post-processing, for any raw shares whatever."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.postprocess.apply import methods, rule_of
from sottovoce.postprocess.base_pos import base_pos
from sottovoce.postprocess.mle_apx import mle_apx
from sottovoce.postprocess.norm import norm
from sottovoce.postprocess.norm_cut import norm_cut
from sottovoce.postprocess.norm_mul import norm_mul
from sottovoce.postprocess.norm_sub import norm_sub

NOISE, USERS = IndependentNoise.of(0.5, 0.25), 1000
NORMALISED = ("norm-mul", "norm-sub", "mle-apx", "power-ns")
SETTLED = ("base", "base-pos", "base-cut", "norm", "norm-mul", "norm-sub", "norm-cut")

usual = st.floats(-1, 1.5, allow_subnormal=False)
huge = st.floats(-1e5, 1e5, allow_subnormal=False)
tied = st.sampled_from([-0.2, 0.0, 0.1, 0.25])
shares = st.one_of(
    [
        arrays(np.float64, st.integers(1, size), elements=elements)
        for elements, size in ((usual, 200), (huge, 20), (tied, 40))
    ]
)


def rule(method, raw):
    """A method bound to an estimate of these raw shares."""
    return rule_of(Estimate(raw * USERS, NOISE, USERS, 1.0), method)


def slack(raw):
    """What rounding may do to shares of this size."""
    return 1e-9 * max(1.0, np.abs(raw).max())


@pytest.mark.parametrize("method", [*NORMALISED, "norm-cut"])
@given(raw=shares)
def test_results_are_distributions(method, raw):
    made = rule(method, raw)(raw)
    assert made.min() >= 0
    assert made.sum() <= 1 + 1e-9
    assert method == "norm-cut" or made.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("method", methods())
@given(raw=shares, seed=st.integers(0, 99))
def test_order_is_kept_and_places_do_not_matter(method, raw, seed):
    method = rule(method, raw)
    made, order = method(raw), np.random.default_rng(seed).permutation(len(raw))
    ascending = np.argsort(raw, kind="stable")
    steps, level = np.diff(made[ascending]), np.diff(raw[ascending]) == 0
    assert (steps >= -slack(raw)).all()
    assert (steps[level] <= slack(raw)).all()
    np.testing.assert_allclose(method(raw[order]), made[order], atol=slack(raw), rtol=0)


@pytest.mark.parametrize("method", methods())
@given(raw=arrays(np.float64, (4, 9), elements=usual))
def test_rows_do_not_know_each_other(method, raw):
    together = rule(method, raw[0])(raw)
    alone = np.stack([rule(method, row)(row) for row in raw])
    np.testing.assert_allclose(together, alone, atol=1e-9, rtol=0)


@pytest.mark.parametrize("method", SETTLED)
@given(raw=shares)
def test_doing_it_twice_changes_nothing(method, raw):
    once = rule(method, raw)(raw)
    np.testing.assert_allclose(rule(method, raw)(once), once, atol=slack(raw), rtol=0)


@pytest.mark.parametrize("method", [norm, norm_mul, norm_sub, norm_cut])
@given(raw=shares)
def test_counts_and_shares_agree(method, raw):
    np.testing.assert_allclose(
        method(512 * raw, total=512.0), 512 * method(raw), atol=512 * slack(raw), rtol=0
    )


@given(raw=shares)
def test_norm_sub_is_the_projection(raw):
    """Against the iteration of the paper: drop what is negative, and start again."""
    kept = np.ones(len(raw), bool)
    while True:
        made = raw + (1 - raw[kept].sum()) / kept.sum()
        if not (kept & (made < 0)).any():
            break
        kept &= made >= 0
    np.testing.assert_allclose(norm_sub(raw), np.where(kept, made, 0), atol=10 * slack(raw), rtol=0)


@given(raw=arrays(np.float64, 12, elements=usual), seed=st.integers(0, 99))
def test_no_distribution_is_nearer_than_norm_sub(raw, seed):
    others = np.random.default_rng(seed).dirichlet(np.full(12, 0.3), 1000)
    assert np.linalg.norm(norm_sub(raw) - raw) <= np.linalg.norm(others - raw, axis=1).min() + 1e-12


@given(
    raw=arrays(np.float64, st.integers(1, 60), elements=usual),
    p=st.floats(0.05, 0.95),
    q=st.floats(0.01, 0.9),
)
def test_mle_apx_meets_the_conditions_of_its_optimum(raw, p, q):
    noise = IndependentNoise.of(p, min(q, 0.8 * p))
    raw = np.clip(
        raw,
        -0.99 * noise.unheld / max(noise.held, 1e-9),
        0.99 * noise.unheld / max(-noise.held, 1e-9),
    )
    made = mle_apx(raw, noise.unheld, noise.held)
    pull = (made - raw) / (noise.unheld + noise.held * made)
    assert np.ptp(pull[made > 0]) < 1e-8 * max(1, np.abs(pull).max())
    assert (pull[made == 0] >= pull[made > 0].max() - 1e-8 * max(1, np.abs(pull).max())).all()


@given(raw=shares, truth=st.floats(0, 2))
def test_base_pos_is_never_further_from_a_possible_truth(raw, truth):
    assert (np.abs(base_pos(raw) - truth) <= np.abs(raw - truth)).all()


@given(raw=shares)
def test_a_distribution_is_left_alone(raw):
    consistent = norm_sub(raw)
    for method in (norm, norm_sub, norm_mul):
        np.testing.assert_allclose(method(consistent), consistent, atol=1e-9)
