"""Parts of a batch: signed by the hop that sends them."""

import hashlib
from dataclasses import replace

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire.batch_part import BatchPart, PartPlace, read
from sottovoce.wire.round_keys import new_signing_key

pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")

KEYS = new_signing_key()
MESSAGES = b"sealed message" * 3
PART = BatchPart(
    digest=bytes(range(32)),
    round=1,
    hop=0,
    part=2,
    parts=5,
    batch_hash=hashlib.sha256(b"all").digest(),
    messages=MESSAGES,
)
PLACE = PartPlace(PART.digest, 1, 0, 2)


def test_a_part_is_read_as_it_was_written():
    assert read(PART.write(KEYS.private_key), PLACE, KEYS.public_key) == PART


@pytest.mark.parametrize(
    "place",
    [
        replace(PLACE, digest=bytes(32)),
        replace(PLACE, round=2),
        replace(PLACE, hop=1),
        replace(PLACE, part=3),
    ],
)
def test_a_part_of_another_place_is_refused(place):
    with pytest.raises(MismatchError, match="not signed"):
        read(PART.write(KEYS.private_key), place, KEYS.public_key)


@pytest.mark.parametrize("position", [0, 63, 64, 68, 99, 100, -1])
def test_every_changed_byte_is_noticed(position):
    changed = bytearray(PART.write(KEYS.private_key))
    changed[position] ^= 1
    with pytest.raises((MismatchError, ParameterError)):
        read(bytes(changed), PLACE, KEYS.public_key)


def test_the_key_of_another_hop_is_refused():
    with pytest.raises(MismatchError):
        read(PART.write(KEYS.private_key), PLACE, new_signing_key().public_key)


def test_a_part_without_messages_is_refused():
    with pytest.raises(CodecError, match="must have more"):
        read(PART.write(KEYS.private_key)[:100], PLACE, KEYS.public_key)


def test_a_part_lies_within_its_batch():
    with pytest.raises(ParameterError, match="`part`"):
        replace(PART, part=5)
