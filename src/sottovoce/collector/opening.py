"""Opening the batch of a shuffled round: from sealed messages to reports in the store.

The work goes part by part.  The messages of a part are opened with the round key, split into token
and envelopes, checked, and stored; in the same transaction the bytes of the part are erased.  A
crash therefore leaves whole parts, opened or not, and the next attempt goes on with the others.
When no part is left, the round key is erased and the round goes to sealing in one more transaction.

A message is left out if it does not open, if it is a canary of the operator, if its token is not
valid or was used before, or if no honest device could have made it.
"""

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from sottovoce.collector.admission import admit_opened
from sottovoce.collector.batches import message_bytes
from sottovoce.collector.key_exchange import shuffle_of
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.tickets import Ticket
from sottovoce.errors import CodecError, MismatchError
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import VERSION, MessageFormat, seal_context

_MESSAGES_OF_A_THREAD = 250


def open_batch(store: Store, published: Published, number: int, now: int) -> None:
    """Open what is left of a complete batch, and close the round."""
    private_key = store.private_round_key(published.digest, number)
    if private_key is None:
        raise MismatchError("the private key of this round is missing: its batch cannot be opened")
    opening = _Opening.of(store, published, number, private_key)
    with ThreadPoolExecutor(os.cpu_count() or 1, "opening") as threads:
        for part, messages in store.parts(published.digest, number):
            opening.open_part(part, messages, threads, now)
    store.close_batch(published.digest, number, now)


@dataclass
class _Found:
    """What was in the messages of one part."""

    envelopes: list[bytes] = field(default_factory=list)
    tickets: list[Ticket | None] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    unopened: int = 0
    canaries: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Opening:
    """The batch of one round, and everything that its messages are checked against."""

    store: Store
    published: Published
    number: int
    opener: LayerOpener
    message_format: MessageFormat
    canaries: set[bytes]

    @classmethod
    def of(cls, store: Store, published: Published, number: int, private_key: bytes) -> "_Opening":
        asked = published.asked[number]
        context = seal_context(published.task, asked, published.fingerprint)
        return cls(
            store=store,
            published=published,
            number=number,
            opener=LayerOpener(private_key, context, len(shuffle_of(published).hops)),
            message_format=MessageFormat.of(published.task, asked),
            canaries=store.canary_ids(published.digest, number),
        )

    def open_part(self, part: int, data: bytes, threads: ThreadPoolExecutor, now: int) -> None:
        """Store the reports of a part and erase its bytes, in one transaction."""
        size = message_bytes(self.published, self.number)
        sealed = [data[start : start + size] for start in range(0, len(data), size)]
        slices = [
            sealed[start : start + _MESSAGES_OF_A_THREAD]
            for start in range(0, len(sealed), _MESSAGES_OF_A_THREAD)
        ]
        found = _joined(list(threads.map(self._look_into, slices)))
        digest = self.published.digest
        admitted = admit_opened(self.published, self.number, found.envelopes, found.tickets)
        codes = found.codes + Counter(admitted.codes.values())
        refused = {(digest, code): count for code, count in codes.items()}
        opened = OpenedPart(
            task=digest,
            round=self.number,
            part=part,
            messages=len(sealed),
            unopened=found.unopened,
            canaries=tuple(found.canaries),
        )
        self.store.accept(admitted.offers, refused, now, opened)

    def _look_into(self, sealed: Sequence[bytes]) -> _Found:
        found = _Found()
        for message in sealed:
            self._look_into_one(message, found)
        return found

    def _look_into_one(self, sealed: bytes, found: _Found) -> None:
        try:
            opened = self.opener.open(sealed)
        except MismatchError:
            found.unopened += 1
            return
        try:
            token, envelopes = self.message_format.split(opened)
        except CodecError:
            found.codes["malformed"] += 1
            return
        report_id = VERSION.read_bytes("id", envelopes)
        if report_id in self.canaries:
            found.canaries.append(report_id)
            return
        if self.published.issuer is not None:
            ticket = Ticket.of_blind_token(token, self.published)
            if ticket is None:
                found.codes["token-unknown"] += 1
                return
            found.tickets.append(ticket)
        found.envelopes.append(envelopes)


def _joined(parts: Sequence[_Found]) -> _Found:
    joined = _Found()
    for part in parts:
        joined.envelopes += part.envelopes
        joined.tickets += part.tickets
        joined.codes += part.codes
        joined.unopened += part.unopened
        joined.canaries += part.canaries
    return joined
