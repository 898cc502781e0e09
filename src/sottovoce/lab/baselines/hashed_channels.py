"""HASH, the multiple channel method.

A public hash divides the values into channels, and each channel spells out one value.

Every user reports the whole value, and one segment of it together with the value's channel.  The
collector joins the most frequent segments of every channel to one value and tests it.  A baseline:
prefer PEM, which needs no second report and does not lose values that share a channel with a more
frequent one.

Source: Wang 2021, section 4.1.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Ints
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.candidates import (
    check_search,
    rank_candidates,
    whole_value,
    with_testers,
)
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.baselines.channel_segment import MAX_CHANNELS, ChannelSegment
from sottovoce.maths import exact
from sottovoce.mechanisms.affine import MAX_SPECTRUM_BITS, AffineResponse
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

MAX_TOP = 1024


@dataclass(frozen=True, init=False)
class HashedChannels(Plan, kind="hash", wire=False):
    """Find the ``top`` values by segments of ``block`` bits in ``channels``.

    There are top^1.5 channels by default.  Segments of one bit are the published ones: a report has
    one bit for every channel.  Longer segments are hashed together with their channel and are far
    more accurate.  Where users are ``partitioned``, one of ten tests whole values and nobody splits
    epsilon.

    >>> HashedChannels(Bits(64), 16).channels
    64
    """

    domain: Bits | Strings
    top: int
    channels: int
    block: int
    partitioned: bool

    def __init__(
        self,
        domain: Domain,
        top: int = 16,
        *,
        channels: int = 0,
        block: int = 8,
        partitioned: bool = False,
    ) -> None:
        check_search(domain, top, MAX_TOP)
        if channels == 0:
            channels = max(2, round(top**1.5))
        whole("channels", channels, 2, MAX_CHANNELS)
        whole("block", block, 1, MAX_SPECTRUM_BITS)
        if channels << block > 1 << MAX_SPECTRUM_BITS:
            raise ParameterError(
                f"`channels` and `block` must give indices of at most {MAX_SPECTRUM_BITS} bits"
            )
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "channels", channels)
        object.__setattr__(self, "block", block)
        object.__setattr__(self, "partitioned", bool(partitioned))

    @property
    def segments(self) -> tuple[ChannelSegment, ...]:
        """Return the segments that are asked about; the last may be shorter."""
        bits = self.domain.bits
        segments = []
        for start in range(0, bits, self.block):
            length = min(self.block, bits - start)
            segments.append(ChannelSegment(bits, self.channels, start, length))
        return tuple(segments)

    def step(self, collected: Collected) -> Round | Answer:
        if collected.rounds:
            return self._answer(collected)
        return Round(0, self.ask(collected.epsilon))

    def ask(self, epsilon: float) -> Ask:
        part = epsilon if self.partitioned else exact.part(epsilon, 2)
        tested = whole_value(self.domain, part)
        segments = tuple(self._question(part, segment) for segment in self.segments)
        if self.partitioned:
            return with_testers(tested, segments)
        return Bundle((tested, Choice(segments)))

    def _question(self, epsilon: float, segment: ChannelSegment) -> Question:
        size = segment.outputs(self.domain)
        if self.block == 1:
            return Question(ChannelBits(epsilon, size), segment)
        return Question(AffineResponse(epsilon, size), segment)

    def _answer(self, collected: Collected) -> Answer:
        numbers = self.spelled(collected)
        best = rank_candidates(collected, [Address(0)], self.domain, numbers, self.top)
        details = self._details(len(numbers))
        return Answer("heavy hitters", best.labels, best.estimate, "affine_prefix", details=details)

    def spelled(self, collected: Collected) -> list[int]:
        """Return one value for each channel, made of its best segments, unless it is impossible."""
        values = [0] * self.channels
        for index, segment in enumerate(self.segments):
            address = Address(0, index + 1) if self.partitioned else Address(0, index, 1)
            best = _best_segments(collected, address, self.channels).tolist()
            pairs = zip(values, best, strict=True)
            values = [value << segment.length | symbol for value, symbol in pairs]
        distinct = dict.fromkeys(values)
        return [value for value in distinct if self.domain.possible(value, self.domain.bits)]

    def _details(self, candidate_count: int) -> dict[str, Any]:
        return {
            "channels": self.channels,
            "positions": len(self.segments),
            "block": self.block,
            "partitioned": self.partitioned,
            "candidates": candidate_count,
        }


def _best_segments(collected: Collected, address: Address, channels: int) -> Ints:
    """Return the most frequent segment of every channel; of equal ones the first."""
    votes = collected.estimate(address).votes.reshape(channels, -1)
    return np.asarray(np.argmax(votes, axis=1), np.int64)
