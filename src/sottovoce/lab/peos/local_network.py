"""All parties of a protocol in one process, for tests and attacks."""

from collections.abc import Sequence

from sottovoce.core.rng import Rng
from sottovoce.errors import StateError
from sottovoce.lab.peos.party import Party, PartyMessage


def run_locally(parties: Sequence[Party], disorder: Rng | None = None) -> list[PartyMessage]:
    """Run all parties to their end and return every message, in the order of delivery.

    Messages are delivered in the order in which they were sent, or in a random one that
    ``disorder`` draws.
    """
    by_number = {party.number: party for party in parties}
    waiting: list[PartyMessage] = []
    for party in parties:
        waiting += party.start()
    delivered = []
    while waiting:
        position = 0 if disorder is None else int(disorder.integers(len(waiting), 1)[0])
        message = waiting.pop(position)
        delivered.append(message)
        waiting += by_number[message.receiver].receive(message)
    unfinished = [party.number for party in parties if not party.finished]
    if unfinished:
        raise StateError(f"these parties still wait for messages: {unfinished}")
    return delivered
