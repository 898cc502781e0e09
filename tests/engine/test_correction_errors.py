"""Errors of corrections: the spread of the whole correction on halves, drawn alike every time."""

import numpy as np

from integrity.collections import collection
from sottovoce.engine.correction_errors import AddressCorrection
from sottovoce.lab.experiments.poisoning.scenario import ADDRESS


def test_without_alarm_the_correction_of_reports_is_their_plain_estimate():
    found = collection("none", users=4000)
    correction = AddressCorrection(found.collected, ADDRESS)
    plain = found.mechanism.estimate(found.mechanism.tally(found.reports)).frequencies
    np.testing.assert_array_equal(correction.frequencies(found.reports), plain)


def test_errors_replay_and_are_near_those_of_the_mechanism():
    found = collection("1", users=8000)
    correction = AddressCorrection(found.collected, ADDRESS)
    plain = found.mechanism.estimate(found.mechanism.tally(found.reports))
    first, second = (correction.with_errors(plain, found.reports, 6) for _ in range(2))
    np.testing.assert_array_equal(first.errors, second.errors)
    ratio = np.median(first.errors / plain.errors)
    print(f"median error in parts of the raw one: {ratio:.2f}")
    assert 0.6 < ratio < 1.6


def test_differences_of_halves_have_the_variance_of_the_estimate():
    """Honest reports: the mechanism's own variance is known, so that the rule can be checked.

    The mean of 256 squared errors of 12 halves each has a relative deviation of about 4 %.
    """
    found = collection("none", users=4000)
    plain = found.mechanism.estimate(found.mechanism.tally(found.reports))
    halves = AddressCorrection(found.collected, ADDRESS).with_errors(plain, found.reports, 12)
    ratio = float((halves.errors**2).mean() / (plain.errors**2).mean())
    print(f"variance of halves in parts of the mechanism's: {ratio:.2f}")
    assert abs(ratio - 1) < 5 * 0.04
