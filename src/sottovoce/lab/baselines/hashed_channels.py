"""HASH, the multiple channel method: a public hash parts the values into channels, and each channel spells out one.

Every user reports the whole value, and one piece of it together with the value's channel.  The collector puts the most
frequent pieces of every channel together and tests that one value.  A baseline: prefer PEM, which needs no second
report and does not lose what shares its channel with something more frequent.

Source: Wang 2021, section 4.1.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Ints
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.channel import MOST_CHANNELS, Channel
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines import candidates
from sottovoce.maths import exact
from sottovoce.mechanisms.affine import MAX_SPECTRUM_BITS, AffineResponse
from sottovoce.mechanisms.channels import Channels
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

MOST_SOUGHT = 1024


@dataclass(frozen=True, init=False)
class HashedChannels(Plan, kind="hash", wire=False):
    """Find the ``top`` values by pieces of ``block`` bits in ``channels``, by default top^1.5 of them.

    Pieces of one bit are the published ones: one bit for every channel.  Longer ones are hashed together with their
    channel, which has the law of a hashed piece in its channel and noise in all others, and are far more accurate.
    Where users are ``partitioned``, one of ten tests whole values and nobody splits epsilon.

    >>> HashedChannels(Bits(64), 16).channels
    64
    """

    domain: Bits | Strings
    top: int
    channels: int
    block: int
    partitioned: bool

    def __init__(
        self, domain: Domain, top: int = 16, *, channels: int = 0, block: int = 8, partitioned: bool = False
    ) -> None:
        candidates.check_settings(domain, top, MOST_SOUGHT)
        number = channels or max(2, round(top**1.5))
        settings = {"domain": domain, "top": top, "channels": number, "block": block, "partitioned": bool(partitioned)}
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        if type(number) is not int or not 2 <= number <= MOST_CHANNELS:
            raise ParameterError(f"there are from 2 to {MOST_CHANNELS} channels")
        if type(block) is not int or not 1 <= block <= MAX_SPECTRUM_BITS or number << block > 1 << MAX_SPECTRUM_BITS:
            raise ParameterError(f"a piece has at least one bit, and with its channel at most {MAX_SPECTRUM_BITS}")

    @property
    def pieces(self) -> tuple[Channel, ...]:
        """Return what is asked of each position; the last piece may be shorter."""
        bits = self.domain.bits
        starts = range(0, bits, self.block)
        return tuple(Channel(bits, self.channels, start, min(self.block, bits - start)) for start in starts)

    def step(self, collected: Collected) -> Round | Answer:
        return self._answer(collected) if collected.rounds else Round(0, self._ask(collected.epsilon))

    def _ask(self, epsilon: float) -> Ask:
        share = epsilon if self.partitioned else exact.part(epsilon, 2)
        whole, pieces = candidates.whole(self.domain, share), tuple(self._question(share, one) for one in self.pieces)
        return candidates.with_testers(whole, pieces) if self.partitioned else Bundle((whole, Choice(pieces)))

    def _question(self, epsilon: float, piece: Channel) -> Question:
        size = piece.outputs(self.domain)
        return Question(Channels(epsilon, size) if self.block == 1 else AffineResponse(epsilon, size), piece)

    def _answer(self, collected: Collected) -> Answer:
        numbers = self._spelled(collected)
        labels, estimate = candidates.ranked(collected, [Address(0)], self.domain, numbers, self.top)
        return Answer("heavy hitters", labels, estimate, "affine_prefix", details=self._facts(len(numbers)))

    def _spelled(self, collected: Collected) -> list[int]:
        """Return one value for each channel, its best piece at every position, unless that is impossible."""
        values = [0] * self.channels
        for place, piece in enumerate(self.pieces):
            address = Address(0, place + 1) if self.partitioned else Address(0, place, 1)
            best = _best(collected, address, self.channels).tolist()
            values = [value << piece.length | symbol for value, symbol in zip(values, best, strict=True)]
        return [value for value in dict.fromkeys(values) if self.domain.possible(value, self.domain.bits)]

    def _facts(self, tried: int) -> dict[str, Any]:
        return {
            "channels": self.channels,
            "positions": len(self.pieces),
            "block": self.block,
            "partitioned": self.partitioned,
            "candidates": tried,
        }


def _best(collected: Collected, address: Address, channels: int) -> Ints:
    """Return the most frequent piece of every channel; of equal ones the first."""
    votes = collected.estimate(address).votes.reshape(channels, -1)
    return np.asarray(np.argmax(votes, axis=1), np.int64)
