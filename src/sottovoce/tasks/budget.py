"""The budget of a device: what an answer costs, and the contract of the ledger that refuses more.

The collector cannot enforce a budget; only the device sees all that it has answered.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.core import settings
from sottovoce.errors import BudgetError
from sottovoce.maths import exact


@dataclass(frozen=True)
class Spend:
    """What one answer costs a device, whatever the answer is.

    A rehearsal costs 0, and counts as a report all the same.  The charge of a longitudinal task
    pays for all its rounds.  ``conditional`` is what a shuffled answer reveals to the collector if
    a shuffler is honest; it is shown and never charged.
    """

    task: str
    epsilon: float
    round: int = 0
    longitudinal: bool = False
    conditional: "ConditionalSpend | None" = None

    def __post_init__(self) -> None:
        if self.epsilon:
            settings.epsilon("epsilon", self.epsilon)


@dataclass(frozen=True)
class ConditionalSpend:
    """An epsilon that holds except with probability ``delta``, if a shuffler is honest."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class SpendingWindow:
    """The limits of what may be charged within any period of so many seconds.

    ``epsilon`` bounds the sum of the charges, ``reports`` their number.

    >>> SpendingWindow(seconds=86_400, epsilon=2.0, reports=4).reports
    4
    """

    seconds: float
    epsilon: float
    reports: int

    def __post_init__(self) -> None:
        settings.positive("seconds", self.seconds)
        settings.positive("epsilon", self.epsilon)
        settings.whole("reports", self.reports, 1)


class Ledger(ABC):
    """The charges of one device, which survive the process.

    One step charges for a message and keeps it; only then may the message leave.
    """

    @abstractmethod
    def answer(self, spend: Spend, make: Callable[[], bytes]) -> bytes:
        """Charge for a message, make it and keep it, all or nothing.

        Raises ``BudgetError`` before it overspends or answers twice.
        """

    @abstractmethod
    def message(self, task: str, number: int | None = None) -> bytes | None:
        """Return the message of a task's round, or of the last round answered, if there is one."""

    @abstractmethod
    def coin(self, task: str, enrolled: bytes | None = None) -> bytes:
        """Return the bytes behind this device's public coins for a task.

        They are drawn once, or given by its token, and kept.
        """

    @property
    @abstractmethod
    def spent(self) -> float:
        """Return the sum of all charges."""


def total(epsilons: Iterable[float]) -> Fraction:
    """Return the sum of epsilons as the decimals they are written in.

    >>> total([0.1] * 10) == 1
    True
    """
    return sum((Fraction(exact.stated(epsilon)) for epsilon in epsilons), Fraction())


def refuse_beyond(cap: float, spent: Fraction, wanted: float) -> None:
    """Raise unless the wanted epsilon still fits under the cap."""
    left = total([cap]) - spent
    if total([wanted]) > left:
        raise BudgetError(
            f"this task costs epsilon {wanted:g};"
            f" of the cap of {cap:g} only {max(0.0, float(left)):g} is left"
        )


def refuse_within(window: SpendingWindow, recent: Iterable[float], wanted: float) -> None:
    """Raise unless one more charge fits beside those of the last ``window.seconds``."""
    charges = [*recent, wanted]
    if len(charges) > window.reports or total(charges) > total([window.epsilon]):
        raise BudgetError(
            f"within {window.seconds:g} seconds this device answers at most {window.reports} times,"
            f" for epsilon {window.epsilon:g} together: try again later"
        )
