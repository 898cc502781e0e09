"""The test of a histogram of outputs: its bound holds on honest reports, and attacks exceed it."""

import numpy as np
import pytest

from sottovoce.errors import MismatchError, ParameterError
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts
from sottovoce.plans.numbers.poison_evidence import (
    evidence_in_tally,
    output_counts,
    poison_evidence,
    runs,
)
from sottovoce.tasks.question import Question


def populations(size):
    """Return smooth, bimodal, spiky and flat people, and people who all hold one extreme."""
    extreme = np.zeros(size)
    extreme[0] = 1
    return {**shapes(size), "flat": np.full(size, 1 / size), "extreme": extreme}


def honest(wave, people, users, seed):
    chances = wave.sliding.forward(people)
    counts = np.random.default_rng(seed).multinomial(users, chances / chances.sum())
    return OutputCounts(counts[None].astype(float), wave.sliding, wave.size, wave.epsilon)


@pytest.mark.parametrize("epsilon", [1 / 16, 1.0, 4.0])
def test_honest_people_never_raise_an_alarm(epsilon):
    wave = SquareWave(epsilon=epsilon, size=128)
    for name, people in populations(128).items():
        for users in (300, 50_000):
            found = poison_evidence(honest(wave, people, users, seed=users))
            print(f"{name}, {users} users: misfit {found.misfit:.1f} of {found.threshold:.1f}")
            assert not found.alarm
            # The bound is chi-squared with 31 degrees: its mean is 15.5, its deviation 3.9.
            assert found.misfit < 15.5 + 5 * 3.94


def attacked(wave, share, users, seed):
    rng = SeededRng(seed)
    people = shapes(wave.size)["Beta(2, 5)"]
    liars = round(share * users)
    observed = honest(wave, people, users - liars, seed)
    false = BiasedNumbers(8, 2, chosen=(1, 6)).crafted(Question(wave), liars, rng)
    counts = observed.counts + np.bincount(false, minlength=wave.outputs)
    return OutputCounts(counts, wave.sliding, wave.size, wave.epsilon)


@pytest.mark.parametrize("epsilon", [1 / 16, 0.5, 1.0])
def test_an_attack_is_seen(epsilon):
    found = poison_evidence(attacked(SquareWave(epsilon=epsilon, size=128), 0.1, 50_000, seed=1))
    print(f"misfit {found.misfit:.0f} of {found.threshold:.1f}, share {found.share:.3f}")
    assert found.alarm
    assert found.segments


def test_at_a_small_epsilon_the_share_is_right():
    found = poison_evidence(attacked(SquareWave(epsilon=1 / 16, size=128), 0.25, 50_000, seed=1))
    assert found.share == pytest.approx(0.25, abs=0.03)
    suspected = sum(high - low for low, high in found.segments)
    assert any(low <= 1 / 8 and high >= 2 / 8 for low, high in found.segments)
    assert any(low <= 6 / 8 and high >= 7 / 8 for low, high in found.segments)
    assert suspected < 0.8
    assert found.reports == 50_000


def test_a_stricter_test_has_a_higher_threshold():
    observed = honest(SquareWave(epsilon=1.0, size=16), np.full(16, 1 / 16), 1_000, seed=1)
    usual, strict = poison_evidence(observed), poison_evidence(observed, alpha=1e-9)
    assert strict.misfit == usual.misfit
    assert strict.threshold > usual.threshold + 5


def test_categories_are_tested_as_well():
    grr = GRR(epsilon=0.5, size=12)
    rng = SeededRng(3)
    people = np.repeat(np.arange(12), np.arange(12) * 500)
    reports = grr.privatize(people, rng)
    assert not evidence_in_tally(grr, grr.tally(reports)).alarm
    poisoned = np.append(reports, np.full(8_000, 2))
    found = evidence_in_tally(grr, grr.tally(poisoned))
    assert found.alarm
    assert found.share == pytest.approx(8_000 / len(poisoned), abs=0.06)


def test_a_tally_must_count_all_outputs():
    oue = OUE(epsilon=1.0, size=8)
    tally = oue.tally(oue.privatize(np.arange(8), SeededRng(1)))
    with pytest.raises(ParameterError, match="counts every possible report"):
        evidence_in_tally(oue, tally)
    wave = SquareWave(epsilon=1.0, size=8)
    with pytest.raises(MismatchError):
        evidence_in_tally(SquareWave(epsilon=2.0, size=8), wave.tally(np.arange(8)))
    large = GRR(epsilon=1.0, size=65)
    with pytest.raises(ParameterError, match="more than 64 categories"):
        evidence_in_tally(large, large.tally(np.arange(65)))


@pytest.mark.parametrize(
    "mechanism", [SquareWave(epsilon=1.0, size=9), GRR(epsilon=1.0, size=9)], ids=str
)
def test_the_channel_is_that_of_the_mechanism(mechanism):
    reports = mechanism.privatize(np.arange(9).repeat(20), SeededRng(2))
    observed = output_counts(mechanism, mechanism.tally(reports))
    outcomes = mechanism.outcomes()
    np.testing.assert_array_equal(
        observed.counts[0], [(reports == outcome).sum() for outcome in outcomes]
    )
    chances = observed.channel.forward(np.eye(9))
    np.testing.assert_allclose(chances.T, mechanism.likelihood(outcomes), atol=1e-12)


def test_runs_are_stretches_in_parts_of_the_line():
    assert runs(np.array([True, False, False, True])) == ((0.0, 0.25), (0.75, 1.0))
    assert runs(np.zeros(4, bool)) == ()
