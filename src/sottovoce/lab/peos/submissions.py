"""What a user sends: one share of one randomised report to every shuffler.

The last shuffler gets its share encrypted for the server, the others get plain shares.  A random
report id says which shares belong together.  Shufflers keep the reports of which everybody has a
share, order them by id, and forget the ids before the first permutation.

A report is randomised once.  Whoever repeats a batch, because a shuffler refused to go on, shares
the same ``UserReport`` again: fresh noise in every attempt would average out.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError, MismatchError, NoDataError
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.shares import SHARE_BYTES, pack_words, split
from sottovoce.lab.peos.word_codecs import WordCodec

REPORT_ID_BYTES = 16


@dataclass(frozen=True)
class ShareSubmission:
    """One share of one report, as it travels to one shuffler."""

    report_id: bytes
    payload: bytes = field(repr=False)

    def __post_init__(self) -> None:
        settings.octets("report_id", self.report_id, REPORT_ID_BYTES)


@dataclass(frozen=True)
class UserReport:
    """A randomised report of one user as a word, and its id: made once, kept for every retry."""

    report_id: bytes
    word: int = field(repr=False)

    @classmethod
    def of(cls, codec: WordCodec, value: int, rng: Rng) -> "UserReport":
        """Randomise a value."""
        report = codec.mechanism.privatize(np.array([value]), rng)
        word = codec.lift(report, rng)
        return cls(bytes(rng.bytes(REPORT_ID_BYTES)), int(word[0]))

    def submissions(self, terms: BatchTerms, rng: Rng) -> list[ShareSubmission]:
        """Return what to send to each shuffler.  To repeat a message, send the same bytes again."""
        word = np.array([self.word], np.uint64)
        *plain, last = split(word, terms.sets.shufflers, rng)
        ciphertext = terms.public_key.encrypt(int(last[0]), rng)
        payloads = [*map(pack_words, plain), terms.public_key.pack([ciphertext])]
        return [ShareSubmission(self.report_id, payload) for payload in payloads]


class SubmissionBox:
    """The shares that one shuffler holds before the batch is shuffled, by report id."""

    def __init__(self, terms: BatchTerms, shuffler: int) -> None:
        is_first_holder = shuffler == terms.sets.shufflers - 1
        self._width = terms.public_key.width if is_first_holder else SHARE_BYTES
        self._payloads: dict[bytes, bytes] = {}

    def add(self, submission: ShareSubmission) -> None:
        """Keep a share.  The same bytes may come twice; another share for an id is refused."""
        if len(submission.payload) != self._width:
            raise CodecError(f"a share for this shuffler must have {self._width} bytes")
        kept = self._payloads.setdefault(submission.report_id, submission.payload)
        if kept != submission.payload:
            raise MismatchError("a report id came with two different shares: the second is refused")

    @property
    def packed_ids(self) -> bytes:
        """Return the ids of all reports in ascending order."""
        return b"".join(sorted(self._payloads))

    def take(self, report_ids: Iterable[bytes]) -> bytes:
        """Return the shares of some reports in the order of the ids, and forget everything."""
        taken = b"".join(self._payloads[report_id] for report_id in report_ids)
        self._payloads.clear()
        return taken


@dataclass(frozen=True)
class CompleteReports:
    """The reports of which every shuffler holds a share, in the order of their ids."""

    report_ids: list[bytes]

    @classmethod
    def of(cls, packed_lists: Iterable[bytes], min_users: int) -> "CompleteReports":
        """Intersect the lists of all shufflers; too few complete reports are refused."""
        first, *others = (set(_ids(packed)) for packed in packed_lists)
        report_ids = sorted(first.intersection(*others))
        if len(report_ids) < min_users:
            raise NoDataError(
                f"the batch has {len(report_ids)} complete reports, of at least {min_users}:"
                " collect more"
            )
        return cls(report_ids)

    @property
    def packed(self) -> bytes:
        """Return the number of reports and a hash of their ids, by which parties compare."""
        count = len(self.report_ids).to_bytes(8, "little")
        return count + hashlib.sha256(b"".join(self.report_ids)).digest()


def count_of(packed: bytes) -> int:
    """Return the number of reports from ``CompleteReports.packed``."""
    return int.from_bytes(packed[:8], "little")


def _ids(packed: bytes) -> list[bytes]:
    if len(packed) % REPORT_ID_BYTES:
        raise CodecError(f"report ids must have {REPORT_ID_BYTES} bytes each")
    starts = range(0, len(packed), REPORT_ID_BYTES)
    return [packed[start : start + REPORT_ID_BYTES] for start in starts]
