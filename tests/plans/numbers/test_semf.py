"""SEMF: which segments are taken for poisoned, level by level."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.maths.em import Dense
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, emf
from sottovoce.plans.numbers.semf import (
    SegmentSearch,
    interquartile_range,
    segment_of_outputs,
    segment_sums,
    semf,
)

WAVE = SquareWave(epsilon=1 / 16, size=32)
REPORTS = 2e5
EVERYWHERE = WAVE.outputs // 8 * np.array([1, 3, 5, 7])  # an output of every quarter


def expected(poison, share=0.25, wave=WAVE):
    """Return noiseless counts of uniform people, and false reports over some outputs."""
    chances = (1 - share) * wave.sliding.forward(np.full(wave.size, 1 / wave.size))
    chances[poison] += share / len(poison)
    return OutputCounts(REPORTS * chances[None], wave.sliding, wave.size, wave.epsilon)


def outputs_of(segment, count, wave=WAVE):
    return np.flatnonzero(segment_of_outputs(wave.outputs, count) == segment)


def test_one_poisoned_half_is_found_at_the_first_level():
    found = semf(expected(outputs_of(5, 8)))[0]
    np.testing.assert_array_equal(found, segment_of_outputs(WAVE.outputs, 2) == 1)


def test_poison_in_both_halves_is_found_at_the_second_level():
    poison = np.concatenate([outputs_of(0, 8), outputs_of(5, 8)])
    found = semf(expected(poison))[0]
    np.testing.assert_array_equal(found, np.isin(segment_of_outputs(WAVE.outputs, 4), (0, 2)))
    assert found[poison].all()


def test_honest_reports_are_not_suspected():
    assert not semf(expected(np.array([0]), share=0.0)).any()


def test_if_every_segment_is_suspected_the_least_suspect_one_is_left_out():
    """A spike in every quarter: no segment of the two levels is clean."""
    observed = expected(EVERYWHERE)
    found = semf(observed, SegmentSearch(max_segments=8))[0]
    segments = segment_of_outputs(WAVE.outputs, 4)
    sums = segment_sums(observed, segments)[0]
    assert (sums > 0.02).all()
    np.testing.assert_array_equal(found, segments != sums.argmin())


def printed(observed, search):
    """Algorithm 7 as it is printed: the fallback is taken where a clean segment *was* found."""
    for count in search.levels(observed.outputs):
        segments = segment_of_outputs(observed.outputs, count)
        sums = segment_sums(observed, segments)[0]
        suspected = sums >= search.threshold * interquartile_range(observed)[0]
        if not suspected.all():
            suspected = np.arange(count) != sums.argmin()
            return suspected[segments]
    return np.ones(observed.outputs, bool)


def test_the_printed_fallback_would_be_seen():
    """The broken twin: it suspects three quarters, and everything where nothing was clean."""
    poison = np.concatenate([outputs_of(0, 8), outputs_of(5, 8)])
    observed = expected(poison)
    search = SegmentSearch()
    assert printed(observed, search).mean() > 1.4 * semf(observed, search).mean()
    observed = expected(EVERYWHERE)
    everything = printed(observed, SegmentSearch(max_segments=8))
    with pytest.raises(ParameterError, match="must leave out an output"):
        emf(observed, everything[None])


def test_levels_double_and_stay_below_the_limit():
    assert SegmentSearch().levels(1_000) == [2, 4, 8, 16, 32]
    assert SegmentSearch(max_segments=8).levels(1_000) == [2, 4]
    assert SegmentSearch().levels(6) == [2, 4]


def test_rows_are_searched_each_by_itself():
    first, second = expected(outputs_of(5, 8)), expected(np.array([0]), share=0.0)
    poison = np.concatenate([outputs_of(0, 8), outputs_of(5, 8)])
    third = expected(poison)
    counts = np.concatenate([each.counts for each in (first, second, third)])
    together = semf(OutputCounts(counts, WAVE.sliding, WAVE.size, WAVE.epsilon))
    for row, alone in enumerate((first, second, third)):
        np.testing.assert_array_equal(together[row], semf(alone)[0])


def test_segments_are_nearly_equal():
    lengths = np.bincount(segment_of_outputs(1_001, 32))
    assert len(lengths) == 32
    assert lengths.max() - lengths.min() <= 1
    assert (np.diff(segment_of_outputs(1_001, 32)) >= 0).all()


def test_the_interquartile_range_is_in_units_of_the_values():
    """Uniform over all outputs, which reach from -b to 1 + b: half of that length."""
    counts = np.full((1, WAVE.outputs), 10.0)
    observed = OutputCounts(counts, WAVE.sliding, WAVE.size, WAVE.epsilon)
    assert interquartile_range(observed)[0] == pytest.approx(WAVE.outputs / WAVE.size / 2)
    # In outputs instead it would be 32 times as much, and every segment would look clean.
    assert semf(expected(outputs_of(5, 8)), SegmentSearch(threshold=0.02 * 32)).sum() == 0


def test_categories_are_segments_too():
    grr = GRR(epsilon=1 / 16, size=15)
    channel = Dense(grr.likelihood(grr.outcomes()))
    people = np.exp(-0.5 * ((np.arange(15) - 9) / 3) ** 2)
    chances = 0.75 * channel.forward(people / people.sum())
    chances[9] += 0.25
    found = semf(OutputCounts(1e5 * chances[None], channel, 15, 1 / 16))[0]
    assert found[9]
    assert not found[:7].any()


@pytest.mark.parametrize(
    ("settings", "rule"),
    [({"threshold": 0.0}, "`threshold`"), ({"max_segments": 48}, "`max_segments`")],
)
def test_settings_that_make_no_sense_are_refused(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        SegmentSearch(**settings)
