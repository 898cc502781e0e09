"""Envelopes: read strictly, in any mixture of shapes and versions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.errors import CodecError, ParameterError
from sottovoce.wire import envelope
from sottovoce.wire.envelope import VERSION_1, VERSION_2, Envelope, Envelopes
from wire.versions import TOY_VERSION


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


def same(read, written):
    for name in ("version", "digest", "round", "public", "flags"):
        assert getattr(read, name) == getattr(written, name)
    for name in ("members", "ids", "payloads", "subjects", "slots"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))


@given(some.integers(1, 20), some.booleans(), some.booleans(), some.booleans())
def test_what_is_written_is_read_again(count, subjects, slots, public):
    made = batch(
        count,
        subjects=subjects,
        slots=slots,
        public=tuple(b'{"n":1}' for _ in range(count)) if public else (),
    )
    (read,) = envelope.read([made.write()], width=3)
    same(read, made)


@pytest.mark.parametrize("version", [VERSION_1, VERSION_2, TOY_VERSION])
@pytest.mark.parametrize("subjects", [False, True])
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("public", [(), (b'{"a":1}',)])
def test_one_envelope_has_the_bytes_of_an_array_of_one(version, subjects, slots, public):
    several = in_version(version, batch(1, subjects=subjects, slots=slots, public=public))
    single = Envelope(
        digest=several.digest,
        round=several.round,
        member=int(several.members[0]),
        id=several.ids.tobytes(),
        payload=several.payloads.tobytes(),
        subject=several.subjects.tobytes() if subjects else None,
        slot=int(several.slots[0]) if slots else None,
        public=b"".join(public),
        version=version,
    )
    assert single.write() == several.write()


def test_mixtures_are_sorted_out_by_shape():
    plain, slotted = batch(4), batch(3, slots=True)
    groups = envelope.read([plain.write(), slotted.write(), plain.write()], width=3)
    assert sorted(len(group) for group in groups) == [3, 8]


def test_messages_are_sorted_by_round():
    first, second = batch(2, number=0).write(), batch(1, number=7).write()
    assert envelope.by_round([first, second, first]) == {0: [first, first], 7: [second]}


def test_the_header_has_forty_four_bytes_and_sixty_in_version_2():
    assert len(batch(1, width=1).write()) == 45
    assert len(batch(1, width=1, subjects=True, slots=True).write()) == 45 + 16 + 2
    assert len(in_version(VERSION_2, batch(1, width=1)).write()) == 61


def test_version_2_is_version_1_with_the_whole_fingerprint():
    old = batch(1, subjects=True, slots=True, public=(b'{"n":1}',))
    written = old.write()
    new = in_version(VERSION_2, old).write()
    length = (len(written) + 16).to_bytes(4, "little")
    assert new == b"\2" + written[1:4] + length + written[8:12] + bytes(range(32)) + written[28:]


@pytest.mark.parametrize("version", [VERSION_1, VERSION_2])
def test_a_task_says_which_version_its_envelopes_have(version):
    assert envelope.version_of(SimpleNamespace(envelope_version=version.number)) == version
    assert envelope.version_of(sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)) == VERSION_1


@pytest.mark.parametrize("width", [2, 4, 100])
def test_a_payload_of_another_width_is_refused(width):
    with pytest.raises(CodecError):
        envelope.read([batch(2).write()], width=width)


@given(some.binary(min_size=1, max_size=120))
def test_noise_is_refused_and_never_crashes(data):
    with pytest.raises(CodecError):
        envelope.read([b"\x03" + data], width=3)
    try:
        envelope.read([data], width=3)
    except CodecError:
        return
    assert data[0] in (1, 2)


@given(some.integers(0, 46), some.integers(1, 255))
def test_a_changed_byte_is_refused_or_read_as_such(position, change):
    data = bytearray(batch(1).write())
    data[position] ^= change
    try:
        (read,) = envelope.read([bytes(data)], width=3)
    except CodecError:
        return
    assert read.write() == bytes(data)


def test_the_header_of_an_envelope_can_be_read_alone():
    message = batch(1, slots=True, number=513).write()
    header = envelope.header(message + b"and more")
    assert (header.version, header.round, header.length) == (VERSION_1, 513, len(message))
    assert (header.flags, header.digest) == (envelope.SLOT, bytes(range(16)))


@pytest.mark.parametrize(
    "data", [b"", b"\1", b"\3" + bytes(60), b"\2" + bytes(60), batch(1).write()[:-1]]
)
def test_what_is_no_whole_envelope_has_no_header(data):
    with pytest.raises(CodecError):
        envelope.header(data)


def test_messages_are_grouped_by_shape_and_known_by_their_index():
    plain = [batch(1).write() for _ in range(3)]
    bundle = batch(1, slots=True).write() * 2
    none = b"no envelope"
    messages = [plain[0], bundle, none, plain[1], none, bundle, plain[2]]
    groups = {len(group.headers): group for group in envelope.by_shape(messages)}
    assert {count: group.indices.tolist() for count, group in groups.items()} == {
        1: [0, 3, 6],
        2: [1, 5],
        0: [2, 4],
    }
    assert [row.tobytes() for row in groups[2].rows] == [bundle, bundle]
    first, second = groups[2].envelopes(width=3)
    np.testing.assert_array_equal(first.ids, second.ids)


def test_messages_of_one_length_may_have_several_shapes():
    first, second = batch(1).write(), batch(1, number=2).write()
    broken = b"\xff" + first[1:]
    flagged = first[:1] + b"\x08" + first[2:]
    groups = envelope.by_shape([first, broken, second, b"", first, flagged, b""])
    assert sorted((len(group.headers), group.indices.tolist()) for group in groups) == [
        (0, [1]),
        (0, [3, 6]),
        (0, [5]),
        (1, [0, 4]),
        (1, [2]),
    ]


@pytest.mark.parametrize("slots", [False, True])
def test_messages_of_one_shape_are_one_group(slots):
    messages = [batch(1, slots=slots).write() * (1 + slots) for _ in range(5)]
    (group,) = envelope.by_shape(messages)
    assert len(group.headers) == 1 + slots
    assert group.indices.tolist() == [0, 1, 2, 3, 4]
    assert b"".join(row.tobytes() for row in group.rows) == b"".join(messages)


@pytest.fixture(params=[VERSION_2, TOY_VERSION], ids=["2", "toy"])
def other_version(request, monkeypatch):
    """Version 2, and one that is known to this process for the length of a test."""
    monkeypatch.setitem(envelope.VERSIONS, request.param.number, request.param)
    return request.param


def in_version(version, envelopes):
    return replace(envelopes, version=version, digest=bytes(range(version.digest_bytes)))


@pytest.mark.parametrize("public", [(), (b'{"n":1}', b'{"n":2}')])
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("subjects", [False, True])
def test_two_versions_are_read_in_one_process(other_version, subjects, slots, public):
    old = batch(2, subjects=subjects, slots=slots, public=public)
    new = in_version(other_version, old)
    assert len(new.write()) == len(old.write()) + 2 * (other_version.header_bytes - 44)
    groups = envelope.read([old.write(), new.write(), old.write()], width=3)
    assert [(group.version, len(group)) for group in groups] == [(VERSION_1, 4), (other_version, 2)]
    same(groups[1], new)
    same(groups[0].take(np.arange(2)), old)


def test_messages_of_two_versions_are_grouped_by_round_and_by_shape(other_version):
    old = batch(1, number=7).write()
    new = in_version(other_version, batch(1, number=7)).write()
    assert envelope.by_round([old, new]) == {7: [old, new]}
    groups = list(envelope.by_shape([old, new, old]))
    assert [group.indices.tolist() for group in groups] == [[0, 2], [1]]
    assert [group.headers[0].version for group in groups] == [VERSION_1, other_version]


def test_a_version_is_refused_where_it_is_not_known():
    message = in_version(TOY_VERSION, batch(1)).write()
    with pytest.raises(CodecError, match=r"known version: 1, 2$"):
        envelope.read([message], width=3)
    (group,) = envelope.by_shape([message])
    assert group.headers == ()


def test_a_digest_of_another_width_than_the_version_has_is_refused():
    with pytest.raises(ParameterError, match="`digest` must have 32 bytes"):
        replace(batch(1), version=TOY_VERSION)
    assert TOY_VERSION.task_digest(bytes(range(32))) == bytes(range(32))
    assert VERSION_1.task_digest(bytes(range(32))) == bytes(range(16))
