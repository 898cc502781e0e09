"""Advice before a shuffled histogram: mechanism, three epsilons, and the error beside others.

The mechanism has the least exact error that meets a central (epsilon, delta) and a cap on the local
epsilon.  Unless their number is given, as many fakes are advised as keep a collector that colludes
with all other users to min(2, local epsilon / 3).  Nothing is simulated.

Source: docs/shuffling.md.
"""

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from sottovoce.accounting.batch import MAX_REPORTS, ShuffledBatch
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.accounting.targets import (
    MAX_LOCAL,
    CentralTarget,
    default_against_users,
    fakes_for,
)
from sottovoce.core import settings
from sottovoce.plans.shuffled_choice import ShuffledChoice, Yardsticks, choose_shuffled
from sottovoce.tasks.advice import Advice

DELTA = 1e-9
_BINDS = 1e-6  # how near to its cap a local epsilon counts as capped


@dataclass(frozen=True)
class ErrorUnderTrust:
    """The standard error of a share, root mean square over all values, under one kind of trust."""

    trust: str
    error: float


@dataclass(frozen=True)
class ShuffledAdvice(Advice):
    """What to expect of a histogram whose reports pass a shuffler.

    ``epsilon`` and ``delta`` are the target against the collector alone, ``guarantee`` is what the
    mechanism gives, and ``is_capped`` says that the cap on the local epsilon keeps the error up.
    """

    users: int
    size: int
    epsilon: float
    delta: float
    max_local: float
    is_capped: bool
    fakes: int
    mechanism: str
    buckets: int | None
    report_bytes: int
    guarantee: ShuffledGuarantee
    error: float
    errors: tuple[ErrorUnderTrust, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        title = f"Advice for {self.users:,} users, {self.size:,} values, through a shuffler"
        lines = [f"  {name:<17}  {text}" for name, text in self._lines()]
        return "\n".join([title, "", *lines, "", *self._table()])

    def _lines(self) -> list[tuple[str, str]]:
        guarantee = self.guarantee
        chance = f"except with probability {self.delta:g}"
        buckets = f", {self.buckets:,} buckets" if self.buckets else ""
        lines = [
            ("mechanism", f"{self.mechanism}{buckets}, {self.report_bytes} bytes a report"),
            ("fakes", f"{self.fakes:,} uniform reports that the shuffler adds"),
            ("collector alone", f"epsilon {guarantee.central:.3g}, {chance}"),
            ("with other users", f"epsilon {guarantee.against_users:.3g}, {chance}"),
            ("with shufflers", f"epsilon {guarantee.local:.3g}; devices are charged this"),
            ("over all values", f"standard error {_percent(self.error)} (root mean square)"),
        ]
        if self.is_capped:
            lines.append(
                (
                    "cap",
                    f"the local epsilon is held at {self.max_local:g}; a larger cap"
                    f" uses more of the central epsilon {self.epsilon:g} and lowers the error",
                )
            )
        return lines

    def _table(self) -> list[str]:
        width = max(len(row.trust) for row in self.errors)
        head = f"  {'the same guarantee by':<{width}}  standard error"
        return [
            head,
            *(f"  {row.trust:<{width}}  {_percent(row.error):>14}" for row in self.errors),
        ]


@dataclass(frozen=True)
class ShuffleWishes:
    """What is asked of a shuffler: delta, the cap on the local epsilon, and the number of fakes.

    Without a number, as many fakes are advised as protect a person from all other users.
    """

    delta: float = DELTA
    local: float = MAX_LOCAL
    fakes: int | None = None

    def __post_init__(self) -> None:
        settings.open_share("delta", self.delta)
        settings.epsilon("local", self.local)
        if self.fakes is not None:
            settings.whole("fakes", self.fakes, 0, MAX_REPORTS)


def advise_shuffled(users: int, size: int, epsilon: float, **wishes: Any) -> ShuffledAdvice:
    """Return which mechanism to use behind a shuffler, and what to expect of it.

    ``epsilon`` is the central one; ``wishes`` are those of ShuffleWishes.

    >>> advice = advise_shuffled(100_000, 1_024, 0.5, fakes=0)
    >>> advice.mechanism, advice.buckets, advice.guarantee.local
    ('affine', 512, 6.0)
    """
    wished = ShuffleWishes(**wishes)
    target = CentralTarget(epsilon, wished.delta)
    choice = choose_shuffled(size, target, ShuffledBatch(users, wished.fakes or 0), wished.local)
    while wished.fakes is None and choice.batch.fakes < _advised_fakes(choice):
        # Fakes hide everybody better, so that the local epsilon may rise and need a few more.
        batch = ShuffledBatch(users, _advised_fakes(choice))
        choice = choose_shuffled(size, target, batch, wished.local)
    mechanism = choice.mechanism
    return ShuffledAdvice(
        users=users,
        size=size,
        epsilon=target.epsilon,
        delta=target.delta,
        max_local=wished.local,
        is_capped=mechanism.epsilon >= wished.local - _BINDS,
        fakes=choice.batch.fakes,
        mechanism=mechanism.kind,
        buckets=getattr(mechanism, "buckets", None),
        report_bytes=mechanism.width,
        guarantee=choice.guarantee,
        error=sqrt(choice.mse),
        errors=_errors(choice, target),
    )


def _advised_fakes(choice: ShuffledChoice) -> int:
    """Return how many fakes keep all other users and the collector to the default epsilon."""
    against_users = default_against_users(choice.mechanism.epsilon)
    return fakes_for(choice.mechanism.blanket, CentralTarget(against_users, choice.target.delta))


def _errors(choice: ShuffledChoice, target: CentralTarget) -> tuple[ErrorUnderTrust, ...]:
    beside = Yardsticks.of(choice.mechanism.size, target, choice.batch.users)
    return (
        ErrorUnderTrust("a shuffler, as advised", sqrt(choice.mse)),
        ErrorUnderTrust("a trusted curator, Gaussian noise", sqrt(beside.gaussian)),
        ErrorUnderTrust("a trusted curator, Laplace noise, no delta", sqrt(beside.laplace)),
        ErrorUnderTrust("devices alone, without a shuffler", sqrt(beside.local)),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
