"""The bodies of HTTP requests and answers, as JSON or MessagePack of the same shapes.

Unknown fields of a request are refused.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from sottovoce.collector.shuffle_status import ShuffleLine
from sottovoce.web.uploads import MAX_REPORTS, Count

MAX_TOKENS = 10_000  # tokens issued at once

Label = Annotated[str, Meta(max_length=200)]


class Upload(Struct, forbid_unknown_fields=True):
    """Messages of devices, each a whole bundle, with one enrolment token each if the task asks."""

    reports: Annotated[list[bytes], Meta(min_length=1, max_length=MAX_REPORTS)]
    tokens: Annotated[list[Label], Meta(max_length=MAX_REPORTS)] = []


class TaskLine(Struct):
    """One task in the public list."""

    name: str
    digest: str
    description: str
    epsilon: str
    state: str


class TaskList(Struct):
    """The tasks of this collector."""

    tasks: list[TaskLine]


class Current(Struct):
    """The state of a task; ``round`` is the document of the round that takes reports, if any."""

    digest: str
    state: str
    round: msgspec.Raw | None = None


class AskedRound(Struct):
    """One round that devices were asked; the SHA-256 is of its canonical document, in hex."""

    number: Count
    sha256: str


class AskedRounds(Struct):
    """The rounds of a task that devices were asked so far, for everybody to compare."""

    digest: str
    rounds: list[AskedRound]


class RoundLine(Struct, omit_defaults=True):
    """The progress of one round; ``shuffle`` is there if its task is shuffled."""

    number: Count
    state: str
    opened: int
    users: Count
    count: Count
    checksum: str
    erased: bool
    shuffle: ShuffleLine | None = None


class Status(Struct):
    """The progress of a collection, for analysts and operators.

    ``failure`` is why the task ended without an answer; ``trouble`` is why it waits, and is tried
    again.
    """

    name: str
    digest: str
    state: str
    failure: str
    trouble: str
    rounds: list[RoundLine]
    refused: dict[str, int]
    arrivals: list[tuple[int, int]]


class Created(Struct, omit_defaults=True):
    """A published task; ``new`` is false if this very task was published before.

    ``concerns`` say what speaks against collecting like this, before anybody is asked.
    """

    name: str
    digest: str
    new: bool
    concerns: list[str] = []


class SqlRequest(Struct, forbid_unknown_fields=True):
    """A SQL query of a task about tables; ``users`` is for EXPLAIN: how many would answer.

    ``fakes`` is the share of false messages that bounds should allow for.
    """

    task: Annotated[str, Meta(min_length=1, max_length=200)]
    sql: str
    level: Annotated[float, Meta(ge=0.5, le=0.9999)] | None = None
    users: Annotated[int, Meta(ge=1, le=1 << 40)] | None = None
    fakes: Annotated[float, Meta(gt=0, lt=1)] | None = None


class TokenRequest(Struct, forbid_unknown_fields=True):
    """Which tokens to issue."""

    scope: Literal["operator", "analyst", "enrolment"]
    label: Label = ""
    count: Annotated[int, Meta(ge=1, le=MAX_TOKENS)] = 1
    days: Annotated[int, Meta(ge=0, le=36_500)] = 0


class TokenList(Struct):
    """New tokens, shown now and never again, because only their hashes are kept."""

    scope: str
    tokens: list[str]


class TokenLine(Struct):
    """A valid token; its id is the beginning of its hash."""

    id: str
    scope: str
    label: str
    created: int
    expires: int | None


class TokenLines(Struct):
    """The tokens in force, without those of devices and sessions."""

    tokens: list[TokenLine]


json_upload = msgspec.json.Decoder(Upload)
msgpack_upload = msgspec.msgpack.Decoder(Upload)
token_request = msgspec.json.Decoder(TokenRequest)
sql_request = msgspec.json.Decoder(SqlRequest)
