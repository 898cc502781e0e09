"""The band of a distribution: it contains the truth for every distribution and every false report,
and the best cell is the one that brute force finds.
"""

from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.cumulative_band import CumulativeBand, QuantileTotal
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.mechanisms.square_wave import SquareWave

WAVE = SquareWave(2.0, 5)


def band_of(counts):
    return CumulativeBand(np.asarray(counts, float), WAVE.inside, WAVE.outside, WAVE.window)


def test_the_chances_are_those_of_the_mechanism():
    band = band_of(np.ones(WAVE.outputs))
    cells, indices = np.arange(WAVE.outputs), np.arange(WAVE.size)
    expected = WAVE.likelihood(WAVE.outcomes()).cumsum(axis=0)
    np.testing.assert_allclose(band.chances(cells, indices), expected, atol=1e-12)
    assert band.size == WAVE.size
    assert (np.diff(expected, axis=1) <= 1e-12).all(), "they fall with the index"


def worst_poison(shares, fakes):
    """Yield expected reports of a population with false reports in one cell."""
    honest = WAVE.likelihood(WAVE.outcomes()) @ shares
    for cell in range(WAVE.outputs):
        yield (1 - fakes) * honest + fakes * np.eye(WAVE.outputs)[cell]


@pytest.mark.parametrize("fakes", [0.02, 0.2])
def test_without_sampling_no_distribution_and_no_false_report_leaves_the_band(fakes):
    """Every distribution over 5 buckets in steps of a quarter, poisoned in every cell.

    The twin that forgets the false reports is left by some of them.
    """
    steps = [steps for steps in product(range(5), repeat=5) if sum(steps) == 4]
    left = 0
    for numerators in steps:
        shares = np.array(numerators) / 4
        below = np.concatenate([[0.0], shares.cumsum()])
        for seen in worst_poison(shares, fakes):
            low, high = band_of(1e15 * seen).bounds(0.95, fakes)
            assert (low <= below + 1e-6).all()
            assert (below <= high + 1e-6).all()
            low, high = band_of(1e15 * seen).bounds(0.95, 1e-12)
            left += (low > below + 1e-6).any() or (high < below - 1e-6).any()
    print(len(steps), "distributions; the twin was left", left, "times")
    assert left > 0


def quotients(numerators, gaps):
    """Return the quotients of the cells that tell the indices apart."""
    return [top / gap for top, gap in zip(numerators, gaps, strict=True) if gap > 1e-12]


def test_the_band_is_the_best_over_all_cells_and_monotone():
    counts = np.random.default_rng(1).integers(50, 400, WAVE.outputs)
    low, high = band_of(counts).bounds(0.9, 0.03)
    reports = counts.sum()
    margin = np.sqrt(np.log(2 / 0.1) / (2 * reports * 0.97))
    chances = WAVE.likelihood(WAVE.outcomes()).cumsum(axis=0)
    seen = counts.cumsum() / reports
    uppers, lowers = [0.0], [0.0]
    for below in range(1, WAVE.size):
        first, before, here, last = chances[:, [0, below - 1, below, -1]].T
        uppers.append(min(quotients(seen / 0.97 + margin - last, before - last)))
        lowers.append(max(quotients((seen - 0.03) / 0.97 - margin - here, first - here)))
    expected_high = np.minimum.accumulate(np.clip([*uppers, 1.0], 0, 1)[::-1])[::-1]
    expected_low = np.maximum.accumulate(np.clip([*lowers, 1.0], 0, 1))
    np.testing.assert_allclose(high, expected_high, atol=1e-9)
    np.testing.assert_allclose(low, expected_low, atol=1e-9)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()


def test_a_quantile_lies_between_the_edges_that_the_band_allows():
    edges = np.linspace(0, 10, WAVE.size + 1)
    counts = 1e15 * (WAVE.likelihood(WAVE.outcomes()) @ np.array([0.0, 0.5, 0.5, 0.0, 0.0]))
    figure = QuantileTotal(4.0, 0.01, band=band_of(counts), edges=edges, share=0.4)
    low, high = figure.attacked(0.95, 0.01)
    assert low <= 2 + 2 * 0.8 <= high
    assert high - low < 10
    assert QuantileTotal(4.0, 0.01).attacked(0.95, 0.01) is None


def test_quantiles_of_attacked_collections_are_covered():
    """Median of 2,000 numbers around 3, all attackers at the upper end."""
    task = sv.Task("weight", sv.Distribution(0, 10, 32), epsilon=2.0)
    values = np.linspace(2, 4, 2000)
    attack = SupportTarget(task.plan.domain, (9.9,))
    for seed in range(3):
        answer = sv.simulate(task, values, seed=seed, attack=attack, share=0.05)
        median = answer.at(0.95, fakes=0.05).quantile(0.5)
        low, high = median.attacked(0.95, 0.05)
        assert low <= 3 <= high
