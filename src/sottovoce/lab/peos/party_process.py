"""One party of a batch in a process of its own, on the loopback interface.

``python -m sottovoce.lab.peos.party_process`` is started by ``processes``, with which it speaks by
lines of JSON on its standard input and output.  The protocol is that of ``shuffler`` and
``server``: this module only carries messages between them and the network.
"""

import asyncio
import sys
import time
from contextlib import suppress

from sottovoce.core.rng import SystemRng
from sottovoce.errors import AccessError, SottovoceError
from sottovoce.lab.peos.encryption.base import HomomorphicPrivateKey
from sottovoce.lab.peos.encryption.schemes import new_private_key
from sottovoce.lab.peos.frames import Closed, Frame, packed_frame, read_frame, read_token
from sottovoce.lab.peos.party import Party, PartyMessage, Seat
from sottovoce.lab.peos.run_documents import (
    Assignment,
    Invitation,
    PartyAddress,
    PartyResult,
    read,
    written,
)
from sottovoce.lab.peos.server import PeosServer
from sottovoce.lab.peos.shuffler import PeosShuffler
from sottovoce.lab.peos.submissions import ShareSubmission, SubmissionBox
from sottovoce.lab.peos.traffic import Traffic

LOOPBACK = "127.0.0.1"


class Outgoing:
    """The connections of one party to all others, and what was sent over them."""

    def __init__(self, invitation: Invitation) -> None:
        self._ports = invitation.ports
        self._token = bytes.fromhex(invitation.token)
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self.traffic = Traffic()
        self.wire_bytes = 0

    async def send(self, messages: list[PartyMessage]) -> None:
        """Send messages to their receivers, and open connections where there are none."""
        for message in messages:
            self.traffic += Traffic.of_one(message)
            await self.write(message.receiver, message)

    async def write(self, receiver: int, frame: Frame) -> None:
        """Write one frame to the connection with a party."""
        if receiver not in self._writers:
            _, writer = await asyncio.open_connection(LOOPBACK, self._ports[receiver])
            self._writers[receiver] = writer
            self._put(writer, self._token)
        writer = self._writers[receiver]
        self._put(writer, packed_frame(frame))
        await writer.drain()

    async def close(self) -> None:
        """Wait until everything is sent, and end the connections."""
        for writer in self._writers.values():
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _put(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        self.wire_bytes += len(data)
        writer.write(data)


class Incoming:
    """What arrives at one party, from all connections, in one queue."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[Frame | SottovoceError] = asyncio.Queue()
        self.token = asyncio.get_running_loop().create_future()
        self.traffic = Traffic()
        self._connections: set[asyncio.Task[None]] = set()

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to read a new connection."""
        self._connections.add(asyncio.create_task(self._read(reader, writer)))

    async def end(self) -> None:
        """Stop reading."""
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one connection to its end."""
        try:
            await read_token(reader, await self.token)
            while (frame := await read_frame(reader)) is not None:
                if isinstance(frame, PartyMessage):
                    self.traffic += Traffic.of_one(frame)
                await self.frames.put(frame)
        except AccessError:
            pass  # a stranger: the run goes on without them
        except SottovoceError as error:
            await self.frames.put(error)
        except ConnectionError:
            pass  # the partner ended; who still waits for it is told by the process above
        finally:
            writer.close()


async def take_part(lines: asyncio.StreamReader) -> PartyResult:
    """Play one party from its assignment to its result."""
    assignment = read(await lines.readline(), Assignment)
    incoming = Incoming()
    listener = await asyncio.start_server(incoming.connected, LOOPBACK, 0)
    private_key = None
    if assignment.is_server:
        private_key = new_private_key(assignment.scheme, SystemRng(), assignment.modulus_bits)
    public_key = None if private_key is None else private_key.public.document()
    _say(PartyAddress(listener.sockets[0].getsockname()[1], public_key))
    invitation = read(await lines.readline(), Invitation)
    incoming.token.set_result(bytes.fromhex(invitation.token))
    started = time.process_time()
    outgoing = Outgoing(invitation)
    if private_key is None:
        words, users = await _shuffle(assignment.number, invitation, incoming, outgoing)
    else:
        words, users = await _serve(private_key, invitation, incoming, outgoing)
    await outgoing.close()
    listener.close()
    await incoming.end()
    cpu_seconds = time.process_time() - started
    return PartyResult(
        assignment.number,
        outgoing.traffic,
        incoming.traffic,
        outgoing.wire_bytes,
        cpu_seconds,
        words,
        users,
    )


async def _shuffle(
    number: int, invitation: Invitation, incoming: Incoming, outgoing: Outgoing
) -> tuple[list[int], int]:
    """Collect the shares of users until they are told to be complete, then shuffle."""
    terms = invitation.terms
    box = SubmissionBox(terms, number)
    early = []
    while not isinstance(frame := await _next(incoming), Closed):
        if isinstance(frame, ShareSubmission):
            box.add(frame)
        else:
            early.append(frame)  # of a party that was told earlier
    seat = Seat(number)
    party = Party(seat, PeosShuffler(seat, terms, box, SystemRng()).steps())
    await _run(party, early, incoming, outgoing)
    return [], 0


async def _serve(
    private_key: HomomorphicPrivateKey,
    invitation: Invitation,
    incoming: Incoming,
    outgoing: Outgoing,
) -> tuple[list[int], int]:
    """Wait for the result, and return the words and the number of users."""
    terms = invitation.terms
    seat = Seat(terms.server)
    server = PeosServer(seat, terms, private_key)
    await _run(Party(seat, server.steps()), [], incoming, outgoing)
    return server.words.tolist(), server.users


async def _run(
    party: Party, early: list[PartyMessage], incoming: Incoming, outgoing: Outgoing
) -> None:
    """Carry messages between a party and the network until it has done its last step."""
    await outgoing.send(party.start())
    for message in early:
        await outgoing.send(party.receive(message))
    while not party.finished:
        frame = await _next(incoming)
        if isinstance(frame, PartyMessage):
            await outgoing.send(party.receive(frame))


async def _next(incoming: Incoming) -> Frame:
    frame = await incoming.frames.get()
    if isinstance(frame, SottovoceError):
        raise frame
    return frame


def _say(document: PartyAddress | PartyResult) -> None:
    sys.stdout.write(written(document))
    sys.stdout.flush()


async def _main() -> int:
    lines = asyncio.StreamReader(limit=1 << 24)
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    try:
        _say(await take_part(lines))
    except SottovoceError as error:
        _say(PartyResult(-1, Traffic(), Traffic(), 0, 0.0, [], 0, str(error)))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
