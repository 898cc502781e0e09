"""The round keys of a shuffled task: the collector's own, those of the hops, and all for devices.

Every round has one X25519 key per hop and one of the collector, which has the number after the last
hop.  Hops push theirs; the collector makes its own when the round opens and erases the private half
once the batch is opened.  All are signed with long-term keys that the document pins, so nobody
needs to be trusted with handing them on.  The first valid key of a hop stays.
"""

from dataclasses import dataclass
from pathlib import Path

from sottovoce.collector import key_files
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.shuffle_base import RoundKeyRecord
from sottovoce.errors import CodecError, MismatchError
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.web.problems import RequestError
from sottovoce.wire.round_keys import KeyStatement, new_round_key


@dataclass(frozen=True)
class PushedKey:
    """A public key that a hop has pushed, and its signature."""

    public_key: bytes
    signature: bytes


def make_own_key(store: Store, folder: Path, published: Published, number: int) -> None:
    """Make the collector's key for a round, unless it is there; of several nodes the first wins."""
    hop = len(shuffle_of(published).hops)
    keys = store.round_keys(published.digest, number)
    if any(key.hop == hop for key in keys):
        return
    pair = new_round_key()
    statement = KeyStatement(published.fingerprint, number, hop, pair.public_key)
    signature = statement.sign(key_files.signing_key(folder).private_key)
    record = RoundKeyRecord(hop, pair.public_key, signature)
    try:
        store.add_round_key(published.digest, number, record, pair.private_key)
    except MismatchError:
        return  # another node was first, and its key stays


def add_hop_key(store: Store, published: Published, number: int, hop: int, key: PushedKey) -> bool:
    """Keep the key that a hop has pushed; False if it is here already."""
    shuffle = shuffle_of(published)
    check_round(published, number)
    if hop >= len(shuffle.hops):
        raise RequestError("not-found", "this task has no such hop")
    try:
        statement = KeyStatement(published.fingerprint, number, hop, key.public_key)
        statement.verify(key.signature, shuffle.hops[hop].key_bytes)
    except (MismatchError, CodecError):
        raise RequestError("bad-signature") from None
    record = RoundKeyRecord(hop, key.public_key, key.signature)
    return store.add_round_key(published.digest, number, record)


def all_keys(store: Store, published: Published, number: int) -> list[RoundKeyRecord]:
    """Return the keys of a round in the order of the hops, the collector's last, or refuse."""
    shuffle = shuffle_of(published)
    check_round(published, number)
    keys = store.round_keys(published.digest, number)
    if len(keys) <= len(shuffle.hops):
        raise RequestError("not-ready", "not all keys of this round are there yet")
    return keys


def shuffle_of(published: Published) -> Shuffle:
    """Return how a task is shuffled, or say that it is not."""
    if published.task.shuffle is None:
        raise RequestError("not-found", "this task is not shuffled")
    return published.task.shuffle


def check_round(published: Published, number: int) -> None:
    """Refuse a round that has not been asked."""
    if number not in published.asked:
        raise RequestError("not-found", "this task has not asked a round of this number")
