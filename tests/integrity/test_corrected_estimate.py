"""Corrected estimates: near the honest truth, and the share of false reports."""

from integrity.collections import collection
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.corrected_estimate import corrected


def estimated(found):
    mechanism = found.mechanism
    votes = mechanism.estimate(mechanism.tally(found.reports)).votes
    candidates = gather(mechanism, found.reports, largest(votes))
    return corrected(
        candidates,
        found.targets[candidates.values],
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
