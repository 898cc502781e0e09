"""Whatever bytes come in, a decoder accepts them lawfully or refuses them on purpose; ``make soak``
tries more.
"""

from contextlib import nullcontext

import pytest

from fuzz.decoders import DECODERS, Case, Finding, fuzz, law
from sottovoce.errors import CodecError
from sottovoce.web.direct import Reply

COUNTS = {
    "the upload route": 500,
    "uploads without ASGI": 500,
    "bytes of a connection": 300,
    "codec.task": 800,
    "codec.notice": 800,
    "admission.admit": 800,
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_accepts_or_refuses_and_does_nothing_else(name):
    outcomes = fuzz(name, seed=1, count=COUNTS.get(name, 700))
    assert outcomes["accepted"], outcomes
    assert outcomes.total() > outcomes["accepted"], "something was refused"


def broken(read):
    return {"broken": lambda: nullcontext([Case([b"seed of some length"], read)])}


def test_an_error_that_was_not_meant_is_found():
    with pytest.raises(Finding, match="IndexError"):
        fuzz("broken", 1, 1000, broken(lambda data: str(data[12])))


def test_a_law_that_is_broken_is_found():
    def careless(data):
        law(data.rstrip(b"\0") == data, "left-over bytes are an error")
        raise CodecError("refused")

    with pytest.raises(Finding, match="left-over"):
        fuzz("broken", 1, 1000, broken(careless))


def test_what_breaks_only_on_the_way_without_asgi_is_found(monkeypatch):
    """The twin: its answers on that way have a code that nobody knows."""
    plain = Reply.of

    def odd(response):
        status, headers, body = plain(response)
        return Reply(status, headers, body.replace(b"malformed-request", b"malformed-unheard"))

    monkeypatch.setattr(Reply, "of", odd)
    assert fuzz("the upload route", 1, 100)["malformed-request"]
    with pytest.raises(Finding, match="KeyError: 'malformed-unheard'"):
        fuzz("uploads without ASGI", 1, 100)


def test_the_same_seed_gives_the_same_inputs():
    assert fuzz("codec.parse", 7, 300) == fuzz("codec.parse", 7, 300)
