"""Messages of shuffled tasks: one length, whatever they hold."""

import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.tasks.task import Task
from sottovoce.wire.seal import LAYER_BYTES
from sottovoce.wire.shuffled_message import MessageFormat, seal_context
from sottovoce.wire.tokens import TOKEN_BYTES

FORMAT = MessageFormat(token_bytes=TOKEN_BYTES, envelope_bytes=80, slots=3)
TOKEN = bytes(range(256)) + bytes(TOKEN_BYTES - 256)
SHUFFLE = Shuffle((Hop("https://mix.example.org", "A" * 43),), "A" * 43, 1000, 0, 6.0, 6.0, 1e-9)
TASK = Task("browser", Histogram(["a", "b", "c"]), 6.0, shuffle=SHUFFLE)


@pytest.mark.parametrize("envelopes", [1, 2, 3])
def test_a_message_has_one_length_and_gives_back_what_it_holds(envelopes):
    written = b"\2" + bytes(79)
    message = FORMAT.join(written * envelopes, TOKEN)
    assert len(message) == FORMAT.message_bytes == TOKEN_BYTES + 240
    assert FORMAT.split(message) == (TOKEN, written * envelopes)


def test_a_message_without_an_issuer_has_no_token():
    plain = MessageFormat.of(TASK, TASK.opening)
    assert plain.token_bytes == 0
    assert plain.message_bytes == 60 + TASK.opening.width
    with pytest.raises(ParameterError, match="`token`"):
        plain.join(b"\2", TOKEN)


def test_other_bytes_behind_the_envelopes_are_refused():
    message = bytearray(FORMAT.join(b"\2" + bytes(79), TOKEN))
    message[-1] = 1
    with pytest.raises(CodecError, match="zeros"):
        FORMAT.split(bytes(message))
    with pytest.raises(CodecError, match="must have"):
        FORMAT.split(bytes(message[:-1]))
    with pytest.raises(CodecError, match="at most 3"):
        FORMAT.join(bytes(321), TOKEN)


def test_sealed_messages_have_a_layer_for_every_hop_and_the_collector():
    context = seal_context(TASK, TASK.opening, bytes(32))
    assert context.sealed_bytes(0) == context.message_bytes + 2 * LAYER_BYTES
    with pytest.raises(ParameterError, match="shuffled"):
        seal_context(Task("browser", Histogram(["a", "b", "c"]), 6.0), TASK.opening, bytes(32))
