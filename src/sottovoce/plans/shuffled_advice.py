"""Advice before a shuffled histogram: mechanism, three epsilons, and the error beside others.

The mechanism has the least exact error that meets a central (epsilon, delta) and a cap on the local
epsilon.  Unless their number is given, as many fakes are advised as keep a collector that colludes
with all other users to min(2, local epsilon / 3).  Nothing is simulated.

Source: docs/shuffling.md.
"""

from dataclasses import asdict, dataclass, replace
from math import ceil, sqrt
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
NO_CAP = settings.MAX_EPSILON  # of the local epsilon: no mechanism spends more
_BINDS = 1e-6  # how near to its cap a local epsilon counts as capped


@dataclass(frozen=True)
class ErrorUnderTrust:
    """The standard error of a share, root mean square over all values, under one kind of trust."""

    trust: str
    error: float


@dataclass(frozen=True)
class CapCost:
    """What a cap on the local epsilon costs where it binds; errors are mean squared ones.

    ``of_uncapped`` is the error as a multiple of that of the best choice without a cap, and
    ``of_gaussian`` as a multiple of that of a trusted curator with Gaussian noise, which the best
    choice without a cap has ``uncapped_of_gaussian`` times.  A cap of ``free_cap`` costs nothing.
    """

    of_uncapped: float
    of_gaussian: float
    uncapped_of_gaussian: float
    free_cap: float

    def lines(self, max_local: float) -> list[tuple[str, str]]:
        """Return the lines of advice about the cap."""
        factors = (
            f"{self.of_uncapped:.3g} times the mean squared error of the best choice without a cap;"
            f" {self.of_gaussian:.3g} times that of a curator with Gaussian noise,"
            f" instead of {self.uncapped_of_gaussian:.3g} times"
        )
        return [
            ("cap", f"{max_local:g} on the local epsilon binds, and keeps the error up"),
            ("cost of the cap", factors),
            ("cap without cost", f"{self.free_cap:g}: if all shufflers lie, a report reveals that"),
        ]


@dataclass(frozen=True)
class ShuffledAdvice(Advice):
    """What to expect of a histogram whose reports pass a shuffler.

    ``epsilon`` and ``delta`` are the target against the collector alone, and ``guarantee`` is what
    the mechanism gives.  ``cap_cost`` is there if the cap on the local epsilon keeps the error up.
    """

    users: int
    size: int
    epsilon: float
    delta: float
    max_local: float
    cap_cost: CapCost | None
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
        if self.cap_cost is not None:
            lines += self.cap_cost.lines(self.max_local)
        return lines

    def _table(self) -> list[str]:
        width = max(len(row.trust) for row in self.errors)
        head = f"  {'the same guarantee by':<{width}}  standard error"
        return [
            head,
            *(f"  {row.trust:<{width}}  {_percent(row.error):>14}" for row in self.errors),
        ]


@dataclass(frozen=True)
class ShuffleAims:
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

    ``epsilon`` is the central one; ``wishes`` are the fields of ``ShuffleAims``.

    >>> advice = advise_shuffled(100_000, 1_024, 0.5, fakes=0)
    >>> advice.mechanism, advice.buckets, advice.guarantee.local
    ('affine', 512, 6.0)
    """
    wished = ShuffleAims(**wishes)
    target = CentralTarget(epsilon, wished.delta)
    choice = _choice(users, size, target, wished)
    mechanism = choice.mechanism
    return ShuffledAdvice(
        users=users,
        size=size,
        epsilon=target.epsilon,
        delta=target.delta,
        max_local=wished.local,
        cap_cost=_cap_cost(choice, wished),
        fakes=choice.batch.fakes,
        mechanism=mechanism.kind,
        buckets=getattr(mechanism, "buckets", None),
        report_bytes=mechanism.width,
        guarantee=choice.guarantee,
        error=sqrt(choice.mse),
        errors=_errors(choice, target),
    )


def _choice(users: int, size: int, target: CentralTarget, wished: ShuffleAims) -> ShuffledChoice:
    """Return the mechanism under a cap, with the fakes that are wished for or needed."""
    choice = choose_shuffled(size, target, ShuffledBatch(users, wished.fakes or 0), wished.local)
    while wished.fakes is None and choice.batch.fakes < _advised_fakes(choice):
        # Fakes hide everybody better, so that the local epsilon may rise and need a few more.
        batch = ShuffledBatch(users, _advised_fakes(choice))
        choice = choose_shuffled(size, target, batch, wished.local)
    return choice


def _cap_cost(choice: ShuffledChoice, wished: ShuffleAims) -> CapCost | None:
    """Return what the cap costs, None if another one would change nothing."""
    if choice.mechanism.epsilon < wished.local - _BINDS:
        return None
    users, size, target = choice.batch.users, choice.mechanism.size, choice.target
    free = _choice(users, size, target, replace(wished, local=NO_CAP))
    if free.mechanism.epsilon <= wished.local + _BINDS:
        return None
    gaussian = Yardsticks.of(size, target, users).gaussian
    return CapCost(
        of_uncapped=choice.mse / free.mse,
        of_gaussian=choice.mse / gaussian,
        uncapped_of_gaussian=free.mse / gaussian,
        free_cap=ceil(100 * free.mechanism.epsilon) / 100,
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
