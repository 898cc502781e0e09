"""The network of one process: it delivers everything, and says who still waits."""

import pytest

from sottovoce.errors import StateError
from sottovoce.lab.peos.local_network import run_locally
from sottovoce.lab.peos.party import Awaited, Party, Seat
from sottovoce.lab.seeded import SeededRng


def talk(seat, partner, rounds):
    for number in range(rounds):
        seat.send([partner], "talk", number, b"")
        yield Awaited("talk", number, frozenset((partner,)))


def pair(first_rounds, second_rounds):
    seats = Seat(0), Seat(1)
    steps = talk(seats[0], 1, first_rounds), talk(seats[1], 0, second_rounds)
    return [Party(*seated) for seated in zip(seats, steps, strict=True)]


@pytest.mark.parametrize("disorder", [None, SeededRng(1)])
def test_all_messages_are_delivered(disorder):
    messages = run_locally(pair(3, 3), disorder)
    assert sorted((message.sender, message.round) for message in messages) == [
        (sender, number) for sender in (0, 1) for number in range(3)
    ]


def test_a_party_that_waits_in_vain_is_named():
    with pytest.raises(StateError, match=r"still wait for messages: \[1\]"):
        run_locally(pair(2, 3))
