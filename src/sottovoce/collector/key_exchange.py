"""The round keys of a shuffled task: the collector's own, those of the hops, and all for devices.

Every round has one X25519 key per hop and one of the collector, which has the number after the last
hop.  Hops push theirs; the collector makes its own when the round opens and erases the private half
once the batch is opened.  All are signed with long-term keys that the document pins, so nobody
needs to be trusted with handing them on.  The first valid key of a hop stays.

When all keys are there, every hop fetches them, signs them as one set, and pushes that signature.
Devices get keys and signatures once all of both are there.  What a hop signs is what devices were
to get from everybody: a collector that showed a hop one set and devices another would find that no
device seals.
"""

from dataclasses import dataclass
from pathlib import Path

from sottovoce.collector import key_files
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.tasks.shuffle import Shuffle
from sottovoce.web.problems import RequestError
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, SignedKey, new_round_key


@dataclass(frozen=True)
class SignedKeySet:
    """The keys of a round, and the signatures of all hops on them together."""

    keys: tuple[SignedKey, ...]
    set_signatures: tuple[bytes, ...]


def make_own_key(store: Store, folder: Path, published: Published, number: int) -> None:
    """Make the collector's key for a round, unless it is there; of several nodes the first wins."""
    hop = len(shuffle_of(published).hops)
    keys = store.round_keys(published.digest, number)
    if any(key.hop == hop for key in keys):
        return
    pair = new_round_key()
    statement = KeyStatement(published.fingerprint, number, hop, pair.public_key)
    signature = statement.sign(key_files.signing_key(folder).private_key)
    key = SignedKey(hop, pair.public_key, signature)
    try:
        store.add_round_key(published.digest, number, key, pair.private_key)
    except MismatchError:
        return  # another node was first, and its key stays


def add_hop_key(store: Store, published: Published, number: int, key: SignedKey) -> bool:
    """Keep the key that a hop has pushed; False if it is here already."""
    verifying_key = _hop_key(published, number, key.hop)
    try:
        statement = KeyStatement(published.fingerprint, number, key.hop, key.public_key)
        statement.verify(key.signature, verifying_key)
    except (MismatchError, CodecError):
        raise RequestError("bad-signature") from None
    return store.add_round_key(published.digest, number, key)


def all_keys(store: Store, published: Published, number: int) -> tuple[SignedKey, ...]:
    """Return the keys of a round in the order of the hops, the collector's last, or refuse."""
    shuffle = shuffle_of(published)
    check_round(published, number)
    keys = store.round_keys(published.digest, number)
    if len(keys) <= len(shuffle.hops):
        raise RequestError("not-ready", "not all keys of this round are there yet")
    return tuple(keys)


def add_set_signature(
    store: Store, published: Published, number: int, hop: int, signature: bytes
) -> bool:
    """Keep the signature of a hop on all keys of a round; False if it is here already."""
    verifying_key = _hop_key(published, number, hop)
    public_keys = [key.public_key for key in all_keys(store, published, number)]
    try:
        key_set = KeySet.of(published.fingerprint, published.asked[number], public_keys)
        key_set.verify(hop, signature, verifying_key)
    except (MismatchError, CodecError, ParameterError):
        raise RequestError("bad-signature") from None
    return store.add_set_signature(published.digest, number, hop, signature)


def signed_set(store: Store, published: Published, number: int) -> SignedKeySet:
    """Return the keys of a round with the signatures of all hops on them, or refuse."""
    keys = all_keys(store, published, number)
    signatures = store.set_signatures(published.digest, number)
    if len(signatures) < len(keys) - 1:
        raise RequestError("not-ready", "not all hops have signed the keys of this round yet")
    return SignedKeySet(keys, tuple(signatures))


def _hop_key(published: Published, number: int, hop: int) -> bytes:
    """Return the long-term public key of a hop, or refuse a round or a hop that is not there."""
    shuffle = shuffle_of(published)
    check_round(published, number)
    if hop >= len(shuffle.hops):
        raise RequestError("not-found", "this task has no such hop")
    return shuffle.hops[hop].key_bytes


def shuffle_of(published: Published) -> Shuffle:
    """Return how a task is shuffled, or say that it is not."""
    if published.task.shuffle is None:
        raise RequestError("not-found", "this task is not shuffled")
    return published.task.shuffle


def check_round(published: Published, number: int) -> None:
    """Refuse a round that has not been asked."""
    if number not in published.asked:
        raise RequestError("not-found", "this task has not asked a round of this number")
