"""How the reports of a task are shuffled, and what that promises: part of the task's document.

The messages of a shuffled task travel through a chain of *hops*, run by others than the collector.
A hop collects the messages of a round, adds fake reports, puts everything into a random order and
hands the batch on.  The collector cannot tell whose report is whose, and so learns far less than
the local epsilon allows.  Three promises belong together:

    central         holds against the collector, if one of the hops is honest
    against_users   holds against the collector together with all other users, thanks to the fakes
    task.epsilon    holds against everybody, the hops included; it is what the ledger charges

The first two are (epsilon, delta) bounds with one ``delta``.  A device computes both again from the
mechanism, the number of users and the number of fakes, and refuses a document that promises more
than that.  A document with later rounds, which it cannot state, must promise what every mechanism
of its epsilon keeps: the generic bound holds for all of them.

Source: docs/shuffling.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
from sottovoce.core import settings
from sottovoce.core.addresses import protected_url
from sottovoce.errors import ParameterError

MAX_HOPS = 3
MAX_USERS = 1 << 30  # of a batch: devices account for as many within their time
MAX_URL = 200  # characters
KEY_BYTES = 32  # of an Ed25519 key
_MIN_USERS = 2
_MAX_OVERLAP = 0.25  # beyond it a device's sums take seconds; the generic bound takes its place


@dataclass(frozen=True)
class Hop:
    """One shuffler: its address, and the long-term key that signs its round keys (base64url)."""

    url: str
    key: str

    def __post_init__(self) -> None:
        settings.plain_text("url", self.url, MAX_URL)
        protected_url("url", self.url)
        settings.base64url("key", self.key, KEY_BYTES)

    @property
    def key_bytes(self) -> bytes:
        """Return the long-term public key."""
        return settings.base64url("key", self.key, KEY_BYTES)


@dataclass(frozen=True)
class Shuffle:
    """The hops in the order of the messages, the size of a batch, and what both promise.

    ``key`` is the long-term key of the collector, which signs its own round keys (base64url).  A
    batch leaves a hop with at least ``users`` messages, or not at all; every hop adds ``fakes``
    reports that are drawn from the blanket of the mechanism.
    """

    hops: tuple[Hop, ...]
    key: str
    users: int
    fakes: int
    central: float
    against_users: float
    delta: float

    def __post_init__(self) -> None:
        settings.entries("hops", self.hops, 1, MAX_HOPS)
        settings.distinct("hops", [hop.key for hop in self.hops])
        settings.base64url("key", self.key, KEY_BYTES)
        settings.whole("users", self.users, _MIN_USERS, MAX_USERS)
        settings.whole("fakes", self.fakes, 0, MAX_USERS)
        object.__setattr__(self, "central", settings.epsilon("central", self.central))
        against_users = settings.epsilon("against_users", self.against_users)
        object.__setattr__(self, "against_users", against_users)
        object.__setattr__(self, "delta", settings.open_share("delta", self.delta))

    @property
    def signing_keys(self) -> tuple[bytes, ...]:
        """Return the long-term keys of all who remove a layer: the hops', then the collector's."""
        own = settings.base64url("key", self.key, KEY_BYTES)
        return (*(hop.key_bytes for hop in self.hops), own)

    @property
    def total_fakes(self) -> int:
        """Return how many fake reports are in a batch that arrives at the collector."""
        return self.fakes * len(self.hops)

    def check(self, blanket: Blanket) -> None:
        """Refuse promises that reports with this blanket do not keep.

        Only the fakes of one hop count: the others may be run by friends of the collector.
        """
        for name, promised, users in self._promises():
            if not self._is_kept(promised, blanket, users):
                raise ParameterError(
                    f"`{name}` of the shuffle promises epsilon {promised:g}, which its users and"
                    f" fakes do not give at delta {self.delta:g}: state more, or raise `users` or"
                    " `fakes`"
                )

    def check_later_rounds(self, epsilon: float) -> None:
        """Refuse promises that a round of this local epsilon might not keep, whatever it asks."""
        for name, promised, users in self._promises():
            if not self._is_kept(promised, Blanket.generic(epsilon), users):
                raise ParameterError(
                    f"`{name}` of the shuffle promises epsilon {promised:g}, which later rounds of"
                    f" local epsilon {epsilon:g} need not keep at delta {self.delta:g}: state what"
                    " every mechanism keeps, or raise `users` or `fakes`"
                )

    def _promises(self) -> Iterator[tuple[str, float, int]]:
        """Yield the name of every promise, its epsilon, and how many honest users it counts on."""
        yield "central", self.central, self.users
        yield "against_users", self.against_users, 1

    def _is_kept(self, promised: float, blanket: Blanket, users: int) -> bool:
        if promised >= blanket.epsilon_local:
            return True  # holds without any shuffling
        return any(
            amplification.is_within(each, each.batch(users, self.fakes), promised, self.delta)
            for each in accounted_blankets(blanket)
        )


def accounted_blankets(blanket: Blanket) -> tuple[Blanket, ...]:
    """Return the blankets that devices compute with; what follows from any of them holds.

    The generic one holds for every mechanism, and takes the place of one whose sums take too long.
    A fake that is drawn from the blanket itself counts as a user in the generic account: no report
    is less likely for it than for a user, divided by e^epsilon.
    """
    generic = Blanket.generic(blanket.epsilon_local)
    if blanket.overlap > _MAX_OVERLAP or blanket == generic:
        return (generic,)
    return (blanket, generic)
