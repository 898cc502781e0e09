"""EOS, the encrypted oblivious shuffle: one share of every word stays encrypted for the server.

One shuffler at a time, the *holder*, keeps a vector C of ciphertexts.  Beside it, the holder has
plain shares like everybody else, which it has not merged into C yet.  At every moment, for every
position,

    sum of the plain shares of all shufflers + decrypt(C) = word        modulo 2^64

so that even all shufflers together cannot read a word.  A round is that of the oblivious shuffle
with three additions:

1. Hide: the holder draws the next holder among the hiders, gives every other hider a uniform
   vector, and subtracts these vectors.
2. The new holder permutes C too.
3. Reshare: the holder draws the next holder among all shufflers, gives every other shuffler a
   uniform vector, and subtracts these vectors.

If C changes hands, everything that is to be subtracted, and the holder's own plain shares, go into
C as fresh encryptions.  So no ciphertext leaves a shuffler as it came, which would let the server
and one shuffler follow it through a permutation.  If C stays, the vectors are subtracted from the
plain shares, and merged when C leaves.  At the end C goes to the server with everything merged.

Source: Wang 2021, section 9.5.
"""

import numpy as np

from sottovoce.arrays import Ints, Longs
from sottovoce.core.rng import Rng
from sottovoce.errors import MismatchError
from sottovoce.lab.peos.encryption.base import Ciphertexts, HomomorphicPublicKey
from sottovoce.lab.peos.oblivious_shuffle import (
    HIDE,
    RESHARE,
    RESULT,
    ObliviousShuffle,
    ShuffleRound,
    ShuffleSetup,
)
from sottovoce.lab.peos.party import NOBODY, Awaited, PartyMessage, Received, Seat


class EncryptedShuffle(ObliviousShuffle):
    """What one shuffler does with its shares; the last shuffler is the first holder."""

    def __init__(
        self,
        seat: Seat,
        setup: ShuffleSetup,
        words: Longs,
        rng: Rng,
        public_key: HomomorphicPublicKey,
    ) -> None:
        super().__init__(seat, setup, words, rng)
        self.public_key = public_key
        self.holder = setup.sets.shufflers - 1
        self.ciphertexts: Ciphertexts | None = None
        self._hiding_holder = self.holder  # who held the ciphertexts when the round began

    @classmethod
    def of_first_holder(
        cls,
        seat: Seat,
        setup: ShuffleSetup,
        ciphertexts: Ciphertexts,
        rng: Rng,
        public_key: HomomorphicPublicKey,
    ) -> "EncryptedShuffle":
        """Return what the first holder does: it has ciphertexts and no plain shares."""
        shuffle = cls(seat, setup, np.zeros(len(ciphertexts), np.uint64), rng, public_key)
        shuffle.ciphertexts = ciphertexts
        return shuffle

    @property
    def holds(self) -> bool:
        """Return whether this shuffler has the ciphertexts."""
        return self.ciphertexts is not None

    def hide(self, current: ShuffleRound) -> None:
        self._hiding_holder = self.holder
        if self.holds:
            self._pass_on(HIDE, current, current.hiders)
        else:
            super().hide(current)

    def hidden(self, current: ShuffleRound) -> Awaited:
        # The holder gives something away even if it is a hider.
        senders = super().hidden(current).senders | {self._hiding_holder}
        return Awaited(HIDE, current.number, senders - {self.seat.number})

    def reshare(self, current: ShuffleRound) -> None:
        if self.holds:
            everybody = tuple(range(self.setup.sets.shufflers))
            self._pass_on(RESHARE, current, everybody)
        else:
            super().reshare(current)

    def accept(self, received: Received) -> None:
        announced = {message.holder for message in received.values()} - {NOBODY}
        if len(announced) > 1:
            raise MismatchError("two shufflers announced that they pass the ciphertexts on")
        for sender, message in received.items():
            if message.encrypted:
                self._accept_ciphertexts(message)
            else:
                super().accept({sender: message})
        if announced:
            (self.holder,) = announced

    def permute(self, order: Ints) -> None:
        super().permute(order)
        if self.ciphertexts is not None:
            self.ciphertexts = [self.ciphertexts[position] for position in order.tolist()]

    def deliver(self, current: ShuffleRound) -> None:
        if self.holds:
            self._send_ciphertexts(RESULT, current, self.setup.server, self.words)
        else:
            super().deliver(current)

    def _pass_on(self, step: str, current: ShuffleRound, candidates: tuple[int, ...]) -> None:
        """Draw the next holder, and give a uniform vector to every other candidate."""
        self.holder = candidates[int(self.rng.integers(len(candidates), 1)[0])]
        remainder = self.words
        self.words = np.zeros_like(remainder)
        for receiver in candidates:
            if receiver != self.holder:
                part = self.rng.longs(len(remainder))
                remainder = remainder - part
                self.hand_over(step, current, receiver, part, self.holder)
        if self.holder == self.seat.number:
            self.words = remainder
        else:
            self._send_ciphertexts(step, current, self.holder, remainder)

    def _send_ciphertexts(
        self, step: str, current: ShuffleRound, receiver: int, addend: Longs
    ) -> None:
        """Merge words into the ciphertexts with fresh randomness, and send them away."""
        assert self.ciphertexts is not None
        merged = self.public_key.add_words(self.ciphertexts, addend, self.rng)
        self.ciphertexts = None
        packed = self.public_key.pack(merged)
        sender = self.seat.number
        self.seat.post(PartyMessage(sender, receiver, step, current.number, packed, True, receiver))

    def _accept_ciphertexts(self, message: PartyMessage) -> None:
        """Become the holder."""
        ciphertexts = self.public_key.unpack(message.payload)
        if self.holds or message.holder != self.seat.number:
            raise MismatchError("ciphertexts reached a shuffler that was not announced")
        if len(ciphertexts) != len(self.words):
            raise MismatchError("all vectors of a batch must have one length")
        self.ciphertexts = ciphertexts
