"""Validators of settings: one function per kind of setting, each with one rule and one message.

A constructor checks every setting through one of these functions.  The error names the parameter
in backticks, states the rule, says what is allowed, and shows the setting that broke the rule.  Use
the functions for settings alone: what a person holds must never appear in an error.

    def __post_init__(self) -> None:
        whole("buckets", self.buckets, 2, MAX_BUCKETS)
        choice("method", self.method, METHODS)

Every function returns the setting.  Real numbers are converted to ``float``; whole numbers must be
Python's own, because documents are written from them.  ``True`` and ``False`` are no numbers.
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Hashable, Iterable, Sequence, Sized
from collections.abc import Set as AbstractSet
from functools import cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from unicodedata import is_normalized

from sottovoce.errors import ParameterError

MAX_EPSILON = 20.0

_MAX_SHOWN = 60  # characters of an offending setting that an error repeats
_HIDDEN = Path(__file__).with_name("hidden_characters.json")

Entry = TypeVar("Entry", bound=Hashable)
Instance = TypeVar("Instance")


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number between two bounds, both allowed.

    >>> whole("buckets", 1, 2, 1 << 20)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `buckets` must be a whole number from 2 to 1048576, not 1
    """
    if type(value) is not int or not _between(value, low, high):
        _refuse(name, f"be a whole number{_bounds(low, high)}", value)
    return int(value)


def power_of_two(name: str, value: Any, low: int, high: int) -> int:
    """Return a power of two between two bounds, both allowed.

    >>> power_of_two("columns", 48, 2, 1024)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `columns` must be a power of two from 2 to 1024, not 48
    """
    if type(value) is not int or value.bit_count() != 1 or not _between(value, low, high):
        _refuse(name, f"be a power of two{_bounds(low, high)}", value)
    return int(value)


def real(name: str, value: Any, low: float | None = None, high: float | None = None) -> float:
    """Return a finite number between two bounds, both allowed, as a float.

    >>> real("cap", -1, 0)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `cap` must be a number of at least 0, not -1
    """
    if not _is_number(value) or not _between(value, low, high):
        _refuse(name, f"be a number{_bounds(low, high)}", value)
    return float(value)


def positive(name: str, value: Any, high: float | None = None) -> float:
    """Return a finite number above 0 and at most ``high``, as a float.

    >>> positive("seconds", 0)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `seconds` must be a number above 0, not 0
    """
    if not _is_number(value) or value <= 0 or not _between(value, None, high):
        limit = "" if high is None else f" and at most {_written(high)}"
        _refuse(name, f"be a number above 0{limit}", value)
    return float(value)


def epsilon(name: str, value: Any) -> float:
    """Return a privacy budget as a float: above 0 and at most ``MAX_EPSILON``.

    >>> epsilon("epsilon", 50)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `epsilon` must be a number above 0 and at most 20, not 50
    """
    return positive(name, value, MAX_EPSILON)


def share(name: str, value: Any) -> float:
    """Return a part of a whole as a float: from 0 to 1, both allowed.

    >>> share("honest", 95)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `honest` must be a number from 0 to 1, not 95
    """
    return real(name, value, 0, 1)


def open_share(name: str, value: Any) -> float:
    """Return a part of a whole as a float: strictly between 0 and 1, as a confidence level is.

    >>> open_share("level", 1.0)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `level` must be a number above 0 and below 1, not 1.0
    """
    if not _is_number(value) or not 0 < value < 1:
        _refuse(name, "be a number above 0 and below 1", value)
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return ``True`` or ``False``; nothing else counts as either.

    >>> flag("clamped", 1)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `clamped` must be true or false, not 1
    """
    if not isinstance(value, bool):
        _refuse(name, "be true or false", value)
    return bool(value)


def text(name: str, value: Any, max_length: int | None = None) -> str:
    """Return text of at least one and at most ``max_length`` characters.

    >>> text("name", "")
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `name` must be text that is not empty, not ''
    """
    if not isinstance(value, str) or not value:
        _refuse(name, "be text that is not empty", value)
    if max_length is not None and len(value) > max_length:
        _refuse(name, f"be text of at most {max_length} characters", value)
    return str(value)


def plain_text(name: str, value: Any, max_length: int) -> str:
    """Return text that shows what it holds: bounded, composed, without hidden characters.

    It is for text that a stranger chose and a person reads.  The empty text passes.  The hidden
    characters are those of ``hidden_characters.json``.

    >>> plain_text("name", "free\u202egnihton", 200)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `name` must be text without control, invisible and direction \
characters, not 'free\\u202egnihton'
    """
    rule = _plain_text_rule(value, max_length)
    if rule:
        _refuse(name, rule, value)
    return str(value)


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return one of the options.

    >>> choice("rule", "best", ("auto", "exact"))
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `rule` must be one of auto, exact, not 'best'
    """
    listed = list(options)
    if not isinstance(value, str) or value not in listed:
        _refuse(name, f"be one of {', '.join(listed)}", value)
    return str(value)


def instance(name: str, value: Any, *types: type[Instance]) -> Instance:
    """Return an object of one of these classes; the error shows its class alone.

    >>> instance("domain", 3, str, bytes)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `domain` must be of class str or bytes, not int
    """
    if not isinstance(value, types):
        names = " or ".join(allowed.__name__ for allowed in types)
        raise ParameterError(f"`{name}` must be of class {names}, not {type(value).__name__}")
    return value


def octets(name: str, value: Any, length: int) -> bytes:
    """Return a byte string of an exact length; the error shows the length alone, never the bytes.

    >>> octets("digest", b"abc", 32)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `digest` must have exactly 32 bytes, not 3
    """
    instance(name, value, bytes)
    if len(value) != length:
        raise ParameterError(f"`{name}` must have exactly {length} bytes, not {len(value)}")
    return bytes(value)


def base64url(name: str, value: Any, length: int) -> bytes:
    """Return the bytes, exactly ``length`` of them, that a text in base64url without padding holds.

    >>> base64url("key", "AAEC", 3)
    b'\\x00\\x01\\x02'
    >>> base64url("key", "AAEC=", 3)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `key` must be base64url of exactly 3 bytes, without padding
    """
    rule = f"`{name}` must be base64url of exactly {length} bytes, without padding"
    if not isinstance(value, str) or len(value) != (4 * length + 2) // 3:
        raise ParameterError(rule)
    try:
        decoded = urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        raise ParameterError(rule) from None
    if urlsafe_b64encode(decoded).rstrip(b"=").decode() != value:
        raise ParameterError(rule)
    return decoded


def entries(name: str, values: Sized, low: int, high: int | None = None) -> int:
    """Return how many entries a collection has: from ``low`` to ``high``, both allowed.

    >>> entries("labels", ["only"], 2)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `labels` must have at least 2 entries, not 1
    """
    if not _between(len(values), low, high):
        raise ParameterError(f"`{name}` must have {_count(low, high)}, not {len(values)}")
    return len(values)


def wholes(
    name: str, values: Iterable[Any], low: int | None = None, high: int | None = None
) -> tuple[int, ...]:
    """Return a collection whose every entry is a whole number between two bounds, both allowed.

    >>> wholes("ids", (3, 0), 1)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: each entry of `ids` must be a whole number of at least 1, not 0
    """
    listed = tuple(values)
    if not listed:
        return listed
    all_whole = set(map(type, listed)) == {int}
    if all_whole and _between(min(listed), low, None) and _between(max(listed), None, high):
        return listed  # without a look at every entry: there may be many
    for value in listed:
        if type(value) is not int or not _between(value, low, high):
            _refuse_entry(name, f"be a whole number{_bounds(low, high)}", value)
    return listed


def texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Return a collection whose every entry is text of at least one character.

    A set has no order of its own: it is sorted, so that it means the same in every process.

    >>> texts("labels", ("cat", ""))
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: each entry of `labels` must be text that is not empty, not ''
    """
    listed = tuple(values)
    for value in listed:
        if not isinstance(value, str) or not value:
            _refuse_entry(name, "be text that is not empty", value)
    return tuple(sorted(listed)) if isinstance(values, AbstractSet) else listed


def plain_texts(name: str, values: Iterable[Any], max_length: int) -> tuple[str, ...]:
    """Return a collection whose every entry is plain text, as ``plain_text`` says.

    >>> plain_texts("names", ("age", "s\u200btate"), 100)
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: each entry of `names` must be text without control, invisible \
and direction characters, not 's\\u200btate'
    """
    listed = tuple(values)
    for value in listed:
        rule = _plain_text_rule(value, max_length)
        if rule:
            _refuse_entry(name, rule, value)
    return listed


def distinct(name: str, values: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return a collection that holds no entry twice; the error names positions, counted from 1.

    >>> distinct("labels", ["cat", "dog", "cat"])
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: the entries of `labels` must differ, but 1 and 3 are equal
    """
    listed = tuple(values)
    first: dict[Entry, int] = {}
    for position, value in enumerate(listed, 1):
        if value in first:
            equal = f"{first[value]} and {position} are equal"
            raise ParameterError(f"the entries of `{name}` must differ, but {equal}")
        first[value] = position
    return listed


def ascending(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """Return numbers of which each is larger than the one before it.

    >>> ascending("columns", (2, 1))
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `columns` must ascend without repetition, not (2, 1)
    """
    if sorted(set(values)) != list(values):
        _refuse(name, "ascend without repetition", values)
    return tuple(values)


def _plain_text_rule(value: Any, max_length: int) -> str:
    """Return the rule of plain text that a setting breaks, and nothing if it keeps all of them."""
    if not isinstance(value, str):
        return "be text"
    if len(value) > max_length:
        return f"be text of at most {max_length} characters"
    if _hidden_characters().search(value):
        return "be text without control, invisible and direction characters"
    if not is_normalized("NFC", value):
        return "be text in composed form (NFC)"
    return ""


@cache
def _hidden_characters() -> re.Pattern[str]:
    """Return a pattern for one character that plain text may not hold."""
    ranges = json.loads(_HIDDEN.read_text("ascii"))["ranges"]
    written = [f"\\U{int(low, 16):08x}-\\U{int(high, 16):08x}" for low, high in ranges]
    return re.compile(f"[{''.join(written)}]")


def _is_number(value: Any) -> bool:
    """Return whether a setting is a finite number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return isfinite(float(value))
    except OverflowError:  # a whole number that is too large for a float
        return False


def _between(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _refuse(name: str, rule: str, value: Any) -> NoReturn:
    raise ParameterError(f"`{name}` must {rule}, not {_shown(value)}")


def _refuse_entry(name: str, rule: str, value: Any) -> NoReturn:
    raise ParameterError(f"each entry of `{name}` must {rule}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a setting as an error repeats it; a huge number is not written out in full."""
    if type(value) is int:
        return _written(value)
    shown = repr(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {_written(low)} to {_written(high)}"
    if low is not None:
        return f" of at least {_written(low)}"
    return "" if high is None else f" of at most {_written(high)}"


def _count(low: int, high: int | None) -> str:
    if high == low:
        return "exactly 1 entry" if low == 1 else f"exactly {low} entries"
    if high is not None:
        return f"from {low} to {high} entries"
    return "at least 1 entry" if low == 1 else f"at least {low} entries"


def _written(number: float) -> str:
    """Return a bound as an error writes it; powers of two beyond 2^31 are written as powers."""
    if isinstance(number, float):
        return f"{number:g}"
    if abs(number) >= 1 << 31:
        for offset, suffix in ((0, ""), (1, " - 1")):
            power = number + offset
            if power.bit_count() == 1 and power > 0:
                return f"2^{power.bit_length() - 1}{suffix}"
    if number.bit_length() > 128:
        return f"a number of {number.bit_length()} bits"
    return str(number)
