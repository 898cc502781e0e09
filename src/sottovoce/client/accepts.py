"""What an application agrees that a task may ask, and what a device remembers of the first time.

The document of a task is written by the collector.  An application that knows what it wants to be
asked says so beforehand, with ``Accepts``.  What it leaves open is remembered when a task of a name
is first answered: its domain, its price, what it declares and for how many values it pays.  Later
documents of that name must mean the same.  Columns in clear are never a matter of memory: the
application must name them.
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

REMEMBERED = ("declares", "distinct", "domain", "epsilon")  # the fields of a meaning


@dataclass(frozen=True)
class Accepts:
    """What tasks of one name may ask.

    ``domain`` is what they must ask for, as a domain, a list of labels or a range.  ``epsilon`` is
    the most that they may cost.  ``public`` names the columns that may leave in clear (default:
    none).  ``plans`` are the kinds of plans that may ask, and ``digest`` is that of the only
    document to answer.

    >>> Accepts(domain=["cat", "dog"], epsilon=1.0).domain.size
    2
    """

    domain: Domain | Iterable[Any] | None = None
    epsilon: float | None = None
    public: tuple[str, ...] = ()
    plans: tuple[str, ...] | None = None
    digest: str | None = None

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
        for column in notice.domain.public_names:
            if column not in self.public:
                raise MismatchError(
                    f"{task} sends the column {column!r} in clear,"
                    " and the application does not accept that"
                )


def meaning_of(notice: Notice) -> str:
    """Return what a device remembers of a task, as canonical JSON."""
    content = {
        "declares": list(notice.declares),
        "distinct": notice.distinct,
        "domain": codec.document(notice.domain),
        "epsilon": repr(notice.epsilon),
    }
    return codec.canonical(content)


def changed_field(before: str | None, now: str, stated: frozenset[str]) -> str | None:
    """Return the first field in which two meanings differ, those left out that are ``stated``."""
    if before is None or before == now:
        return None
    old = codec.parse(before)
    new = codec.parse(now)
    changed = (field for field in REMEMBERED if field not in stated and old[field] != new[field])
    return next(changed, None)


def _names(name: str, values: Any) -> tuple[str, ...]:
    settings.instance(name, values, tuple, list)
    return settings.texts(name, values)
