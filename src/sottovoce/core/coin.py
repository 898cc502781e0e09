"""Public coins: which round a device belongs to and which member it answers, fixed before anybody asks.

A device draws 16 bytes once per task and keeps them, or derives them from its enrolment token, so that a
collector which knows the token can check that the device did not choose for itself.  Coins say nothing about values.
"""

import hashlib

COIN_BYTES = 16


def enrolled(token: str, digest: str) -> bytes:
    """Return the 16 bytes that an enrolment token gives a device for one task."""
    return hashlib.sha256(b"sottovoce/enrolment/v1" + token.encode() + digest.encode()).digest()[:COIN_BYTES]


def place(kept: bytes, digest: str) -> int:
    """Return where the device stands in [0, 2^64): the round whose share this is asks it."""
    return _draw(b"sottovoce/coin/v1" + kept + digest.encode())


def choice(kept: bytes, round_number: int, slot: int) -> int:
    """Return the 64-bit coin that picks a member of a choice."""
    return _draw(b"sottovoce/choice/v1" + kept + round_number.to_bytes(4, "little") + slot.to_bytes(4, "little"))


def _draw(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest()[:8], "little")
