"""Reports as uniform-looking words of 64 bits: the lifting that hides fakes among them.

A fake is a sum of uniform shares, and so a uniform word.  If reports used a part of the words only,
fakes would stand out.  So a report y of a field with b bits and d possible values is *lifted*: it
becomes a uniform number among those below 2^b that equal y modulo d.  Reading takes the number
modulo d again.  Every word is a valid report, and given y a lift has one law for users and fakes.

| mechanism | high bits | low bits |
|---|---|---|
| ``grr``, d values | none | 64: the value, lifted |
| ``olh``, g buckets | 32: the seed | 32: the bucket, lifted |

A uniform word reads as a value that is uniform up to a relative error of d / 2^b, and exactly
uniform if d is a power of two.

Source: Wang 2021, section 9.5.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import Ints, Longs, Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH

_HALF_BITS = 32
_LOW_HALF = np.uint64((1 << _HALF_BITS) - 1)
_WORDS = 1 << 64


class WordCodec(ABC):
    """Reads and writes the reports of one mechanism as words."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def mechanism(self) -> PureMechanism:
        """Return the mechanism of the reports."""

    @abstractmethod
    def lift(self, reports: Reports, rng: Rng) -> Longs:
        """Return a random word for each report."""

    @abstractmethod
    def read(self, words: Longs) -> Reports:
        """Return the report in each word; every word holds one."""

    def document(self) -> dict[str, object]:
        """Return what the parties of a batch must agree on."""
        return {"kind": self.kind, "key": self.mechanism.key}


@dataclass(frozen=True)
class DirectWords(WordCodec):
    """Words of direct response: the whole word is the value, lifted."""

    kind = "grr"

    direct: GRR

    @property
    def mechanism(self) -> GRR:
        return self.direct

    def lift(self, reports: Reports, rng: Rng) -> Longs:
        size = self.direct.size
        lifts = np.empty(len(reports), np.uint64)
        # Values below 2^64 mod d have one lift more than the others.
        has_more = reports < _WORDS % size
        if has_more.any():
            lifts[has_more] = rng.integers(_WORDS // size + 1, int(has_more.sum()))
        lifts[~has_more] = rng.integers(_WORDS // size, int((~has_more).sum()))
        return reports.astype(np.uint64) + lifts * np.uint64(size)

    def read(self, words: Longs) -> Reports:
        return (words % np.uint64(self.direct.size)).astype(np.int64)


@dataclass(frozen=True)
class HashedWords(WordCodec):
    """Words of local hashing: the seed, and the bucket, lifted."""

    kind = "olh"

    hashing: OLH

    @property
    def mechanism(self) -> OLH:
        return self.hashing

    def lift(self, reports: Reports, rng: Rng) -> Longs:
        buckets = reports["bucket"].astype(np.int64)
        lifts = rng.below(_lift_counts(buckets, self.hashing.buckets))
        low = (buckets + lifts * self.hashing.buckets).astype(np.uint64)
        return reports["seed"].astype(np.uint64) << np.uint64(_HALF_BITS) | low

    def read(self, words: Longs) -> Reports:
        reports = np.empty(len(words), self.hashing.layout)
        reports["seed"] = words >> np.uint64(_HALF_BITS)
        reports["bucket"] = (words & _LOW_HALF) % np.uint64(self.hashing.buckets)
        return reports


_CODECS: dict[str, Callable[[Any], WordCodec]] = {"grr": DirectWords, "olh": HashedWords}


def word_codec(mechanism: PureMechanism) -> WordCodec:
    """Return the codec for the reports of a mechanism; only two mechanisms have one."""
    return _CODECS[settings.choice("mechanism", mechanism.kind, _CODECS)](mechanism)


def _lift_counts(buckets: Ints, size: int) -> Ints:
    """Return how many numbers below 2^32 equal each bucket modulo ``size``."""
    return ((1 << _HALF_BITS) - 1 - buckets) // size + 1
