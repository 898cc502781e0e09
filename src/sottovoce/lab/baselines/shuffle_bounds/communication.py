"""Bytes that the published shuffle protocols send, for n users and r shufflers.

SS is a chain of shufflers with onion encryption: 32 bytes and 96 for every layer.  PEOS keeps one
share of every report encrypted (384 bytes) and r - 1 shares of 8 bytes in plain; in each of the
C(r, t) rounds, t = floor(r / 2) + 1 shufflers hide the permutation from the others.

Source: Wang 2021, section 9.6.
"""

from dataclasses import dataclass
from math import comb

from sottovoce.core import settings

_REPORT = 32
_LAYER = 96
_CIPHERTEXT = 384
_SHARE = 8


@dataclass(frozen=True)
class Communication:
    """What the parties of one protocol send or receive, in bytes."""

    user: float  # sent by each user
    shuffler: float  # sent by each shuffler, on the average
    server: float  # received by the server


def sequential_shuffle(users: int, shufflers: int) -> Communication:
    """Return the cost of SS.

    >>> sequential_shuffle(10**6, 3).user
    416
    """
    _check(users, shufflers)
    layers = range(1, shufflers + 1)
    sent = sum(_REPORT + _LAYER * layer for layer in layers)
    return Communication(
        user=_REPORT + _LAYER * (shufflers + 1),
        shuffler=users * sent / shufflers,
        server=users * (_REPORT + _LAYER),
    )


def encrypted_oblivious_shuffle(users: int, shufflers: int) -> Communication:
    """Return the cost of PEOS, without fakes.

    >>> encrypted_oblivious_shuffle(10**6, 3).user
    400
    """
    _check(users, shufflers)
    hiders = shufflers // 2 + 1
    shares = _SHARE * hiders * (2 * shufflers - hiders - 1)
    return Communication(
        user=_CIPHERTEXT + _SHARE * (shufflers - 1),
        shuffler=users / shufflers * comb(shufflers, hiders) * (_CIPHERTEXT + shares),
        server=users * (_CIPHERTEXT + _SHARE * (hiders - 1)),
    )


def _check(users: int, shufflers: int) -> None:
    settings.whole("users", users, 1)
    settings.whole("shufflers", shufflers, 1)
