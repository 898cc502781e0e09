"""The server of PEOS: it decrypts, adds the shares, and reads the reports.

It gets t - 1 vectors of plain shares and one of ciphertexts.  What it learns is the multiset of all
reports, those of users and fakes, in an order that means nothing.

Source: Wang 2021, section 9.5, algorithm 5.
"""

from sottovoce.arrays import Longs, Reports
from sottovoce.errors import MismatchError, StateError
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.encryption.base import HomomorphicPrivateKey
from sottovoce.lab.peos.oblivious_shuffle import RESULT
from sottovoce.lab.peos.party import Awaited, Received, Seat, Steps
from sottovoce.lab.peos.shares import joined, unpack_words
from sottovoce.lab.peos.shuffler import CONFIRM, TERMS
from sottovoce.lab.peos.submissions import count_of


class PeosServer:
    """What the server does; ``words`` holds the reports once it is finished."""

    def __init__(self, seat: Seat, terms: BatchTerms, private_key: HomomorphicPrivateKey) -> None:
        if private_key.public.fingerprint != terms.public_key.fingerprint:
            raise MismatchError("the private key does not belong to the terms of this batch")
        self._seat = seat
        self._terms = terms
        self._private_key = private_key
        self._words: Longs | None = None
        self.users = 0

    def steps(self) -> Steps:
        """Take part in one batch."""
        shufflers = frozenset(range(self._terms.sets.shufflers))
        self._seat.send(sorted(shufflers), TERMS, 0, self._terms.packed)
        for party, message in (yield Awaited(TERMS, 0, shufflers)).items():
            self._terms.check_equal(message.payload, party)
        confirmed = yield Awaited(CONFIRM, 0, shufflers)
        payloads = {message.payload for message in confirmed.values()}
        if len(payloads) != 1:
            raise MismatchError("the shufflers kept different reports")
        self.users = count_of(payloads.pop())
        last = self._terms.setup.rounds[-1]
        self._words = self._read((yield Awaited(RESULT, last.number, frozenset(last.hiders))))

    @property
    def words(self) -> Longs:
        """Return the words of all reports."""
        if self._words is None:
            raise StateError("the batch is not finished")
        return self._words

    @property
    def reports(self) -> Reports:
        """Return all reports, those of users and fakes."""
        return self._terms.codec.read(self.words)

    def _read(self, received: Received) -> Longs:
        count = self.users + self._terms.fakes
        vectors = []
        for message in received.values():
            if not message.encrypted:
                vectors.append(unpack_words(message.payload, count))
                continue
            ciphertexts = self._terms.public_key.unpack(message.payload)
            vectors.append(self._private_key.decrypt_all(ciphertexts))
        if sum(message.encrypted for message in received.values()) != 1:
            raise MismatchError("exactly one shuffler must send ciphertexts to the server")
        if {len(vector) for vector in vectors} != {count}:
            raise MismatchError(f"every vector must have {count} entries: users and fakes")
        return joined(vectors)
