"""Affine response, shuffled: not a method of the paper, and what it is compared with.

A message is a seed and a bucket, and a fake a uniform seed and a uniform bucket, as for local
hashing.

Source: docs/affine-response.md; docs/shuffling.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.lab.baselines.shuffled.base import PureOracle
from sottovoce.mechanisms.affine import REPORT, AffineResponse


@dataclass(frozen=True)
class ShuffledAffine(PureOracle):
    """Shuffled reports of affine response."""

    mechanism: AffineResponse

    def messages(self, values: Values, rng: Rng) -> Reports:
        return self.mechanism.privatize(values, rng)

    def fakes(self, count: int, rng: Rng) -> Reports:
        fakes = np.empty(count, REPORT)
        fakes["seed"] = rng.longs(count)
        fakes["bucket"] = rng.integers(self.mechanism.buckets, count)
        return fakes

    def supports(self, messages: Reports) -> Ints:
        return self.mechanism.supports(self.mechanism.tally(messages))
