"""Corrected estimates: near the honest truth, with errors that replay exactly."""

import numpy as np

from integrity.collections import collection
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.corrected_estimate import corrected


def estimated(found, replicates):
    mechanism = found.mechanism
    votes = mechanism.estimate(mechanism.tally(found.reports)).votes
    candidates = gather(mechanism, found.reports, largest(votes))
    return corrected(
        candidates,
        found.targets[candidates.values],
        found.reports,
        lambda part: mechanism.estimate(mechanism.tally(part)),
        replicates=replicates,
    )


def test_the_gain_of_the_targets_is_taken_away():
    found = collection("1")
    result = estimated(found, 0)
    raw = found.mechanism.estimate(found.mechanism.tally(found.reports)).frequencies
    gain = (result.estimate.frequencies - found.truth)[found.targets].sum()
    raw_gain = (raw - found.truth)[found.targets].sum()
    print(f"gain {gain:.3f}, raw {raw_gain:.3f}, share {result.share:.3f}")
    assert abs(gain) < 0.2 * raw_gain
    assert abs(result.share - 0.1) < 0.03


def test_errors_come_from_replicates_and_replay():
    found = collection("1", users=6000)
    first, second = (estimated(found, 6).estimate for _ in range(2))
    np.testing.assert_array_equal(first.errors, second.errors)
    plain = found.mechanism.estimate(found.mechanism.tally(found.reports))
    ratio = np.median(first.errors / plain.errors)
    print(f"median error in parts of the raw one: {ratio:.2f}")
    assert 0.6 < ratio < 1.6
