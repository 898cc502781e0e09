"""The terms of a batch: what all parties must agree on before any share moves.

Every party sends its terms to every other one.  A party that sees other terms stops and says which
setting differs.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from sottovoce.core import settings
from sottovoce.errors import CodecError, MismatchError
from sottovoce.lab.peos.encryption.base import HomomorphicPublicKey
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.oblivious_shuffle import ShuffleSetup
from sottovoce.lab.peos.word_codecs import WordCodec

BATCH_ID_BYTES = 16
MAX_FAKES = 1 << 32


@dataclass(frozen=True)
class BatchTerms:
    """Which reports are shuffled by how many shufflers, with how many fakes, under which key.

    ``min_users`` is the number of users that the stated central epsilon counts on.  A batch with
    fewer complete reports is not shuffled.
    """

    batch_id: bytes
    codec: WordCodec
    sets: HiderSets
    fakes: int
    min_users: int
    public_key: HomomorphicPublicKey

    def __post_init__(self) -> None:
        settings.octets("batch_id", self.batch_id, BATCH_ID_BYTES)
        settings.whole("fakes", self.fakes, 0, MAX_FAKES)
        settings.whole("min_users", self.min_users, 1)

    @property
    def server(self) -> int:
        """Return the number of the server: the one after the shufflers."""
        return self.sets.shufflers

    @property
    def setup(self) -> ShuffleSetup:
        """Return what the shuffle itself needs to know."""
        return ShuffleSetup(self.sets, self.digest)

    @cached_property
    def packed(self) -> bytes:
        """Return the terms as canonical JSON."""
        document = {
            "batch_id": self.batch_id.hex(),
            "reports": self.codec.document(),
            "shufflers": self.sets.shufflers,
            "fakes": self.fakes,
            "min_users": self.min_users,
            "key_fingerprint": self.public_key.fingerprint.hex(),
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 of the terms."""
        return hashlib.sha256(self.packed).digest()

    def check_equal(self, packed: bytes, party: int) -> None:
        """Refuse to work with a party whose terms are others; the error names the settings."""
        if packed == self.packed:
            return
        try:
            other = dict(json.loads(packed))
        except ValueError:
            raise CodecError(f"party {party} sent terms that are no JSON object") from None
        own = json.loads(self.packed)
        names = sorted(name for name in own | other if own.get(name) != other.get(name))
        listed = ", ".join(names) or "the way they are written"
        raise MismatchError(f"party {party} has other terms for this batch: {listed}")
