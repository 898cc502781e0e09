"""The oblivious shuffle: shufflers permute secret-shared words, and no minority learns the order.

Every shuffler holds one share of every word.  One round for each set of hiders:

1. Hide: every seeker splits its shares into t parts, one for each hider, and forgets them.
2. The hiders add what they received to their shares and permute them by a common secret order.
3. Reshare: every hider splits its shares into r parts, one for each shuffler.

After the last round the hiders send their shares to the server instead.  A coalition of at most
r - t shufflers misses the order of at least one round.  The hiders of any round together hold all
shares and so can read every word: ``encrypted_shuffle`` closes that gap.

The proof is for shufflers that follow the protocol.

Source: Laur, Willemson and Zhang 2011; Wang 2021, section 9.5.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Longs
from sottovoce.core.rng import Rng
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.party import NOBODY, Awaited, Party, PartyMessage, Received, Seat, Steps
from sottovoce.lab.peos.permutation import (
    SEED_BYTES,
    check_commitment,
    combined,
    commitment,
    permutation,
)
from sottovoce.lab.peos.shares import joined, pack_words, split, unpack_words

HIDE = "hide"
COMMIT = "commit"
REVEAL = "reveal"
RESHARE = "reshare"
RESULT = "result"


@dataclass(frozen=True)
class ShuffleSetup:
    """What all shufflers know: the hiders of every round, and a name of the batch."""

    sets: HiderSets
    context: bytes

    @property
    def server(self) -> int:
        """Return the number of the server: the one after the shufflers."""
        return self.sets.shufflers

    @property
    def rounds(self) -> list["ShuffleRound"]:
        """Return the rounds in their order."""
        last = len(self.sets.rounds) - 1
        numbered = enumerate(self.sets.rounds)
        return [ShuffleRound(number, hiders, number == last) for number, hiders in numbered]


@dataclass(frozen=True)
class ShuffleRound:
    """One round: its number from 0, its hiders, and whether it is the last."""

    number: int
    hiders: tuple[int, ...]
    last: bool


class ObliviousShuffle:
    """What one shuffler does with its shares."""

    def __init__(self, seat: Seat, setup: ShuffleSetup, words: Longs, rng: Rng) -> None:
        self.seat = seat
        self.setup = setup
        self.words = words.astype(np.uint64)
        self.rng = rng

    def steps(self) -> Steps:
        """Shuffle: the rounds, and the delivery to the server."""
        for current in self.setup.rounds:
            self.hide(current)
            if self.seat.number in current.hiders:
                self.accept((yield self.hidden(current)))
                self.permute((yield from self._agree_on_order(current)))
                if current.last:
                    self.deliver(current)
                else:
                    self.reshare(current)
            if not current.last:
                self.accept((yield self._reshared(current)))

    def hide(self, current: ShuffleRound) -> None:
        """Give the shares to the hiders, if this shuffler is a seeker of the round."""
        if self.seat.number not in current.hiders:
            self.give_away(HIDE, current, current.hiders)

    def give_away(self, step: str, current: ShuffleRound, receivers: tuple[int, ...]) -> None:
        """Split the shares among some shufflers; keep a part only if this one is among them."""
        parts = split(self.words, len(receivers), self.rng)
        self.words = np.zeros_like(self.words)
        for receiver, part in zip(receivers, parts, strict=True):
            self.hand_over(step, current, receiver, part)

    def hand_over(
        self, step: str, current: ShuffleRound, receiver: int, part: Longs, holder: int = NOBODY
    ) -> None:
        """Give a vector of shares to a shuffler, which may be this one."""
        if receiver == self.seat.number:
            self.words = self.words + part
            return
        packed = pack_words(part)
        self.seat.post(
            PartyMessage(self.seat.number, receiver, step, current.number, packed, holder=holder)
        )

    def hidden(self, current: ShuffleRound) -> Awaited:
        """Return what a hider waits for: shares from every seeker."""
        everybody = range(self.setup.sets.shufflers)
        seekers = frozenset(everybody) - frozenset(current.hiders)
        return Awaited(HIDE, current.number, seekers)

    def accept(self, received: Received) -> None:
        """Add the received shares to the own ones."""
        for message in received.values():
            self.words = self.words + unpack_words(message.payload, len(self.words))

    def permute(self, order: Ints) -> None:
        """Bring the shares into another order."""
        self.words = self.words[order]

    def reshare(self, current: ShuffleRound) -> None:
        """Give every shuffler a part of the shares, and keep one."""
        self.give_away(RESHARE, current, tuple(range(self.setup.sets.shufflers)))

    def deliver(self, current: ShuffleRound) -> None:
        """Send the shares to the server."""
        packed = pack_words(self.words)
        self.seat.send([self.setup.server], RESULT, current.number, packed)

    def _reshared(self, current: ShuffleRound) -> Awaited:
        senders = frozenset(current.hiders) - {self.seat.number}
        return Awaited(RESHARE, current.number, senders)

    def _agree_on_order(self, current: ShuffleRound) -> Generator[Awaited, Received, Ints]:
        """Return the order that the hiders of a round agree on: commit first, then reveal."""
        others = frozenset(current.hiders) - {self.seat.number}
        context = self.setup.context + current.number.to_bytes(4, "little")
        seed = bytes(self.rng.bytes(SEED_BYTES))
        own_commitment = commitment(context, self.seat.number, seed)
        self.seat.send(sorted(others), COMMIT, current.number, own_commitment)
        commitments = yield Awaited(COMMIT, current.number, others)
        self.seat.send(sorted(others), REVEAL, current.number, seed)
        revealed = yield Awaited(REVEAL, current.number, others)
        for party, message in revealed.items():
            check_commitment(commitments[party].payload, context, party, message.payload)
        seeds = [seed, *(message.payload for message in revealed.values())]
        return permutation(combined(seeds), len(self.words))


class PlainServer:
    """The server of a plain oblivious shuffle: it adds the shares of the last hiders."""

    def __init__(self, setup: ShuffleSetup, count: int) -> None:
        self._setup = setup
        self._count = count
        self.words: Longs | None = None

    def steps(self) -> Steps:
        """Wait for the result and add it up."""
        last = self._setup.rounds[-1]
        received = yield Awaited(RESULT, last.number, frozenset(last.hiders))
        payloads = (message.payload for message in received.values())
        self.words = joined(unpack_words(payload, self._count) for payload in payloads)


def plain_parties(
    setup: ShuffleSetup, shares: list[Longs], rng: Rng
) -> tuple[list[Party], PlainServer]:
    """Return all parties of a plain shuffle of some shares, and the server among them."""
    seats = [Seat(number) for number in range(setup.sets.shufflers)]
    server = PlainServer(setup, len(shares[0]))
    parties = [
        Party(seat, ObliviousShuffle(seat, setup, words, rng).steps())
        for seat, words in zip(seats, shares, strict=True)
    ]
    return [*parties, Party(Seat(setup.server), server.steps())], server
