"""What an application agrees that a task may ask, and what a device remembers of the first time.

The document of a task is written by the collector.  An application that knows what it wants to be
asked says so beforehand, with ``Accepts``.  What it leaves open is remembered when a task of a name
is first answered: its domain, its price, what it declares, for how many values it pays and how it
is shuffled.  Later documents of that name must mean the same.  Columns in clear are never a matter
of memory: the application must name them.

A shuffle may become better and may not become worse.  Refused until somebody agrees again are

    a task that is not shuffled any more,
    other hops: another number or order of them, another address or another long-term key,
    a larger ``central``, ``against_users`` or ``delta``,
    a task that needs no blind tokens any more.

Allowed are smaller ones, a task that is shuffled from now on, and every other number of users or
fakes, because the device computes from them whether the promises hold.  The collector's own key and
the issuer's may change: neither of them protects against anybody else.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.core import settings
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.errors import MismatchError
from sottovoce.tasks.notice import Notice
from sottovoce.wire import codec

REMEMBERED = ("declares", "distinct", "domain", "epsilon", "shuffle")  # the fields of a meaning

_PROMISES = ("against_users", "central", "delta")


@dataclass(frozen=True)
class Accepts:
    """What tasks of one name may ask.

    ``domain`` is what they must ask for, as a domain, a list of labels or a range.  ``epsilon`` is
    the most that they may cost.  ``public`` names the columns that may leave in clear (default:
    none).  ``plans`` are the kinds of plans that may ask, and ``digest`` is that of the only
    document to answer.  ``central`` is the most that a task may promise to reveal to its collector;
    only shuffled tasks promise that.

    >>> Accepts(domain=["cat", "dog"], epsilon=1.0).domain.size
    2
    """

    domain: Domain | Iterable[Any] | None = None
    epsilon: float | None = None
    public: tuple[str, ...] = ()
    plans: tuple[str, ...] | None = None
    digest: str | None = None
    central: float | None = None

    def __post_init__(self) -> None:
        if self.domain is not None and not isinstance(self.domain, Domain):
            object.__setattr__(self, "domain", domain_of(self.domain))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", settings.epsilon("epsilon", self.epsilon))
        object.__setattr__(self, "public", _names("public", self.public))
        if self.plans is not None:
            object.__setattr__(self, "plans", _names("plans", self.plans))
        if self.digest is not None:
            settings.text("digest", self.digest)
        if self.central is not None:
            object.__setattr__(self, "central", settings.epsilon("central", self.central))

    @property
    def stated(self) -> frozenset[str]:
        """Return the fields of a meaning that the application states itself."""
        if self.digest is not None:
            return frozenset(REMEMBERED)
        stated = {"domain": self.domain, "epsilon": self.epsilon}
        return frozenset(name for name, setting in stated.items() if setting is not None)

    def check(self, notice: Notice) -> None:
        """Refuse a task that asks for more than the application agrees to."""
        task = f"the task {notice.name!r}"
        if self.digest not in (None, notice.digest):
            raise MismatchError(f"{task} has another digest than the application accepts")
        if self.plans is not None and notice.plan not in self.plans:
            raise MismatchError(f"{task} asks by another plan than the application accepts")
        if self.domain not in (None, notice.domain):
            raise MismatchError(f"{task} asks for another domain than the application accepts")
        if self.epsilon is not None and notice.epsilon > self.epsilon:
            raise MismatchError(
                f"{task} costs epsilon {notice.epsilon:g},"
                f" and the application accepts at most {self.epsilon:g}"
            )
        if self.central is not None:
            self._check_central(notice, task)
        for column in notice.domain.public_names:
            if column not in self.public:
                raise MismatchError(
                    f"{task} sends the column {column!r} in clear,"
                    " and the application does not accept that"
                )

    def _check_central(self, notice: Notice, task: str) -> None:
        if notice.shuffle is None:
            raise MismatchError(f"{task} is not shuffled, and the application accepts only that")
        if notice.shuffle.central > (self.central or 0.0):
            raise MismatchError(
                f"{task} reveals epsilon {notice.shuffle.central:g} to the collector,"
                f" and the application accepts at most {self.central:g}"
            )


def meaning_of(notice: Notice) -> str:
    """Return what a device remembers of a task, as canonical JSON."""
    content = {
        "declares": list(notice.declares),
        "distinct": notice.distinct,
        "domain": codec.document(notice.domain),
        "epsilon": repr(notice.epsilon),
        "shuffle": _shuffle_meaning(notice),
    }
    return codec.canonical(content)


def changed_field(before: str | None, now: str, stated: frozenset[str]) -> str | None:
    """Return the first field in which two meanings differ, those left out that are ``stated``.

    A shuffle differs if it is worse than before.
    """
    if before is None or before == now:
        return None
    old = codec.parse(before)
    new = codec.parse(now)
    for field in REMEMBERED:
        if field in stated:
            continue
        if field == "shuffle":
            if _is_worse(old[field], new[field]):
                return field
        elif old[field] != new[field]:
            return field
    return None


def _shuffle_meaning(notice: Notice) -> codec.Document | None:
    """Return what a device remembers of a shuffle: who mixes, and what that promises."""
    shuffle = notice.shuffle
    if shuffle is None:
        return None
    return {
        "against_users": repr(shuffle.against_users),
        "central": repr(shuffle.central),
        "delta": repr(shuffle.delta),
        "hops": [[hop.url, hop.key] for hop in shuffle.hops],
        "tokens": notice.collection is not None and notice.collection.issuer is not None,
    }


def _is_worse(old: codec.Document | None, new: codec.Document | None) -> bool:
    """Return whether a shuffle protects less than the one before, or by other hops."""
    if old is None:
        return False
    if new is None or old["hops"] != new["hops"]:
        return True
    if old["tokens"] and not new["tokens"]:
        return True
    return any(float(new[promise]) > float(old[promise]) for promise in _PROMISES)


def _names(name: str, values: Any) -> tuple[str, ...]:
    settings.instance(name, values, tuple, list)
    return settings.texts(name, values)
