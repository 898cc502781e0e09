"""Spending: what a device may reveal in its life, and the contract of the book that refuses more.

The collector cannot enforce a budget; only the device sees all it has answered.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sottovoce import exact
from sottovoce.errors import BudgetError


@dataclass(frozen=True)
class Spend:
    """What one task costs a device, whatever it answers."""

    task: str
    epsilon: float

    def __post_init__(self) -> None:
        exact.check_epsilon(self.epsilon)


class Ledger(ABC):
    """A book of charges that survives the process: charge first, randomise then, send last."""

    @abstractmethod
    def charge(self, spend: Spend) -> None:
        """Enter a charge for good; raises before it overspends or charges a task twice."""

    @abstractmethod
    def keep(self, task: str, message: bytes) -> bytes:
        """Store the message that a charge paid for, once, and return the stored one."""

    @abstractmethod
    def message(self, task: str) -> bytes | None:
        """Return the message of a task, or nothing if none was made."""

    @abstractmethod
    def coin(self, task: str) -> bytes:
        """Return the public coin of this device for a task: drawn once and kept."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """Return all that was ever charged."""


def refuse_beyond(cap: float, spent: float, wanted: float) -> None:
    """Raise unless the wanted epsilon still fits under the cap."""
    if exact.stated(spent) + exact.stated(wanted) > exact.stated(cap):
        raise BudgetError(
            f"this task costs epsilon {wanted:g}; of the cap of {cap:g} only {max(0.0, cap - spent):g} is left"
        )
