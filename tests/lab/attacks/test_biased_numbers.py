"""Biased numbers: reports lie in the poisoned segments, with the law of their shape."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.attacks.biased_numbers import SHAPES, BiasedNumbers
from sottovoce.lab.seeded import SeededRng

REPORTS = 4000
KINDS = {"piecewise": sv.Mean(0, 10, "piecewise"), "hybrid": sv.Mean(0, 10, "hybrid")}
KINDS |= {"duchi": sv.Mean(0, 10, "duchi"), "square_wave": sv.Distribution(0, 10, 64)}


def made(kind, attack):
    """Return the reported numbers, and the numbers of all outputs in ascending order."""
    task = sv.Task("weight", KINDS[kind], epsilon=1.0)
    mechanism = task.opening.ask.mechanism
    (reports,) = attack.reports(task.opening, REPORTS, SeededRng(7)).values()
    accepted = mechanism.unpack(mechanism.pack(reports))
    numbers = mechanism.numbers(mechanism.codes(accepted))
    return numbers, np.sort(mechanism.numbers(np.arange(mechanism.outputs)))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_uniform_reports_have_the_mean_of_their_segments(kind):
    """Exact: each output weighs as much as of it lies in the segments 5 and 7 of 8; 5 sigma.

    The twin takes the opposite segments.
    """
    numbers, outputs = made(kind, BiasedNumbers(8, 2, chosen=(5, 7)))
    edges = np.arange(len(outputs) + 1) / len(outputs)

    def mean_of(segments):
        weights = sum(
            np.clip(np.minimum(edges[1:], (part + 1) / 8) - np.maximum(edges[:-1], part / 8), 0, 1)
            for part in segments
        )
        return float(weights @ outputs / weights.sum())

    sigma = numbers.std() / np.sqrt(REPORTS)
    print(kind, "mean", numbers.mean(), "expected", mean_of((5, 7)), "sigma", sigma)
    assert abs(numbers.mean() - mean_of((5, 7))) < 5 * sigma + 1e-12  # Duchi's has one number
    assert abs(numbers.mean() - mean_of((0, 2))) > 5 * sigma


# The mean position within a segment: uniform and Gaussian 1/2, Beta(1, 6) 1/7, Beta(6, 1) 6/7.
@pytest.mark.parametrize(
    ("shape", "mean"), [*zip(SHAPES, (1 / 2, 1 / 2, 1 / 7, 6 / 7), strict=True)]
)
def test_a_shape_has_its_mean_within_the_segment(shape, mean):
    numbers, outputs = made("piecewise", BiasedNumbers(4, 1, shape, (3,)))
    positions = np.searchsorted(outputs, numbers) / len(outputs)
    within = 4 * positions - 3
    sigma = within.std() / np.sqrt(REPORTS)
    print(shape, within.mean(), "expected", mean, "sigma", sigma)
    assert (within >= 0).all()
    assert abs(within.mean() - mean) < 5 * sigma + 4 / len(outputs)


def test_segments_are_drawn_once_for_a_collection():
    numbers, outputs = made("piecewise", BiasedNumbers(8, 2))
    used = np.unique(8 * np.searchsorted(outputs, numbers) // len(outputs))
    assert len(used) == 2


def test_settings_are_checked_and_counts_are_refused():
    with pytest.raises(ParameterError, match="`poisoned` must be a whole number from 1 to 8"):
        BiasedNumbers(8, 9)
    with pytest.raises(ParameterError, match="`chosen`"):
        BiasedNumbers(8, 2, chosen=(1, 8))
    with pytest.raises(ParameterError, match="`shape`"):
        BiasedNumbers(8, 2, "square")
    letters = sv.Task("letters", sv.Histogram(["a", "b"]), epsilon=1.0)
    with pytest.raises(ParameterError, match="randomises numbers"):
        BiasedNumbers().reports(letters.opening, 3, SeededRng(1))
    assert BiasedNumbers.aimed(Aim(letters, against=True)).chosen == (0,)
