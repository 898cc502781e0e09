"""Corrected estimates: near the honest truth, and the share of false reports."""

import numpy as np

from integrity.collections import collection
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.corrected_estimate import corrected
from sottovoce.integrity.likely_suspects import Suspected


def estimated(found, together=(0,)):
    mechanism = found.mechanism
    votes = mechanism.estimate(mechanism.tally(found.reports)).votes
    candidates = gather(mechanism, found.reports, largest(votes))
    return corrected(
        Suspected(candidates, found.targets[candidates.values], together),
        found.reports,
        lambda part: mechanism.estimate(mechanism.tally(part)),
    )


def test_the_gain_of_the_targets_is_taken_away():
    found = collection("1")
    result = estimated(found)
    raw = found.mechanism.estimate(found.mechanism.tally(found.reports)).frequencies
    gain = (result.estimate.frequencies - found.truth)[found.targets].sum()
    raw_gain = (raw - found.truth)[found.targets].sum()
    print(f"gain {gain:.3f}, raw {raw_gain:.3f}, share {result.share:.3f}")
    assert abs(gain) < 0.2 * raw_gain
    assert abs(result.share - 0.1) < 0.03


def test_the_estimate_is_the_middle_of_plausible_models():
    found = collection("1")
    one, several = estimated(found), estimated(found, (0, 2, 3, 4))
    print(len(several.models), "models")
    assert len(one.models) == 1
    assert 1 <= len(several.models) <= 2
    middle = sum(several.frequencies) / len(several.frequencies)
    np.testing.assert_allclose(several.estimate.frequencies, middle)


def test_weights_of_all_reports_anew_are_the_weights():
    """One step of Newton's method from the best fit stays there."""
    found = collection("1")
    (model,) = estimated(found).models
    again = model.weights_anew(np.arange(len(found.reports)))
    np.testing.assert_allclose(again, model.weights, atol=0.01)
