"""DE-EMF, DE-EMF*, DE-REMF and DE-REMF*: what each removes, on noiseless counts first."""

import numpy as np
import pytest

from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.de_emf import METHODS, cleaned, de_emf, de_remf, de_remf_star
from sottovoce.plans.numbers.emf import OutputCounts, emf, unfiltered

WAVE = SquareWave(epsilon=1.0, size=4)
COUNTS = np.array([[30.0, 20.0, 25.0, 15.0, 10.0, 100.0]])
OBSERVED = OutputCounts(COUNTS, WAVE.sliding, 4, 1.0)
LAST = np.arange(6)[None] == 5
SHARE = np.array([0.4])


def test_de_emf_is_emf_scaled_to_one():
    found = de_emf(OBSERVED, LAST, SHARE)
    filtered = emf(OBSERVED, LAST)
    np.testing.assert_allclose(found.distribution, filtered.honest / filtered.honest.sum())
    assert found.share == pytest.approx(filtered.share)


def test_the_star_removes_counts_not_shares():
    """c' = max(c - N y, 0): the counts that remain are those of the honest part."""
    found = de_remf(OBSERVED, LAST, SHARE)
    remaining = OBSERVED.without(found.poison)
    assert remaining.counts[0, :5] == pytest.approx(COUNTS[0, :5])
    assert remaining.counts[0, 5] == pytest.approx(100 - 0.4 * 200)
    star = de_remf_star(OBSERVED, LAST, SHARE)
    np.testing.assert_array_equal(star.distribution, unfiltered(remaining).distribution)
    np.testing.assert_array_equal(star.poison, found.poison)


def test_the_printed_subtraction_would_remove_nothing():
    """The broken twin: c - y, as printed, leaves 99.6 of 100 false reports."""
    found = de_remf(OBSERVED, LAST, SHARE)
    printed = OutputCounts(COUNTS - found.poison, WAVE.sliding, 4, 1.0)
    assert printed.counts[0, 5] > 99
    right = de_remf_star(OBSERVED, LAST, SHARE).distribution
    assert np.abs(unfiltered(printed).distribution - right).max() > 0.2


def test_no_more_is_removed_than_there_is():
    too_much = np.zeros((1, 6))
    too_much[0, 4] = 0.2  # 40 of the 10 reports
    remaining = OBSERVED.without(too_much)
    assert remaining.counts.min() == 0
    assert remaining.counts.sum() == 190


@pytest.mark.parametrize("method", ["de-remf", "de-remf*"])
def test_without_an_attack_it_is_plain_em(method):
    plain = unfiltered(OBSERVED).distribution
    nothing_suspected = METHODS[method](OBSERVED, np.zeros((1, 6), bool), SHARE)
    np.testing.assert_array_equal(nothing_suspected.distribution, plain)
    no_share = METHODS[method](OBSERVED, LAST, np.zeros(1))
    np.testing.assert_array_equal(no_share.distribution, plain)
    assert no_share.share[0] == 0


@pytest.mark.parametrize("method", METHODS)
def test_every_method_returns_a_distribution_of_every_row(method):
    counts = np.concatenate([COUNTS, COUNTS[:, ::-1]])
    masks = np.concatenate([LAST, np.zeros((1, 6), bool)])
    found = METHODS[method](OutputCounts(counts, WAVE.sliding, 4, 1.0), masks, np.full(2, 0.4))
    assert found.distribution.sum(axis=1) == pytest.approx(1)
    assert found.share[0] > 0
    assert found.share[1] == 0


def test_the_true_share_recovers_honest_people():
    """A quarter of 10^6 reports lies in one eighth of the outputs; all is known but the people."""
    wave = SquareWave(epsilon=2.0, size=64)
    people = np.exp(-0.5 * ((np.arange(64) - 20) / 8) ** 2)
    people /= people.sum()
    chances = 0.75 * wave.sliding.forward(people)
    poisoned = np.arange(wave.outputs)[None] >= 7 * wave.outputs // 8
    chances[poisoned[0]] += 0.25 / poisoned.sum()
    counts = SeededRng(5).generator.multinomial(1_000_000, chances / chances.sum())
    observed = OutputCounts(counts[None].astype(float), wave.sliding, 64, 2.0)
    share = np.array([0.25])

    def distance(distribution):
        return float(np.abs(np.cumsum(distribution[0] - people)).mean())

    undefended = distance(unfiltered(observed).distribution)
    found = {
        name: distance(method(observed, poisoned, share).distribution)
        for name, method in METHODS.items()
    }
    smooth = cleaned(observed, de_remf(observed, poisoned, share), smooth=True)
    print(undefended, found, distance(smooth.distribution))
    assert max(found.values()) < undefended / 5
    assert distance(smooth.distribution) < undefended / 5
