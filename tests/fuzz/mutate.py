"""Inputs that nobody means to send: valid ones flipped, cut, repeated, spliced or set to extremes,
and noise.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_INTEGERS = (
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    65535,
    65536,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 53,
    (1 << 64) - 1,
)
_WORDS = (
    b"-1", b"0", b"1e999", b"-0", b"NaN", b"Infinity", b"1" * 30, b"9" * 5000, b"0.1",
    b"18446744073709551616", b"null", b"true", b'""', b"[]", b"{}", b"[" * 3000, b'{"a":' * 2000,
    b"\\ud800", b"\xff\xfe", b"\x00", b"'", b'"kind"', b"\n[",
)  # fmt: skip
_LEAVES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 255, 65536, (1 << 32) - 1, (1 << 53) - 1, 1 << 53, 1 << 64,
    -(1 << 70), 0.5, "", "0", "-1", "1.0", "0.0", "1e-300", "1e300", "nan", "inf", "-0.0",
    "18446744073709551616", "9" * 400, "é", "e\u0301", [], [0], [[]], {}, {"kind": "grr"},
    {"kind": "task"}, {"kind": ""}, {"kind": ["grr"]}, "grr", "os", "__init__", "a" * 300,
)  # fmt: skip


def mutated(seeds: Sequence[bytes], dice: random.Random) -> bytes:
    """Return one input: now and then a seed as it is, or noise; else a seed after one to four
    changes.
    """
    draw = dice.random()
    if draw < 0.03:
        return dice.choice(seeds)
    if draw < 0.08:
        return dice.randbytes(dice.randrange(200))
    data = dice.choice(seeds)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 4))):
        data = dice.choice(_CHANGES)(data, seeds, dice)
    return data


def mutated_inside(seeds: Sequence[bytes], dice: random.Random) -> bytes:
    """Return an envelope of the right length with some of its other bytes changed."""
    made = bytearray(dice.choice(seeds))
    for _ in range(dice.choice((1, 1, 2, 4))):
        place = dice.choice((1, 2, 8, dice.randrange(len(made)), len(made) - dice.randint(1, 3)))
        if not 4 <= place < 8:
            made[place] = dice.choice((0, 1, 2, 3, 255, dice.randrange(256)))
    return bytes(made)


def mutated_text(seeds: Sequence[bytes], dice: random.Random) -> bytes:
    """Return one text: half of them are changed entry by entry and stay JSON."""
    if dice.random() < 0.5:
        return mutated(seeds, dice)
    try:
        content = json.loads(dice.choice(seeds))
    except ValueError:
        return _number(dice.choice(seeds), seeds, dice)
    for _ in range(dice.choice((1, 1, 2, 3))):
        content = _entry(content, dice)
    return json.dumps(content, ensure_ascii=False).encode(errors="replace")


def _entry(content: Any, dice: random.Random) -> Any:
    """Return a document with one entry changed, dropped, added or moved."""
    if not isinstance(content, (dict, list)) or not content or dice.random() < 0.02:
        return dice.choice(_LEAVES)
    key = dice.choice(list(content)) if isinstance(content, dict) else dice.randrange(len(content))
    made: Any = dict(content) if isinstance(content, dict) else list(content)
    draw = dice.random()
    if draw < 0.6:
        made[key] = _entry(content[key], dice)
    elif draw < 0.75:
        made[key] = dice.choice(_LEAVES)
    elif draw < 0.85:
        del made[key]
    elif isinstance(made, dict):
        made[dice.choice(("kind", "size", "epsilon", "extra", "", *made))] = dice.choice(
            (*_LEAVES, content[key])
        )
    else:
        made += [content[key]] * dice.choice((1, 2, 50))
    return made


def _flip(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    made = bytearray(data or b"\0")
    for _ in range(dice.choice((1, 1, 2, 8))):
        made[dice.randrange(len(made))] ^= 1 << dice.randrange(8)
    return bytes(made)


def _cut(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    first, last = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    return dice.choice((data[:first], data[last:], data[:first] + data[last:], data[:-1]))


def _repeat(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    first, last = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    return data[:last] + data[first:last] * dice.choice((1, 1, 2, 7)) + data[last:]


def _splice(data: bytes, seeds: Sequence[bytes], dice: random.Random) -> bytes:
    other = dice.choice(seeds)
    return data[: dice.randint(0, len(data))] + other[dice.randint(0, len(other)) :]


def _append(data: bytes, seeds: Sequence[bytes], dice: random.Random) -> bytes:
    return data + dice.choice((dice.choice(seeds), dice.randbytes(dice.randint(1, 20)), b"\0"))


def _extreme(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    width = dice.choice((1, 2, 4, 8))
    number = dice.choice(_INTEGERS) % (1 << 8 * width)
    place = dice.randint(0, max(0, len(data) - width))
    return (
        data[:place]
        + number.to_bytes(width, dice.choice(("little", "big")))
        + data[place + width :]
    )


def _insert(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    place = dice.randint(0, len(data))
    return data[:place] + dice.choice(_WORDS) + data[place:]


def _number(data: bytes, _: Sequence[bytes], dice: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    one = dice.choice(found)
    return data[: one.start()] + dice.choice(_WORDS) + data[one.end() :]


_CHANGES: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _flip, _flip, _cut, _repeat, _splice, _append, _extreme, _extreme, _insert, _number,
)  # fmt: skip
