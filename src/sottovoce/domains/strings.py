"""Strings: texts of bounded length that nobody has listed: words, names, addresses of pages.

A text is its UTF-8 bytes in composed form (NFC), filled up with zero bytes, read as one big-endian
number.  So the first bits of the number are those of the first characters, and a search can go from
prefix to longer prefix.  ``possible`` rules out the prefixes that no text begins with.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import is_normalized, normalize

import numpy as np

from sottovoce.arrays import Bools, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Cells, Domain, refuse_empty_cells
from sottovoce.domains.bits import counts_of_long_values, random_bits
from sottovoce.errors import DomainError
from sottovoce.maths.hashing import indices_of

MAX_LENGTH = 60
_LONGER = 0.8  # how much less likely a text of one more byte is thought to be
_FULL = 0.1  # the share of texts that are thought to fill the whole length, as codes do

# The code points that take 1, 2, 3 and 4 bytes in UTF-8; zero is the padding.
_CODE_POINTS = (
    range(1, 0x80),
    range(0x80, 0x800),
    range(0x800, 0x10000),
    range(0x10000, 0x110000),
)
_SURROGATES = range(0xD800, 0xE000)  # halves of pairs: no characters by themselves


@dataclass(frozen=True)
class Strings(Domain, kind="strings"):
    """Texts of at most ``length`` bytes in UTF-8.

    A longer text loses whole characters at its end, on the device and by this public rule.  With
    ``whole`` it is refused instead.

    >>> Strings(2).label(0x6869)
    'hi'
    """

    length: int
    whole: bool = False

    def __post_init__(self) -> None:
        settings.whole("length", self.length, 1, MAX_LENGTH)
        settings.flag("whole", self.whole)

    @property
    def bits(self) -> int:
        """Return the bits of a value."""
        return 8 * self.length

    @property
    def size(self) -> int:
        return 1 << self.bits

    @property
    def value_bits(self) -> int:
        return self.bits

    def indices(self, values: Iterable[Any]) -> Values:
        return indices_of([self._number(value) for value in values], self.bits)

    def _number(self, value: Any) -> int:
        if not isinstance(value, str):
            raise DomainError("a value must be text")
        if "\0" in value or any(ord(character) in _SURROGATES for character in value):
            raise DomainError(
                "a value must be text without zero characters and halves of surrogate pairs"
            )
        encoded = normalize("NFC", value).encode()
        if self.whole and len(encoded) > self.length:
            raise DomainError(f"a value must have at most {self.length} bytes in UTF-8")
        whole_characters = encoded[: self.length].decode(errors="ignore").encode()
        return int.from_bytes(whole_characters.ljust(self.length, b"\0"), "big")

    def random_value(self, rng: Rng) -> Values:
        return random_bits(self.bits, rng)

    def label(self, number: int) -> str:
        """Return the text that a number stands for."""
        return number.to_bytes(self.length, "big").rstrip(b"\0").decode(errors="replace")

    def shown(self, number: int) -> str:
        """Return the text with control characters escaped, so that printing it is harmless.

        No two texts look the same: a backslash that could be read as the beginning of an escape is
        written twice.

        >>> Strings(4).shown(0x61071B62)
        'a\\\\x07\\\\x1bb'
        """
        text = self.label(number)
        followers = [*text[1:], ""]
        return "".join(map(_escaped, text, followers))

    def possible(self, prefix: int, length: int) -> bool:
        """Return whether some text begins with this prefix of ``length`` bits."""
        whole_bytes, open_bits = divmod(length, 8)
        encoded = (prefix >> open_bits).to_bytes(whole_bytes, "big")
        begun = prefix & ((1 << open_bits) - 1)  # the bits of a byte that is not whole yet
        written = encoded.rstrip(b"\0")
        has_ended = len(written) < whole_bytes
        text, incomplete = _decoded(written)
        if text is None:
            return False
        if has_ended:  # only zeros may follow
            return not incomplete and not begun
        room = self.length - (len(written) - len(incomplete))
        begun |= int.from_bytes(incomplete) << open_bits
        return _can_continue(text, begun, 8 * len(incomplete) + open_bits, room)

    @property
    def endings(self) -> dict[int, float]:
        """Return after how many bits a text may be known whole, and how likely that is thought.

        A text is known when its first zero byte is, or when it is as long as it may be.  Nobody
        knows the lengths before a search: each further byte is taken to be 0.8 times as likely, and
        one text in ten to be a code that fills all bytes.
        """
        weights = {8 * (size + 1): _LONGER**size for size in range(1, self.length)}
        weights[self.bits] = weights.get(self.bits, 0.0) + _LONGER**self.length
        total = sum(weights.values())
        chances = {bits: (1 - _FULL) * weight / total for bits, weight in weights.items()}
        chances[self.bits] += _FULL
        return chances

    def finished(self, prefixes: Sequence[int], extension: int, length: int) -> Bools:
        """Return which extensions of prefixes to ``length`` bits are whole texts, in order.

        After a zero byte only zero bytes may follow.
        """
        if length == self.bits:
            return np.full(len(prefixes) << extension, True)
        if length < 8:
            return np.full(len(prefixes) << extension, False)
        open_bits = length % 8
        suffixes = np.arange(1 << extension)
        end = min(extension, open_bits + 8)  # the last whole byte reaches so far into the extension
        ends_with_zeros = suffixes & ((1 << end) - 1) == 0
        rest = open_bits + 8 - end  # bits of that byte which the prefix has
        zero_tails = np.array([prefix & ((1 << rest) - 1) == 0 for prefix in prefixes], bool)
        return np.outer(zero_tails, ends_with_zeros).ravel()

    short_forms = (frozenset({"bytes"}), frozenset({"bytes", "whole"}))

    @classmethod
    def from_short(cls, **settings: Any) -> "Strings":
        return cls(settings["bytes"], settings.get("whole", False))

    def statement_facts(self) -> dict[str, Any]:
        return {"length": self.length}

    @property
    def described(self) -> str:
        return f"a text of up to {self.length:,} byte{'' if self.length == 1 else 's'}"

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(name, cells, "leave out the people who hold nothing")
        return list(cells)

    def counts(self, indices: Values, labels: Iterable[str] | None = None) -> dict[str, int]:
        return counts_of_long_values(indices, self.shown, labels)


def _escaped(character: str, follower: str) -> str:
    if character == "\\":
        ambiguous = follower in ("\\", "x", "u", "U") or not follower.isprintable()
        return character * 2 if ambiguous else character
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _decoded(encoded: bytes) -> tuple[str | None, bytes]:
    """Return the whole characters, and the bytes of a character that is cut.

    The first is nothing if the bytes cannot be the beginning of a normalised text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(encoded)
    except UnicodeDecodeError:
        return None, b""
    incomplete = decoder.getstate()[0]
    if "\0" in text or not is_normalized("NFC", text):
        return None, incomplete
    return text, incomplete


def _can_continue(text: str, begun: int, bits: int, room: int) -> bool:
    """Return whether a text may go on with a character whose encoding begins with these bits."""
    if not begun:
        return True  # no bits yet, or those of a zero byte: the text may end here
    following = _characters(begun, bits, room)
    return any(is_normalized("NFC", text + character) for character in following)


def _characters(begun: int, bits: int, room: int) -> Iterator[str]:
    """Yield every character of at most ``room`` bytes in UTF-8 that begins with these bits."""
    for size in range(1, min(room, len(_CODE_POINTS)) + 1):
        for code_point in _code_points(begun, bits, size):
            if code_point not in _SURROGATES:
                yield chr(code_point)


def _code_points(begun: int, bits: int, size: int) -> range:
    """Return the code points of ``size`` bytes in UTF-8 that begin with these bits.

    UTF-8 keeps the order of code points, so these are neighbours.
    """
    open_bits = 8 * size - bits
    if open_bits < 0:
        return range(0)
    code_points = _CODE_POINTS[size - 1]
    lowest = begun << open_bits
    first = bisect_left(code_points, lowest, key=_encoded_number)
    end = bisect_left(code_points, lowest + (1 << open_bits), key=_encoded_number)
    return code_points[first:end]


def _encoded_number(code_point: int) -> int:
    return int.from_bytes(chr(code_point).encode(errors="surrogatepass"))
