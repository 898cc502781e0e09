"""EMF: the golden instance, what never falls, what is refused, and how little a large epsilon says.

The golden numbers are those of an independent computation, to 8 digits and more.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import MismatchError, NoDataError, ParameterError
from sottovoce.maths.em import Dense, em
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import TOLERANCE, SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, PoisonedChannel, emf, unfiltered

WAVE = SquareWave(epsilon=1.0, size=4)
COUNTS = np.array([[30.0, 20.0, 25.0, 15.0, 10.0, 100.0]])
LAST = np.arange(6)[None] == 5
OBSERVED = OutputCounts(COUNTS, WAVE.sliding, 4, 1.0)
EXACT = 1e-8


def after(steps, **settings):
    return emf(OBSERVED, LAST, tolerance=0.0, max_steps=steps, **settings)


def test_the_channel_of_the_golden_instance():
    assert WAVE.outputs == 6
    assert WAVE.inside == pytest.approx(0.2436861929, abs=1e-10)
    assert WAVE.outside == pytest.approx(0.0896471405, abs=1e-10)


@pytest.mark.parametrize(
    ("steps", "honest", "share"),
    [
        (1, (0.1895221413, 0.1585255868, 0.1469726578, 0.1744289913), 0.3305506228),
        (2, (0.19828775, 0.13847107, 0.11879081, 0.14851850), 0.39593186),
        (100, (0.46844169, 0.02263144, 0.02184237, 0.04368420), 0.44340030),
    ],
)
def test_the_golden_instance(steps, honest, share):
    found = after(steps)
    assert found.honest[0] == pytest.approx(honest, abs=EXACT)
    assert found.share[0] == pytest.approx(share, abs=EXACT)
    assert found.iterations[0] == steps


def test_the_log_likelihood_of_the_golden_instance():
    start = OBSERVED.counts @ np.log(WAVE.sliding.forward(np.full(4, 0.2)) + 0.2 * LAST[0])
    assert start[0] == pytest.approx(-320.61650259, abs=EXACT)
    assert after(100).log_likelihood[0] == pytest.approx(-294.61824773, abs=EXACT)


@pytest.mark.parametrize(
    ("steps", "honest"),
    [
        (1, (0.17979529, 0.14776411, 0.13582556, 0.13661504)),
        (100, (0.49291716, 0.01411244, 0.00722759, 0.08574281)),
    ],
)
def test_the_golden_instance_with_a_given_share(steps, honest):
    found = after(steps, share=np.array([0.4]))
    assert found.honest[0] == pytest.approx(honest, abs=EXACT)
    assert found.share[0] == pytest.approx(0.4, abs=1e-12)


def printed_step(share_of_values, poison, counts, channel):
    """Algorithm 6 as it is printed: y counts in the denominator of an input of the same number."""
    plain = channel @ share_of_values
    honest = share_of_values * (channel.T @ (counts / plain))
    false = poison * counts / (plain + poison)
    total = honest.sum() + false[len(counts) // 2 :].sum()
    return honest / total, false / total


def test_the_printed_algorithm_would_be_seen():
    """The broken twin: it misses the first step of the golden instance by far more than 1e-8."""
    start = np.full(4, 0.2)
    honest, _ = printed_step(start, 0.2 * LAST[0], COUNTS[0], WAVE.channel())
    assert np.abs(honest - after(1).honest[0]).max() > 0.01


@given(
    st.integers(3, 24),
    st.sampled_from([1 / 16, 0.5, 2.0]),
    st.integers(0, 1 << 32),
    st.sampled_from([None, 0.2, 0.45]),
)
def test_the_likelihood_never_falls_and_all_mass_is_kept(size, epsilon, seed, share):
    dice = np.random.default_rng(seed)
    wave = SquareWave(epsilon=epsilon, size=size)
    counts = dice.integers(0, 50, (1, wave.outputs)).astype(float)
    counts[0, 0] += 1
    poisoned = dice.random((1, wave.outputs)) < 0.4
    poisoned[0, [0, -1]] = True, False
    observed = OutputCounts(counts, wave.sliding, size, epsilon)
    given_share = None if share is None else np.array([share])
    fits = [
        emf(observed, poisoned, share=given_share, tolerance=0.0, max_steps=steps)
        for steps in (1, 2, 3, 10, 30)
    ]
    likelihoods = np.array([fit.log_likelihood[0] for fit in fits])
    assert (np.diff(likelihoods) >= -1e-9 * np.abs(likelihoods[:-1])).all()
    for fit in fits:
        # Z = N: before it is scaled, a step gives every report to some value or output.
        assert fit.honest.sum() + fit.poison.sum() == pytest.approx(1, abs=1e-12)
        assert not fit.poison[~poisoned].any()


def test_a_step_that_forgets_the_poison_would_lose_mass():
    """The broken twin of Z = N: without y in the chances, a step has more than all reports."""
    plain = WAVE.sliding.forward(np.full(4, 0.2))
    honest = 0.2 * WAVE.sliding.backward(COUNTS[0] / plain)
    false = 0.2 * LAST[0] * COUNTS[0] / (plain + 0.2 * LAST[0])
    assert honest.sum() + false.sum() > 1.1 * COUNTS.sum()


def test_without_poisoned_outputs_it_is_plain_em():
    nowhere = emf(OBSERVED, np.zeros((1, 6), bool))
    plain = unfiltered(OBSERVED)
    known = em(COUNTS.astype(np.int64), WAVE.sliding, smooth=False, tolerance=OBSERVED.tolerance)
    np.testing.assert_allclose(nowhere.honest, plain.honest, atol=1e-14)
    np.testing.assert_array_equal(plain.honest, known.frequencies)
    assert plain.log_likelihood == pytest.approx(known.log_likelihood, rel=1e-12)
    assert nowhere.share[0] == plain.share[0] == 0


def test_smoothing_is_that_of_square_wave():
    known = em(COUNTS.astype(np.int64), WAVE.sliding, smooth=True, tolerance=TOLERANCE)
    np.testing.assert_array_equal(unfiltered(OBSERVED, smooth=True).honest, known.frequencies)


def test_rows_do_not_see_each_other():
    counts = np.concatenate([COUNTS, COUNTS[:, ::-1], COUNTS + 7])
    masks = np.concatenate([LAST, LAST[:, ::-1], np.arange(6)[None] < 2])
    together = emf(OutputCounts(counts, WAVE.sliding, 4, 1.0), masks)
    assert len(set(together.iterations.tolist())) > 1
    tolerance = 0.01 * np.e / counts.sum(axis=1).max()
    for row in range(3):
        alone = emf(
            OutputCounts(counts[row : row + 1], WAVE.sliding, 4, 1.0),
            masks[row : row + 1],
            tolerance=tolerance,
        )
        np.testing.assert_allclose(alone.honest[0], together.honest[row], atol=1e-14)
        np.testing.assert_allclose(alone.poison[0], together.poison[row], atol=1e-14)


def test_each_row_may_have_a_share_of_its_own():
    twice = OutputCounts(np.repeat(COUNTS, 2, axis=0), WAVE.sliding, 4, 1.0)
    found = emf(twice, np.repeat(LAST, 2, axis=0), share=np.array([0.1, 0.4]))
    assert found.share == pytest.approx([0.1, 0.4], abs=1e-12)


def test_poisoned_outputs_that_nobody_reported_hold_nothing():
    counts = COUNTS.copy()
    counts[0, 5] = 0
    observed = OutputCounts(counts, WAVE.sliding, 4, 1.0)
    found = emf(observed, LAST, share=np.array([0.4]))
    assert found.share[0] == 0
    assert found.honest.sum() == pytest.approx(1, abs=1e-12)


def test_the_channel_beside_the_outputs_is_a_matrix():
    dense = np.concatenate([WAVE.channel(), np.eye(6)], axis=1)
    both = PoisonedChannel(WAVE.sliding, 4)
    dice = np.random.default_rng(1)
    frequencies, weights = dice.random((3, 10)), dice.random((3, 6))
    np.testing.assert_allclose(both.forward(frequencies), frequencies @ dense.T, atol=1e-12)
    np.testing.assert_allclose(both.backward(weights), weights @ dense, atol=1e-12)
    assert dense.sum(axis=0) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("share", [None, 0.3])
def test_everything_poisoned_is_refused(share):
    with pytest.raises(ParameterError, match="must leave out an output"):
        emf(OBSERVED, np.ones((1, 6), bool), share=share and np.array([share]))


@pytest.mark.parametrize(
    ("share", "rule"),
    [
        (np.array([0.0]), "above 0 and below 1"),
        (np.array([1.0]), "above 0 and below 1"),
        (np.array([0.1, 0.2]), "for every row"),
    ],
)
def test_shares_that_make_no_sense_are_refused(share, rule):
    with pytest.raises(ParameterError, match=rule):
        emf(OBSERVED, LAST, share=share)


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="needs outputs that may be poisoned"):
        emf(OBSERVED, np.zeros((1, 6), bool), share=np.array([0.2]))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(MismatchError, match="one entry for every entry"):
        emf(OBSERVED, LAST[:, :5])
    with pytest.raises(MismatchError, match="a row for each collection"):
        OutputCounts(COUNTS[0], WAVE.sliding, 4, 1.0)
    with pytest.raises(NoDataError):
        OutputCounts(np.zeros((1, 6)), WAVE.sliding, 4, 1.0)


POISONED_CATEGORY = 9


@pytest.mark.parametrize(("epsilon", "share"), [(1 / 16, 0.2525), (1.0, 0.261), (2.0, 0.272)])
def test_categories_are_filtered_as_well(epsilon, share):
    """k-RR with 15 categories, a quarter in one of them, from expected counts: no noise at all.

    The share is squeezed from below only: 1 - share <= c / (N q) for every other category.
    """
    people = np.exp(-0.5 * ((np.arange(15) - 9) / 3) ** 2)
    grr = GRR(epsilon=epsilon, size=15)
    channel = Dense(grr.likelihood(grr.outcomes()))
    chances = 0.75 * channel.forward(people / people.sum())
    chances[POISONED_CATEGORY] += 0.25
    poisoned = np.arange(15)[None] == POISONED_CATEGORY
    found = emf(OutputCounts(1e5 * chances[None], channel, 15, epsilon), poisoned)
    bound = 1 - float(chances[~poisoned[0]].min()) / grr.q
    print(f"epsilon {epsilon}: share {found.share[0]:.4f}, bound {bound:.4f}")
    assert found.share[0] > bound - 0.002
    assert found.share[0] == pytest.approx(share, abs=0.03)
