"""What a run of several processes tells its parties, and what they tell back, as JSON lines.

The process that starts the parties writes an ``Assignment`` to the standard input of each, reads
its ``PartyAddress``, writes the ``Invitation``, and at the end reads its ``PartyResult``.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from sottovoce.errors import CodecError
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.configure import ReportShape
from sottovoce.lab.peos.encryption.schemes import read_public_key
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.traffic import Traffic
from sottovoce.lab.peos.word_codecs import word_codec

Document = TypeVar("Document")


@dataclass(frozen=True)
class Assignment:
    """Which party a process is: a shuffler, or the server, which makes a key."""

    number: int
    is_server: bool
    scheme: str
    modulus_bits: int


@dataclass(frozen=True)
class PartyAddress:
    """Where a party listens, and the key that the server made."""

    port: int
    public_key: dict[str, str] | None


@dataclass(frozen=True)
class Invitation:
    """Everything else: the terms of the batch, and where the others listen."""

    batch_id: str
    shape: dict[str, Any]  # the fields of a ReportShape
    epsilon: float
    shufflers: int
    fakes: int
    min_users: int
    public_key: dict[str, str]
    ports: list[int]  # of the shufflers, and of the server at the end
    token: str = field(repr=False)

    @property
    def terms(self) -> BatchTerms:
        """Return the terms of the batch; the key is checked."""
        mechanism = ReportShape(**self.shape).mechanism(self.epsilon)
        return BatchTerms(
            bytes.fromhex(self.batch_id),
            word_codec(mechanism),
            HiderSets(self.shufflers),
            self.fakes,
            self.min_users,
            read_public_key(self.public_key),
        )


@dataclass(frozen=True)
class PartyResult:
    """What a party did: what it sent and received, how long it worked, and what the server read."""

    number: int
    sent: Traffic
    received: Traffic  # from other parties
    wire_bytes: int  # sent, with frames and tokens
    cpu_seconds: float  # after the key was made and until the end
    words: list[int]  # of the server: the words of all reports
    users: int
    error: str = ""


def written(document: Any) -> str:
    """Return a document as one line of JSON."""
    return json.dumps(asdict(document)) + "\n"


def read(line: str | bytes, document: type[Document]) -> Document:
    """Return the document in a line of JSON."""
    try:
        fields = json.loads(line)
        for name in {"sent", "received"} & set(fields):
            fields[name] = Traffic(**fields[name])
        return document(**fields)
    except (TypeError, ValueError) as error:
        raise CodecError(f"this line is no {document.__name__}") from error
