"""Trimming: what is cut from the ends, and that poison in the middle stays."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.numbers.trimming import trimmed, trimmed_counts
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered

WAVE = SquareWave(epsilon=1.0, size=16)


def observed(counts):
    return OutputCounts(counts[None], WAVE.sliding, 16, 1.0)


def test_half_of_the_share_is_cut_from_either_end():
    counts = np.full(10, 10.0)
    kept = trimmed_counts(counts, 0.3)
    assert kept.tolist() == [0.0, 5.0, *[10.0] * 6, 5.0, 0.0]


def test_it_is_plain_em_on_the_rest():
    counts = np.arange(1.0, WAVE.outputs + 1)
    kept = trimmed_counts(counts, 0.2)
    np.testing.assert_array_equal(
        trimmed(observed(counts), 0.2), unfiltered(observed(kept)).distribution[0]
    )


def test_poison_at_an_end_is_cut_and_in_the_middle_it_stays():
    """A fifth of all reports in one output: cut if it is the first, kept if it is a middle one."""
    counts = np.full(WAVE.outputs, 100.0)
    for place, kept in ((0, 0.0), (WAVE.outputs // 2, 700.0)):
        poisoned = counts.copy()
        poisoned[place] = 700.0
        assert trimmed_counts(poisoned, 0.5)[place] == kept


def test_a_share_of_everything_is_refused():
    with pytest.raises(ParameterError, match="`share`"):
        trimmed(observed(np.ones(WAVE.outputs)), 1.0)
