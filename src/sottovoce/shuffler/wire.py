"""The bodies of a shuffler's requests and answers, as JSON or MessagePack of the same shapes.

Unknown fields of a request are refused.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from sottovoce.web.uploads import MAX_REPORTS, Count


class MessageUpload(Struct, forbid_unknown_fields=True):
    """Sealed messages of devices."""

    reports: Annotated[list[bytes], Meta(min_length=1, max_length=MAX_REPORTS)]


class PartAnswer(Struct):
    """How many parts of a batch are here; ``complete`` if all are, and fit together."""

    received: Count
    parts: Count
    complete: bool


class PrivacyTriple(Struct):
    """The guarantees of a batch of ``users`` against three adversaries; all are epsilons.

    ``central`` holds against the collector and ``against_users`` against the collector together
    with all other users, both with probability 1 - ``delta``.  ``local`` holds against everybody.
    """

    users: Count
    central: float
    against_users: float
    local: float
    delta: float


class HopRoundLine(Struct):
    """The progress of a round; counts of an open round are rounded to 10."""

    number: Count
    state: str
    messages: Count
    duplicates: Count
    dropped: Count
    batch: Count
    trouble: str
    privacy: PrivacyTriple | None


class HopTaskLine(Struct):
    """A task at this hop; ``task`` is its name in addresses."""

    task: str
    name: str
    hop: Count
    hops: list[str]
    users: Count
    fakes: Count
    finished: bool
    rounds: list[HopRoundLine]


class HopStatus(Struct):
    """All tasks of this hop, and the long-term key that their documents name."""

    key: str
    tasks: list[HopTaskLine]


json_messages = msgspec.json.Decoder(MessageUpload)
msgpack_messages = msgspec.msgpack.Decoder(MessageUpload)
