"""Shares of the users from the reports of a batch, fakes included.

With n users, f fakes, and s the probability that a fake supports a value (1/d for direct response,
1/g for hashing into g buckets),

    share of v    = (supports - n q - f s) / (n (p - q))
    variance of v = (n q (1 - q) + n share (p (1 - p) - q (1 - q)) + f s (1 - s)) / (n (p - q))^2

The published estimator subtracts f / (n d) for hashing too, as if a fake were the report of a
uniform value.  It is a uniform report, which supports every value with probability q, and so that
estimator is off by -f / (n d) on every value.  The published variance for direct response takes
fakes for reports of users, and is too small.

Source: Wang 2021, section 9.5, corrected.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.arrays import Floats, Reports
from sottovoce.errors import MismatchError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.shuffled_choice import shuffled_shares


@dataclass(frozen=True)
class PeosEstimate:
    """The share of the users that hold each value, and the variance of each."""

    shares: Floats
    variances: Floats


def estimate(mechanism: PureMechanism, reports: Reports, batch: ShuffledBatch) -> PeosEstimate:
    """Return the unbiased shares of all values from the reports of users and fakes."""
    if len(reports) != batch.users + batch.fakes:
        raise MismatchError(
            f"a batch of {batch.users} users and {batch.fakes} fakes has"
            f" {batch.users + batch.fakes} reports, not {len(reports)}"
        )
    # The count of the contract, not a compiled kernel: compiling takes longer than one batch.
    supports = PureMechanism.count(mechanism, reports, np.arange(mechanism.size))
    shares = shuffled_shares(mechanism, supports, batch)
    return PeosEstimate(shares, variances(mechanism, shares, batch))


def variances(mechanism: PureMechanism, shares: Floats, batch: ShuffledBatch) -> Floats:
    """Return the exact variance of the estimate of every value, if the users' shares are these."""
    assert mechanism.share is not None  # shuffled_shares refused a mechanism without one
    n = batch.users
    p = mechanism.p
    q = mechanism.q
    s = mechanism.share
    own = n * shares * (p * (1 - p) - q * (1 - q))
    fakes = batch.fakes * s * (1 - s)
    return np.asarray((n * q * (1 - q) + own + fakes) / (n * (p - q)) ** 2)
