"""Texts of bounded length: words, addresses of pages, names that nobody has listed."""

import codecs
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from unicodedata import is_normalized, normalize

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, refuse_empty_cells
from sottovoce.domains.bits import counts_of_long_values, random_bits
from sottovoce.errors import DomainError, ParameterError
from sottovoce.maths.hashing import indices_of

LONGEST = 60
_CODES = (range(1, 0x80), range(0x80, 0x800), range(0x800, 0x10000), range(0x10000, 0x110000))  # by bytes in UTF-8


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

    def random_value(self, rng: Rng) -> Values:
        return random_bits(self.bits, rng)

    def label(self, number: int) -> str:
        """Return the text that a number stands for."""
        return number.to_bytes(self.length, "big").rstrip(b"\0").decode(errors="replace")

    def shown(self, number: int) -> str:
        """Return the text as it may be printed: what others sent must not move a cursor or turn a line around.

        >>> Strings(4).shown(0x61071B62)
        'a\\\\x07\\\\x1bb'
        """
        escaped = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in self.label(number))
        return "".join(escaped)

    def possible(self, prefix: int, length: int) -> bool:
        """Return whether some text begins with this prefix of so many bits."""
        whole, begun = divmod(length, 8)
        coded, rest = (prefix >> begun).to_bytes(whole, "big"), prefix & ((1 << begun) - 1)
        written = coded.rstrip(b"\0")
        ended = len(written) < whole
        text, cut = _read(written)
        if text is None or (ended and (cut or rest)):
            return False
        room = self.length - (len(written) - len(cut))
        return ended or _goes_on(text, int.from_bytes(cut) << begun | rest, 8 * len(cut) + begun, room)

    short_forms = (frozenset({"bytes"}), frozenset({"bytes", "whole"}))

    @classmethod
    def from_short(cls, **settings: Any) -> "Strings":
        return cls(settings["bytes"], settings.get("whole", False))

    @property
    def described(self) -> str:
        return f"a text of up to {self.length:,} byte{'' if self.length == 1 else 's'}"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(name, cells, "leave out the people who hold nothing")
        return list(cells)

    def counts(self, indices: Values, labels: Iterable[str] | None = None) -> dict[str, int]:
        return counts_of_long_values(indices, self.shown, labels)


def _read(coded: bytes) -> tuple[str | None, bytes]:
    """Return the whole characters, if they are those of a text, and the bytes of one that is cut."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(coded)
    except UnicodeDecodeError:
        return None, b""
    return text if "\0" not in text and is_normalized("NFC", text) else None, decoder.getstate()[0]


def _goes_on(text: str, begun: int, bits: int, room: int) -> bool:
    """Return whether a character may follow that begins with these bits, or nothing at all."""
    if not begun:
        return True  # no more bits, or those of a zero byte
    following = (one for size in range(1, min(room, len(_CODES)) + 1) for one in _codes(begun, bits, size))
    return any(is_normalized("NFC", text + chr(one)) for one in following if not 0xD800 <= one <= 0xDFFF)


def _codes(begun: int, bits: int, size: int) -> range:
    """Return the characters of so many bytes in UTF-8, as ordered as those, that begin with these bits."""
    open_bits = 8 * size - bits
    if open_bits < 0:
        return range(0)
    codes, low = _CODES[size - 1], begun << open_bits
    return codes[bisect_left(codes, low, key=_coded) : bisect_left(codes, low + (1 << open_bits), key=_coded)]


def _coded(code: int) -> int:
    return int.from_bytes(chr(code).encode(errors="surrogatepass"))
