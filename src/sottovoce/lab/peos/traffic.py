"""Bytes between the parties: counted from messages, and computed from the path of the holder.

The published formula of what a shuffler sends assumes that the ciphertexts change hands once in
every round.  In the protocol they may stay where they are, or move twice.  Given the path of the
holder, the bytes are a sum over the rounds, of vectors of 8 bytes an entry and of ciphertexts:

| step | plain vectors | moves of the ciphertexts |
|---|---|---|
| hide, the holder is a seeker | t (r - t) - 1 | 1 |
| hide, the holder is a hider and stays | t (r - t) + t - 1 | 0 |
| hide, the holder is a hider and moves | t (r - t) + t - 2 | 1 |
| reshare, the holder stays | t (r - 1) | 0 |
| reshare, the holder moves | t (r - 1) - 1 | 1 |
| result, last round instead of reshare | t - 1 | 1 |

Ids, terms, commitments and seeds are counted apart, as agreement.

Source: Wang 2021, section 9.6.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.oblivious_shuffle import HIDE, RESHARE, RESULT
from sottovoce.lab.peos.party import NOBODY, PartyMessage
from sottovoce.lab.peos.shares import SHARE_BYTES

_VECTOR_STEPS = frozenset((HIDE, RESHARE, RESULT))


@dataclass(frozen=True)
class Traffic:
    """Bytes of payloads by what they are."""

    shares: int = 0
    ciphertexts: int = 0
    agreement: int = 0

    @classmethod
    def of(cls, messages: Iterable[PartyMessage]) -> "Traffic":
        """Count some messages."""
        total = cls()
        for message in messages:
            total += cls.of_one(message)
        return total

    @classmethod
    def of_one(cls, message: PartyMessage) -> "Traffic":
        """Count one message."""
        length = len(message.payload)
        if message.encrypted:
            return cls(ciphertexts=length)
        if message.step in _VECTOR_STEPS:
            return cls(shares=length)
        return cls(agreement=length)

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(
            self.shares + other.shares,
            self.ciphertexts + other.ciphertexts,
            self.agreement + other.agreement,
        )

    @property
    def vectors(self) -> int:
        """Return the bytes that the published formulas count: shares and ciphertexts."""
        return self.shares + self.ciphertexts


@dataclass(frozen=True)
class HolderMoves:
    """Who held the ciphertexts in one round: when it began, while it permuted, when it ended."""

    before: int
    during: int
    after: int


def holder_path(messages: Iterable[PartyMessage], sets: HiderSets) -> list[HolderMoves]:
    """Return who held the ciphertexts, from the announcements in the messages of a batch."""
    announced = {
        (message.round, message.step): message.holder
        for message in messages
        if message.holder != NOBODY
    }
    path = []
    before = sets.shufflers - 1
    for number in range(len(sets.rounds)):
        during = announced[number, HIDE]
        after = announced.get((number, RESHARE), sets.shufflers)
        path.append(HolderMoves(before, during, after))
        before = after
    return path


def vector_traffic(sets: HiderSets, path: list[HolderMoves], entries: int, width: int) -> Traffic:
    """Return what all shufflers together send, for vectors of so many entries."""
    r = sets.shufflers
    t = sets.hiders
    vectors = 0
    moves = 0
    for number, (hiders, holders) in enumerate(zip(sets.rounds, path, strict=True)):
        moved = holders.before != holders.during
        moves += moved
        vectors += t * (r - t)
        vectors += t - 1 - moved if holders.before in hiders else -1
        if number == len(path) - 1:
            vectors += t - 1
            moves += 1
        else:
            moved = holders.during != holders.after
            moves += moved
            vectors += t * (r - 1) - moved
    return Traffic(vectors * entries * SHARE_BYTES, moves * entries * width)


def expected_moves(sets: HiderSets) -> float:
    """Return how often the ciphertexts change hands on the average, the server included.

    The first holder is a seeker of the first round.  Later, the holder is uniform among all
    shufflers, and it stays with the probability 1 / r in either step.

    >>> round(expected_moves(HiderSets(3)), 2)
    4.67
    """
    chances = 2 * (len(sets.rounds) - 1)
    return 1 + chances * (1 - 1 / sets.shufflers) + 1
