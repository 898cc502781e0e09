"""One shuffler of PEOS, the private encrypted oblivious shuffle.

1. Compare the terms of the batch with all other parties.
2. Exchange report ids, keep the complete reports, and confirm that everybody kept the same ones.
3. Append one uniform share for each of the fakes.  A fake is the sum of the shares of all
   shufflers, and so uniform if a single one of them is honest.
4. Shuffle everything with the encrypted oblivious shuffle.

Source: Wang 2021, section 9.5, algorithm 5.
"""

from collections.abc import Generator

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.errors import MismatchError
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.encrypted_shuffle import EncryptedShuffle
from sottovoce.lab.peos.party import Awaited, Received, Seat, Steps
from sottovoce.lab.peos.shares import unpack_words
from sottovoce.lab.peos.submissions import CompleteReports, SubmissionBox

TERMS = "terms"
IDS = "ids"
CONFIRM = "confirm"


class PeosShuffler:
    """What one shuffler does with the shares in its box."""

    def __init__(self, seat: Seat, terms: BatchTerms, box: SubmissionBox, rng: Rng) -> None:
        self._seat = seat
        self._terms = terms
        self._box = box
        self._rng = rng
        everybody = range(terms.sets.shufflers)
        self._others = frozenset(everybody) - {seat.number}
        self._others_and_server = self._others | {terms.server}

    def steps(self) -> Steps:
        """Take part in one batch."""
        yield from self._agree_on_terms()
        complete = yield from self._agree_on_reports()
        yield from self._shuffle(complete).steps()

    def _agree_on_terms(self) -> Steps:
        self._seat.send(sorted(self._others_and_server), TERMS, 0, self._terms.packed)
        received = yield Awaited(TERMS, 0, self._others_and_server)
        for party, message in received.items():
            self._terms.check_equal(message.payload, party)

    def _agree_on_reports(self) -> Generator[Awaited, Received, CompleteReports]:
        own_ids = self._box.packed_ids
        self._seat.send(sorted(self._others), IDS, 0, own_ids)
        received = yield Awaited(IDS, 0, self._others)
        lists = [own_ids, *(message.payload for message in received.values())]
        complete = CompleteReports.of(lists, self._terms.min_users)
        self._seat.send(sorted(self._others_and_server), CONFIRM, 0, complete.packed)
        confirmed = yield Awaited(CONFIRM, 0, self._others)
        for party, message in confirmed.items():
            if message.payload != complete.packed:
                raise MismatchError(f"shuffler {party} kept other reports than this one")
        return complete

    def _shuffle(self, complete: CompleteReports) -> EncryptedShuffle:
        """Return the shuffle of the complete reports and the fakes."""
        payload = self._box.take(complete.report_ids)
        terms = self._terms
        fakes = self._rng.longs(terms.fakes)
        if self._seat.number == terms.sets.shufflers - 1:
            ciphertexts = terms.public_key.unpack(payload)
            ciphertexts += terms.public_key.encrypt_all(fakes, self._rng)
            return EncryptedShuffle.of_first_holder(
                self._seat, terms.setup, ciphertexts, self._rng, terms.public_key
            )
        shares = unpack_words(payload, len(complete.report_ids))
        words = np.concatenate([shares, fakes])
        return EncryptedShuffle(self._seat, terms.setup, words, self._rng, terms.public_key)
