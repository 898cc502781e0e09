"""A batch of PEOS by real processes: shufflers and a server, and this process as all the users.

The parties listen on the loopback interface, on ports that the system chooses.  This process starts
them, tells each where the others are, submits the shares of all users, and checks that the server
received every report and as many fakes as agreed.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.arrays import Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import UnavailableError
from sottovoce.lab.peos.batch_terms import BATCH_ID_BYTES, BatchTerms
from sottovoce.lab.peos.configure import ReportShape
from sottovoce.lab.peos.encryption.base import MODULUS_BITS
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.estimation import PeosEstimate, estimate
from sottovoce.lab.peos.frames import TOKEN_BYTES, Closed
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.party_process import Outgoing
from sottovoce.lab.peos.run_documents import (
    Assignment,
    Document,
    Invitation,
    PartyAddress,
    PartyResult,
    read,
    written,
)
from sottovoce.lab.peos.submissions import UserReport

_MAX_LINE = 1 << 30  # the words of all reports are one line


@dataclass(frozen=True)
class ProcessBatch:
    """What a run is told: the reports, the shufflers, the fakes and the encryption."""

    shape: ReportShape
    epsilon: float
    shufflers: int = 3
    fakes: int = 50
    scheme: str = "dgk"
    modulus_bits: int = MODULUS_BITS
    max_seconds: float = 600.0

    def __post_init__(self) -> None:
        HiderSets(self.shufflers)
        settings.choice("scheme", self.scheme, SCHEMES)
        settings.positive("max_seconds", self.max_seconds)


@dataclass(frozen=True)
class ProcessRun:
    """What a run gives: what every party did, what a user sent, and what arrived."""

    terms: BatchTerms
    shufflers: list[PartyResult]
    server: PartyResult
    users: int
    bytes_per_user: int  # shares and ciphertext, without ids
    cpu_seconds_per_user: float
    missing: int  # reports that did not arrive
    extra: int  # reports of nobody: as many as there are fakes
    estimate: PeosEstimate


def run_processes(batch: ProcessBatch, values: Values, rng: Rng) -> ProcessRun:
    """Run a batch of users who hold these values."""
    return asyncio.run(_run(batch, values, rng))


async def _run(batch: ProcessBatch, values: Values, rng: Rng) -> ProcessRun:
    parties: list[_Process] = []
    try:
        async with asyncio.timeout(batch.max_seconds):
            for number in range(batch.shufflers + 1):
                is_server = number == batch.shufflers
                assignment = Assignment(number, is_server, batch.scheme, batch.modulus_bits)
                parties.append(await _Process.start(assignment))
            addresses = [await party.answer(PartyAddress) for party in parties]
            invitation = _invitation(batch, addresses, len(values), rng)
            return await _collect(invitation, parties, values, rng)
    except TimeoutError:
        raise UnavailableError(
            f"the batch was not finished after {batch.max_seconds:g} seconds"
        ) from None
    finally:
        for party in parties:
            await party.end()


def _invitation(
    batch: ProcessBatch, addresses: list[PartyAddress], users: int, rng: Rng
) -> Invitation:
    public_key = addresses[-1].public_key
    assert public_key is not None  # the last party is the server
    return Invitation(
        bytes(rng.bytes(BATCH_ID_BYTES)).hex(),
        asdict(batch.shape),
        batch.epsilon,
        batch.shufflers,
        batch.fakes,
        users,
        public_key,
        [address.port for address in addresses],
        bytes(rng.bytes(TOKEN_BYTES)).hex(),
    )


async def _collect(
    invitation: Invitation, parties: "list[_Process]", values: Values, rng: Rng
) -> ProcessRun:
    """Invite the parties, submit for all users, and compare what arrives with what was sent."""
    for party in parties:
        await party.tell(invitation)
    terms = invitation.terms
    reports = [UserReport.of(terms.codec, int(value), rng) for value in values]
    started = time.process_time()
    submissions = [report.submissions(terms, rng) for report in reports]
    cpu_seconds = time.process_time() - started
    outgoing = Outgoing(invitation)
    for row in submissions:
        for receiver, submission in enumerate(row):
            await outgoing.write(receiver, submission)
    for receiver in range(terms.sets.shufflers):
        await outgoing.write(receiver, Closed())
    await outgoing.close()
    *shufflers, server = await asyncio.gather(*(party.answer(PartyResult) for party in parties))
    sent = Counter(report.word for report in reports)
    arrived = Counter(server.words)
    words = np.array(server.words, np.uint64)
    counted = ShuffledBatch(server.users, terms.fakes)
    return ProcessRun(
        terms,
        shufflers,
        server,
        len(reports),
        sum(len(submission.payload) for submission in submissions[0]),
        cpu_seconds / len(reports),
        (sent - arrived).total(),
        (arrived - sent).total(),
        estimate(terms.codec.mechanism, terms.codec.read(words), counted),
    )


class _Process:
    """One party that this process started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, assignment: Assignment) -> "_Process":
        """Start a party and tell it who it is."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "sottovoce.lab.peos.party_process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_MAX_LINE,
        )
        party = cls(process)
        await party.tell(assignment)
        return party

    async def tell(self, document: Assignment | Invitation) -> None:
        """Write a document to the party."""
        assert self._process.stdin is not None
        self._process.stdin.write(written(document).encode())
        await self._process.stdin.drain()

    async def answer(self, document: type[Document]) -> Document:
        """Return the next document of the party, or the error that it ended with."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise UnavailableError("a party ended without a result: read what it printed")
        failed = json.loads(line).get("error")
        if failed:
            raise UnavailableError(f"a party refused to go on: {failed}")
        return read(line, document)

    async def end(self) -> None:
        """End the party, if it has not ended by itself, and wait for it."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
