"""SOLH: local hashing, shuffled, with the published optimum of the number of buckets.

A message is a seed and a bucket, and a fake is a uniform seed and a uniform bucket.  It supports
every value with probability 1 / buckets, whatever the hash family: privacy does not depend on it.

    buckets = (m + 2) / 3        e^local = m - buckets + 1

``olh`` and ``had`` are the unshuffled methods that the paper compares with: local hashing into
e^epsilon + 1 and into two buckets, with the whole central epsilon as the local one.

Source: Wang 2021, section 9.3.2.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.lab.baselines.shuffle_bounds.solh import (
    PublishedTarget,
    best_buckets,
    hashing_settings,
)
from sottovoce.lab.baselines.shuffled.base import PublishedClaim, PureOracle
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.olh import OLH, LocalHashing


@dataclass(frozen=True)
class HashedReports(PureOracle):
    """Shuffled reports of local hashing."""

    mechanism: LocalHashing

    def messages(self, values: Values, rng: Rng) -> Reports:
        return self.mechanism.privatize(values, rng)

    def fakes(self, count: int, rng: Rng) -> Reports:
        fakes = np.empty(count, self.mechanism.layout)
        fakes["seed"] = rng.words(count)
        fakes["bucket"] = rng.integers(self.mechanism.buckets, count)
        return fakes

    def supports(self, messages: Reports) -> Ints:
        return self.mechanism.count(messages, np.arange(self.mechanism.size))


def solh(
    target: PublishedTarget,
    size: int,
    buckets: int = 0,
    rounding: str = "nearest",
    *,
    fallback: bool = True,
) -> HashedReports:
    """Return SOLH for a central target; ``buckets`` of 0 stands for the best number up to ``size``.

    The dissertation rounds the number of buckets down in its text and to the nearest integer in
    its tables.

    >>> solh(PublishedTarget(0.5, 602_325, 1e-9), 915, rounding="floor").mechanism.buckets
    168
    """
    if not buckets and best_buckets(target, rounding) > size:
        buckets = size
    chosen = hashing_settings(target, buckets, rounding, fallback=fallback)
    claim = PublishedClaim(target.central, target.delta, chosen.local)
    return HashedReports(OLH(chosen.local, size, chosen.buckets), claim)


def olh(epsilon: float, size: int) -> HashedReports:
    """Return plain optimised local hashing."""
    return HashedReports(OLH(epsilon, size), PublishedClaim(epsilon, 0.0, epsilon))


def had(epsilon: float, size: int) -> HashedReports:
    """Return plain local hashing into two buckets, which the paper calls Had."""
    return HashedReports(BLH(epsilon, size), PublishedClaim(epsilon, 0.0, epsilon))
