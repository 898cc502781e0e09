"""Parties as state machines: they wait, keep what comes early, and refuse what does not fit."""

import pytest

from sottovoce.errors import MismatchError
from sottovoce.lab.peos.party import Awaited, Party, PartyMessage, Seat


def echo(seat, heard):
    """Wait for two parties in two rounds, and answer after each."""
    for number in range(2):
        received = yield Awaited("say", number, frozenset((1, 2)))
        heard.append([message.payload for message in received.values()])
        seat.send([1, 2], "heard", number, b"")


def said(sender, number, payload=b"?"):
    return PartyMessage(sender, 0, "say", number, payload)


def started():
    heard = []
    seat = Seat(0)
    party = Party(seat, echo(seat, heard))
    assert party.start() == []
    return party, heard


def test_a_step_is_done_when_everything_has_arrived():
    party, heard = started()
    assert party.receive(said(2, 0, b"b")) == []
    replies = party.receive(said(1, 0, b"a"))
    assert [(reply.receiver, reply.step, reply.round) for reply in replies] == [
        (1, "heard", 0),
        (2, "heard", 0),
    ]
    assert heard == [[b"a", b"b"]]
    assert not party.finished


def test_early_messages_are_kept():
    party, heard = started()
    for number in (1, 0):
        for sender in (2, 1):
            party.receive(said(sender, number, bytes([number])))
    assert heard == [[b"\0", b"\0"], [b"\1", b"\1"]]
    assert party.finished


def test_a_second_message_for_one_step_is_refused():
    party, _ = started()
    party.receive(said(1, 0))
    with pytest.raises(MismatchError, match="party 1 sent step say of round 0 twice"):
        party.receive(said(1, 0))


def test_a_message_for_somebody_else_is_refused():
    party, _ = started()
    with pytest.raises(MismatchError, match="not addressed to"):
        party.receive(PartyMessage(1, 5, "say", 0, b""))


def test_a_message_does_not_show_its_payload():
    assert "secret" not in repr(said(1, 0, b"secret"))
