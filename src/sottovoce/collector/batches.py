"""Taking the batch of a shuffled round from the last hop, part by part.

A part is believed because the hop has signed it with the key that the document pins.  Parts may
come in any order and as often as the hop likes; each is stored once.  When all are there their hash
is compared with the one that every part states.  Then the batch is complete and final, and the
work on it begins (``collector/opening.py``).  A batch with a wrong hash is dropped whole, so that
the hop can send it again.
"""

import hashlib

from sottovoce.collector.key_exchange import check_round, shuffle_of
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.shuffle_base import BatchRecord, PartRecord
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.web.problems import RequestError
from sottovoce.wire import batch_part
from sottovoce.wire.batch_part import BatchPart, PartPlace
from sottovoce.wire.shuffled_message import seal_context

MAX_MESSAGES = 1_000  # in one part
MAX_BYTES = 1 << 20  # of the messages in one part
_HEAD_BYTES = 100  # of a part before its messages


def receive(
    store: Store, published: Published, place: tuple[int, int], body: bytes
) -> tuple[BatchRecord, bool]:
    """Keep a part of a batch; return what is here now, and whether the part is new.

    ``place`` is the number of the round and that of the part.
    """
    number, _ = place
    is_new = store.add_part(published.digest, number, read_part(published, place, body))
    return _completed(store, published.digest, number), is_new


def read_part(published: Published, place: tuple[int, int], body: bytes) -> PartRecord:
    """Return the part of a round and a number that is in a body, or refuse the body."""
    number, part_number = place
    check_round(published, number)
    part = _signed_part(published, number, part_number, body)
    size = message_bytes(published, number)
    count, rest = divmod(len(part.messages), size)
    if rest or count > MAX_MESSAGES:
        raise RequestError(
            "malformed-request",
            f"a part has from 1 to {MAX_MESSAGES} messages of {size} bytes each",
        )
    return PartRecord(part.part, part.parts, part.batch_hash, part.messages)


def message_bytes(published: Published, number: int) -> int:
    """Return the length of a message as the last hop delivers it."""
    hops = len(shuffle_of(published).hops)
    context = seal_context(published.task, published.asked[number], published.fingerprint)
    return context.sealed_bytes(hops)


def _signed_part(published: Published, number: int, part_number: int, body: bytes) -> BatchPart:
    """Return the part in a body, or refuse what the last hop cannot have sent."""
    last_hop = shuffle_of(published).hops[-1]
    if len(body) > MAX_BYTES + _HEAD_BYTES:
        raise RequestError("too-large", f"a part has at most {MAX_BYTES} bytes of messages")
    hop_number = len(shuffle_of(published).hops) - 1
    place = PartPlace(published.fingerprint, number, hop_number, part_number)
    try:
        return batch_part.read(body, place, last_hop.key_bytes)
    except MismatchError:
        raise RequestError("bad-signature") from None
    except (CodecError, ParameterError):
        raise RequestError("malformed-request", "this is not a part of a batch") from None


def _completed(store: Store, digest: str, number: int) -> BatchRecord:
    """Return what is here of a batch; it becomes complete if all of it is here."""
    record = store.batch(digest, number)
    if record is None:  # dropped meanwhile by another node
        raise RequestError("conflict", "the batch was dropped: send all its parts again")
    if record.complete or record.received < record.parts:
        return record
    if _hash(store, digest, number) != record.batch_hash:
        store.drop_batch(digest, number)
        raise RequestError(
            "conflict", "the parts do not have the hash that they state: send all of them again"
        )
    store.complete_batch(digest, number)
    return store.batch(digest, number) or record


def _hash(store: Store, digest: str, number: int) -> bytes:
    whole = hashlib.sha256()
    for _, messages in store.parts(digest, number):
        whole.update(messages)
    return whole.digest()
