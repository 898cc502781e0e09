"""The line of a task file on which an entry stands, for errors that are about this entry.

The readers of TOML and JSON do not say where an entry stands.  In TOML it is the last line that
names the entry's key and before which the file, cut off there, can be read and does not have the
entry.  In JSON the entries of the tables on its path are walked through.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MAX_LENGTH = 1 << 16  # characters of a file that is searched
_MAX_CANDIDATES = 50
_BLANK = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class _Member(NamedTuple):
    """An entry of a JSON object, with the offsets of its key and its value."""

    key: str
    key_offset: int
    value_offset: int


def line_of(text: str, path: Sequence[str], *, toml: bool) -> int | None:
    """Return the line of the entry at a path, from 1; None if the file is long or lacks it.

    >>> line_of("[plan]\\nkind = 'mean'\\nlow = 1", ("plan", "low"), toml=True)
    3
    >>> line_of('{"plan":\\n {"low": 1}}', ("plan", "low"), toml=False)
    2
    """
    if not path or len(text) > MAX_LENGTH:
        return None
    return _toml_line(text, path) if toml else _json_line(text, path)


def _toml_line(text: str, path: Sequence[str]) -> int | None:
    lines = text.split("\n")
    candidates = [index for index, line in enumerate(lines) if path[-1] in line]
    found = None
    for index in candidates[:_MAX_CANDIDATES]:
        try:
            before = tomllib.loads("\n".join(lines[:index]))
        except (ValueError, RecursionError):
            continue  # inside a value of several lines
        if _has(before, path):
            break
        found = index + 1
    return found


def _has(content: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(content, Mapping) or key not in content:
            return False
        content = content[key]
    return True


def _json_line(text: str, path: Sequence[str]) -> int | None:
    key_offset = value_offset = 0
    for key in path:
        members = [member for member in _members(text, value_offset) if member.key == key]
        if not members:
            return None
        _, key_offset, value_offset = members[-1]  # the last of several is the one that counts
    return text.count("\n", 0, key_offset) + 1


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the entries of the object at an offset of valid JSON; other values have none."""
    start = _after_blank(text, start)
    if text[start] != "{":
        return
    offset = _after_blank(text, start + 1)
    while text[offset] == '"':
        key, key_end = _decode(text, offset)
        colon = _after_blank(text, key_end)
        value_offset = _after_blank(text, colon + 1)
        yield _Member(key, offset, value_offset)
        _, value_end = _decode(text, value_offset)
        end = _after_blank(text, value_end)
        offset = _after_blank(text, end + 1) if text[end] == "," else end


def _after_blank(text: str, offset: int) -> int:
    blank = _BLANK.match(text, offset)
    assert blank is not None  # it matches the empty text too
    return blank.end()
