"""A party of a protocol as a state machine without input or output: messages in, messages out.

The steps of a party are written as a generator.  It sends by ``Seat.send`` and yields what it waits
for; once all of that has arrived it gets the messages and goes on.  Messages that arrive early are
kept.  So one description of a protocol runs in one process, over sockets between processes, and
with messages in any order.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from sottovoce.errors import MismatchError

NOBODY = -1  # no shuffler is named


@dataclass(frozen=True)
class PartyMessage:
    """What one party sends to another in one step of one round.

    ``encrypted`` says that the payload is a vector of ciphertexts.  ``holder`` is the shuffler that
    holds the ciphertexts from now on, where the message announces one.
    """

    sender: int
    receiver: int
    step: str
    round: int
    payload: bytes = field(repr=False)
    encrypted: bool = False
    holder: int = NOBODY


@dataclass(frozen=True)
class Awaited:
    """What a party waits for: one message of a step and round from each of some senders."""

    step: str
    round: int
    senders: frozenset[int]


Received: TypeAlias = dict[int, PartyMessage]  # by sender
Steps: TypeAlias = Generator[Awaited, Received, None]


class Seat:
    """The place of one party: its number, and what it has sent but the network has not taken."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._outbox: list[PartyMessage] = []

    def send(self, receivers: Iterable[int], step: str, round: int, payload: bytes) -> None:
        """Send the same bytes to several parties."""
        for receiver in receivers:
            self.post(PartyMessage(self.number, receiver, step, round, payload))

    def post(self, message: PartyMessage) -> None:
        """Send one message."""
        self._outbox.append(message)

    def take(self) -> list[PartyMessage]:
        """Return what was sent since the last call."""
        taken = self._outbox
        self._outbox = []
        return taken


class Party:
    """One party: it is started once, and then given every message that is addressed to it."""

    def __init__(self, seat: Seat, steps: Steps) -> None:
        self._seat = seat
        self._steps = steps
        self._early: defaultdict[tuple[str, int], Received] = defaultdict(dict)
        self._awaited: Awaited | None = None
        self._taken: set[tuple[str, int, int]] = set()

    @property
    def number(self) -> int:
        """Return the number of the party."""
        return self._seat.number

    @property
    def finished(self) -> bool:
        """Return whether the party has done its last step."""
        return self._awaited is None

    def start(self) -> list[PartyMessage]:
        """Begin, and return what the party sends first."""
        self._awaited = next(self._steps, None)
        self._proceed()
        return self._seat.take()

    def receive(self, message: PartyMessage) -> list[PartyMessage]:
        """Take one message and return what the party sends in reply."""
        key = (message.step, message.round, message.sender)
        if message.receiver != self._seat.number:
            raise MismatchError("a message reached a party that it is not addressed to")
        if key in self._taken:
            raise MismatchError(
                f"party {message.sender} sent step {message.step} of round {message.round} twice"
            )
        self._taken.add(key)
        self._early[message.step, message.round][message.sender] = message
        self._proceed()
        return self._seat.take()

    def _proceed(self) -> None:
        """Do all steps for which everything has arrived."""
        while self._awaited is not None:
            arrived = self._early[self._awaited.step, self._awaited.round]
            if not self._awaited.senders <= arrived.keys():
                return
            wanted = {sender: arrived[sender] for sender in sorted(self._awaited.senders)}
            del self._early[self._awaited.step, self._awaited.round]
            try:
                self._awaited = self._steps.send(wanted)
            except StopIteration:
                self._awaited = None
