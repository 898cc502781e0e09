"""Envelopes: one layout, read strictly, in any mixture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sottovoce.errors import CodecError
from sottovoce.wire import envelope
from sottovoce.wire.envelope import Envelopes


def batch(count, *, width=3, subjects=False, slots=False, public=(), number=1):
    rng = np.random.default_rng(count)
    return Envelopes(
        digest=bytes(range(16)),
        round=number,
        members=rng.integers(0, 1 << 32, count),
        ids=rng.integers(0, 256, (count, 16), dtype=np.uint8),
        payloads=rng.integers(0, 256, (count, width), dtype=np.uint8),
        subjects=rng.integers(0, 256, (count, 16), dtype=np.uint8) if subjects else None,
        slots=rng.integers(0, 9, count) if slots else None,
        public=public,
    )


def same(one, two):
    assert (one.digest, one.round, one.public, one.flags) == (two.digest, two.round, two.public, two.flags)
    for name in ("members", "ids", "payloads", "subjects", "slots"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@given(some.integers(1, 20), some.booleans(), some.booleans(), some.booleans())
def test_what_is_written_is_read_again(count, subjects, slots, public):
    made = batch(
        count, subjects=subjects, slots=slots, public=tuple(b'{"n":1}' for _ in range(count)) if public else ()
    )
    (read,) = envelope.read([made.write()], width=3)
    same(read, made)


def test_mixtures_are_sorted_out_by_shape():
    plain, slotted = batch(4), batch(3, slots=True)
    groups = envelope.read([plain.write(), slotted.write(), plain.write()], width=3)
    assert sorted(len(group) for group in groups) == [3, 8]


def test_messages_are_sorted_by_round():
    first, second = batch(2, number=0).write(), batch(1, number=7).write()
    assert envelope.rounds([first, second, first]) == {0: [first, first], 7: [second]}


def test_the_header_is_forty_four_bytes():
    assert len(batch(1, width=1).write()) == 45
    assert len(batch(1, width=1, subjects=True, slots=True).write()) == 45 + 16 + 2


@pytest.mark.parametrize("width", [2, 4, 100])
def test_a_payload_of_another_width_is_refused(width):
    with pytest.raises(CodecError):
        envelope.read([batch(2).write()], width=width)


@given(some.binary(min_size=1, max_size=120))
def test_noise_is_refused_and_never_crashes(data):
    with pytest.raises(CodecError):
        envelope.read([b"\x02" + data], width=3)
    try:
        envelope.read([data], width=3)
    except CodecError:
        return
    assert data[0] == 1


@given(some.integers(0, 46), some.integers(1, 255))
def test_a_changed_byte_is_refused_or_read_as_such(position, change):
    data = bytearray(batch(1).write())
    data[position] ^= change
    try:
        (read,) = envelope.read([bytes(data)], width=3)
    except CodecError:
        return
    assert read.write() == bytes(data)
