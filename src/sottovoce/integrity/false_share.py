"""The share of false reports in a round, if a test alarms and the share can be estimated.

- For numbers it is the share that the filter of poisoned outputs estimates.
- For hashing it is the share of reports that the load EMF classifies as greedy.

The share is shown beside an alarm.  No correction uses it.
"""

from sottovoce.integrity.load_emf import LoadFit, LoadModel
from sottovoce.integrity.round_tests import Examined, RoundTests

MAX_FITTED = 1 << 16  # reports of an address


def false_share(round_tests: RoundTests) -> float | None:
    """Return the estimated share of false reports; None if no alarming test estimates it."""
    shares = [each.share for each in round_tests.misfits if each.test.alarm]
    if shares:
        return max(shares)
    suspicious = [
        each
        for each in round_tests.examined
        if len(each.members) and each.candidates.hashed is not None
    ]
    if not suspicious:
        return None
    false = sum(_share(each) * each.candidates.users for each in suspicious)
    return false / sum(pool.evidence.users for pool in round_tests.pools.values())


def _share(examined: Examined) -> float:
    """Return the share of reports at an address that take the fullest bucket of the suspects."""
    candidates = examined.candidates.sampled(MAX_FITTED)
    assert candidates.hashed is not None
    model = LoadModel.of(candidates.hashed, examined.suspects)
    weights = model.weights(model.fit(LoadFit(candidates.shares, model.start)))
    return max(0.0, 1 - float(weights.mean()))
