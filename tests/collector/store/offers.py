"""What the tests of stores offer: tasks, rounds, tokens and messages with ids that can be told
apart.
"""

import hashlib

import numpy as np

from sottovoce.collector.store.base import Offer, State, TaskRecord, TokenRecord

DIGEST = "d" * 32
NOW = 1_000_000_020  # twenty seconds into its minute
MINUTE = NOW - NOW % 60
WIDTH = 24


def task(name="pets", digest=DIGEST, created=NOW):
    return TaskRecord(name, digest, f"document of {name}", created)


def hashed(name):
    return hashlib.sha256(str(name).encode()).digest()


def report_id(name):
    return hashed(name)[:16]


def token(name, scope="enrolment", expires=None):
    return TokenRecord(hashed(name), scope, f"label of {name}", NOW, expires)


def bundle_data(bundle):
    """The bytes that stand for one message: they say which one it was."""
    return repr(tuple(bundle)).encode().ljust(WIDTH, b".")[:WIDTH]


def bundles(messages, digest=DIGEST, number=0, tokens=None, epoch=0):
    """Offer messages of several reports, each report with a name of its own."""
    ids = np.array([[list(report_id(name)) for name in bundle] for bundle in messages], np.uint8)
    data = np.array([list(bundle_data(bundle)) for bundle in messages], np.uint8)
    claims = None if tokens is None else np.array([list(hashed(name)) for name in tokens], np.uint8)
    return Offer(digest, number, ids, data, claims, epoch)


def singles(names, **settings):
    """Offer messages of one report each."""
    return bundles([[name] for name in names], **settings)


def accept(store, *offers, refused=None, now=NOW):
    """Return the verdicts of every offer as words."""
    return [
        [str(verdict) for verdict in given] for given in store.accept(offers, refused or {}, now)
    ]


def stored(store, digest=DIGEST, number=0):
    """Return the messages of a round in some order."""
    blob = b"".join(store.segments(digest, number))
    return sorted(blob[start : start + WIDTH] for start in range(0, len(blob), WIDTH))


def messages(*bundles):
    """What ``stored`` returns when these messages, and no others, are there."""
    return sorted(bundle_data(bundle) for bundle in bundles)


def users(store, digest=DIGEST, number=0):
    return store.rounds(digest)[number].users


def close_round(store, digest=DIGEST, number=0, *, sealed=False):
    """Take a round to sealing, or to the end."""
    assert store.turn(digest, number, State.OPEN, State.CLOSING, NOW + 1)
    assert store.turn(digest, number, State.CLOSING, State.SEALING, NOW + 2)
    if sealed:
        assert store.seal(digest, number, 1, "checksum", NOW + 3)
