"""A task and a round for the tests of stores, which do not look into either."""

from sottovoce.shuffler.store.base import HopTask, NewRound
from sottovoce.wire.round_keys import KeyPair

TASK = bytes(range(32))
KEYS = KeyPair(b"p" * 32, b"P" * 32)
KEY_SET = (KEYS.public_key, b"C" * 32)
SET_SIGNATURE = b"S" * 64


def task(fingerprint=TASK):
    return HopTask(fingerprint, "document", "https://collector.example.org")


def new_round(number=0, keys=KEYS):
    return NewRound(TASK, number, f"round {number}", 60, keys, b"s" * 64)
