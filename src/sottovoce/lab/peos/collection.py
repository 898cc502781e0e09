"""A whole batch of PEOS in one process: users, shufflers and server, for tests and attacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.core.rng import Rng
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.encryption.base import HomomorphicPrivateKey
from sottovoce.lab.peos.local_network import run_locally
from sottovoce.lab.peos.party import Party, PartyMessage, Seat
from sottovoce.lab.peos.server import PeosServer
from sottovoce.lab.peos.shuffler import PeosShuffler
from sottovoce.lab.peos.submissions import ShareSubmission, SubmissionBox, UserReport


@dataclass(frozen=True)
class LocalBatch:
    """What one batch left behind: the server, and every message between the parties."""

    server: PeosServer
    messages: list[PartyMessage]


def submit(
    reports: Sequence[UserReport], terms: BatchTerms, rng: Rng
) -> list[list[ShareSubmission]]:
    """Return what every shuffler receives from the users."""
    rows = [report.submissions(terms, rng) for report in reports]
    return [list(column) for column in zip(*rows, strict=True)]


def shuffle_locally(
    terms: BatchTerms,
    submissions: Sequence[Sequence[ShareSubmission]],
    private_key: HomomorphicPrivateKey,
    rng: Rng,
    disorder: Rng | None = None,
) -> LocalBatch:
    """Run all shufflers and the server on what the shufflers received."""
    parties = []
    for number, received in enumerate(submissions):
        box = SubmissionBox(terms, number)
        for submission in received:
            box.add(submission)
        seat = Seat(number)
        parties.append(Party(seat, PeosShuffler(seat, terms, box, rng).steps()))
    seat = Seat(terms.server)
    server = PeosServer(seat, terms, private_key)
    messages = run_locally([*parties, Party(seat, server.steps())], disorder)
    return LocalBatch(server, messages)
