"""Messages with a blind token that go straight to the collector; bytes are in ``seeds.json``."""

import pytest

import sottovoce as sv
from sottovoce.errors import CodecError, ParameterError
from sottovoce.wire import envelope
from sottovoce.wire.token_message import TOKEN_BYTES, TokenMessage, round_of

TOKEN = bytes(range(256)) + bytes(TOKEN_BYTES - 256)
TASK = sv.Task("browser", sv.Histogram(["a", "b", "c"]), 1.0)
HEADER = bytes([1, 0, 7, 0])


def written(length):
    """An envelope of version 1 and round 7 that has so many bytes."""
    return HEADER + length.to_bytes(4, "little") + bytes(range(1, length - 7))


@pytest.mark.parametrize("lengths", [(60,), (60, 60), (50, 60), (44, 45, 46)])
def test_a_message_has_one_length_and_gives_back_what_it_holds(lengths):
    layout = TokenMessage(envelope_bytes=60, slots=3)
    envelopes = b"".join(written(length) for length in lengths)
    message = layout.join(TOKEN, envelopes)
    assert len(message) == layout.message_bytes == TOKEN_BYTES + 180
    assert layout.split(message) == (TOKEN, envelopes)
    assert round_of(message) == 7


def test_the_layout_follows_from_the_round_and_what_is_declared():
    plain = TokenMessage.of(TASK.opening, (), 0)
    assert plain.message_bytes == TOKEN_BYTES + 44 + TASK.opening.width
    named = TokenMessage.of(TASK.opening, ("subject",), 0)
    assert named.message_bytes == plain.message_bytes + envelope.ID_BYTES
    public = TokenMessage.of(TASK.opening, ("public",), 99)
    assert public.message_bytes == plain.message_bytes + 99


def test_what_does_not_fit_is_not_joined():
    layout = TokenMessage(envelope_bytes=60, slots=1)
    with pytest.raises(CodecError, match="at most 1 envelopes"):
        layout.join(TOKEN, written(60) + written(60))
    with pytest.raises(ParameterError, match="`token`"):
        layout.join(TOKEN[:-1], written(60))


def test_a_message_without_token_or_envelope_has_no_round():
    for data in (b"", TOKEN[:-1], TOKEN, TOKEN + b"\1\0"):
        with pytest.raises(CodecError):
            round_of(data)
