"""Texts of bounded length: words, addresses of pages, names that nobody has listed."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from sottovoce.arrays import Values
from sottovoce.domain import Domain
from sottovoce.domains.bits import random_bits
from sottovoce.errors import DomainError, ParameterError
from sottovoce.hashing import indices_of
from sottovoce.rng import Rng

LONGEST = 60


@dataclass(frozen=True)
class Strings(Domain, kind="strings"):
    """Texts as UTF-8 in composed form (NFC), filled with zero bytes up to ``length`` bytes.

    A longer text loses whole characters at its end, on the device and by this public rule; with ``whole`` it is
    refused instead.

    >>> Strings(2).label(0x6869)
    'hi'
    """

    length: int
    whole: bool = False

    def __post_init__(self) -> None:
        if type(self.length) is not int or not 1 <= self.length <= LONGEST or type(self.whole) is not bool:
            raise ParameterError(f"a text has from 1 to {LONGEST} bytes")

    @property
    def bits(self) -> int:
        """Return the bits of a value."""
        return 8 * self.length

    @property
    def size(self) -> int:
        return 1 << self.bits

    def indices(self, values: Iterable[Any]) -> Values:
        return indices_of([self._number(value) for value in values], self.bits)

    def _number(self, value: Any) -> int:
        if not isinstance(value, str) or "\0" in value or any("\ud800" <= one <= "\udfff" for one in value):
            raise DomainError("a value must be text without zero characters and halves of surrogate pairs")
        coded = normalize("NFC", value).encode()
        if self.whole and len(coded) > self.length:
            raise DomainError(f"a value must have at most {self.length} bytes in UTF-8")
        cut = coded[: self.length].decode(errors="ignore").encode()
        return int.from_bytes(cut.ljust(self.length, b"\0"), "big")

    def anything(self, rng: Rng) -> Values:
        return random_bits(self.bits, rng)

    def label(self, number: int) -> str:
        """Return the text that a number stands for."""
        return number.to_bytes(self.length, "big").rstrip(b"\0").decode(errors="replace")

    def possible(self, prefix: int, length: int) -> bool:
        """Return whether some text begins with this prefix of so many bits: UTF-8, and nothing after a zero byte."""
        whole, begun = divmod(length, 8)
        text = (prefix >> begun).to_bytes(whole, "big")
        written = text.rstrip(b"\0")
        ended = len(written) < whole
        if b"\0" in written or (ended and prefix & ((1 << begun) - 1)):
            return False
        try:
            codecs.getincrementaldecoder("utf-8")().decode(written, final=ended or length == self.bits)
        except UnicodeDecodeError:
            return False
        return True
