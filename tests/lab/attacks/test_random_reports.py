"""Random reports: they give every value the mean vote over all reports, and no more."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.attacks.random_reports import RandomReports
from sottovoce.lab.seeded import SeededRng

REPORTS = 4000


@pytest.mark.parametrize(
    "kind", ["grr", "oue", "sue", "the", "subset", "hadamard", "affine", "olh"]
)
def test_the_gain_of_every_value_is_the_mean_over_all_reports(kind):
    """Exact from the listed reports, or from the uniform bucket of hashing; 5 sigma.

    The twin draws honest reports of the first value instead, whose gain is 1.
    """
    task = sv.Task("letters", sv.Histogram(list("abcdef"), kind), epsilon=1.0)
    mechanism = task.opening.ask.mechanism
    (reports,) = RandomReports().reports(task.opening, REPORTS, SeededRng(1)).values()
    votes = mechanism.votes(mechanism.unpack(mechanism.pack(reports)), np.arange(6))
    if kind in ("affine", "olh"):
        expected = np.full(6, (1 / mechanism.buckets - mechanism.q) / (mechanism.p - mechanism.q))
    else:
        expected = mechanism.votes(mechanism.outcomes(), np.arange(6)).mean(axis=0)
    sigma = votes.std(axis=0) / np.sqrt(REPORTS)
    print(kind, votes.mean(axis=0), "expected", expected, "sigma", sigma)
    assert (abs(votes.mean(axis=0) - expected) < 5 * sigma).all()
    honest = mechanism.privatize(np.zeros(REPORTS, int), SeededRng(1))
    twin = mechanism.votes(honest, np.arange(6)).mean(axis=0)
    assert not (abs(twin - expected) < 5 * sigma).all()


def test_numbers_are_pulled_to_the_middle():
    task = sv.Task("weight", sv.Mean(0, 10), epsilon=1.0)
    mechanism = task.opening.ask.mechanism
    (reports,) = RandomReports().reports(task.opening, REPORTS, SeededRng(1)).values()
    numbers = mechanism.numbers(mechanism.codes(reports))
    assert abs(numbers.mean()) < 5 * numbers.std() / np.sqrt(REPORTS)
