"""Public coins: which round asks a device, and which member of a choice it answers.

A device draws 16 bytes once per task and keeps them, or derives them from its enrolment token, so
that a collector which knows the token can check that the device did not choose for itself.  Coins
are fixed before anybody asks and say nothing about values.
"""

import hashlib

COIN_BYTES = 16


def enrolled_bytes(token: str, digest: str) -> bytes:
    """Return the 16 bytes that an enrolment token gives a device for one task."""
    content = b"sottovoce/enrolment/v1" + token.encode() + digest.encode()
    return hashlib.sha256(content).digest()[:COIN_BYTES]


def round_coin(device_bytes: bytes, digest: str) -> int:
    """Return the coin in [0, 2^64) that decides which round asks the device."""
    return _coin(b"sottovoce/coin/v1" + device_bytes + digest.encode())


def choice_coin(device_bytes: bytes, round_number: int, slot: int) -> int:
    """Return the coin in [0, 2^64) that picks a member of a choice."""
    address = round_number.to_bytes(4, "little") + slot.to_bytes(4, "little")
    return _coin(b"sottovoce/choice/v1" + device_bytes + address)


def _coin(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest()[:8], "little")
