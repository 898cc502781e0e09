"""Spending: what a device may reveal in its life, and the contract of the book that refuses more.

The collector cannot enforce a budget; only the device sees all it has answered.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from sottovoce.core import settings
from sottovoce.errors import BudgetError, ParameterError
from sottovoce.maths import exact


@dataclass(frozen=True)
class Spend:
    """What one answer costs a device, whatever it says.

    An epsilon of 0 is that of a rehearsal.  With ``lasting`` the charge pays for every round of its task.
    """

    task: str
    epsilon: float
    round: int = 0
    lasting: bool = False

    def __post_init__(self) -> None:
        if self.epsilon:
            settings.epsilon("epsilon", self.epsilon)


@dataclass(frozen=True)
class Window:
    """The most that may be charged, in epsilon and in number of charges, within any so many seconds.

    >>> Window(seconds=86_400, epsilon=2.0, reports=4).reports
    4
    """

    seconds: float
    epsilon: float
    reports: int

    def __post_init__(self) -> None:
        if not 0 < self.seconds < inf or not 0 < self.epsilon < inf:
            raise ParameterError("a window needs a positive number of seconds and a positive epsilon")
        if type(self.reports) is not int or self.reports < 1:
            raise ParameterError("a window allows at least 1 report")


class Ledger(ABC):
    """A book of charges that survives the process: one step charges and keeps the message, which then may leave."""

    @abstractmethod
    def answer(self, spend: Spend, make: Callable[[], bytes]) -> bytes:
        """Charge for a message, make it and keep it, all or nothing; raises before it overspends or answers twice."""

    @abstractmethod
    def message(self, task: str, number: int | None = None) -> bytes | None:
        """Return the message of a task's round, or of the last one answered; nothing if there is none."""

    @abstractmethod
    def coin(self, task: str, enrolled: bytes | None = None) -> bytes:
        """Return the public coin of this device for a task: drawn once, or given by its enrolment, and kept."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """Return all that was ever charged."""


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
            f"this task costs epsilon {wanted:g}; of the cap of {cap:g} only {max(0.0, float(left)):g} is left"
        )


def refuse_within(window: Window, recent: Iterable[float], wanted: float) -> None:
    """Raise unless one more charge fits beside those of the last ``window.seconds``."""
    charged = [*recent, wanted]
    if len(charged) > window.reports or total(charged) > total([window.epsilon]):
        raise BudgetError(
            f"within {window.seconds:g} seconds this device answers at most {window.reports} times, "
            f"for epsilon {window.epsilon:g} together: try again later"
        )
