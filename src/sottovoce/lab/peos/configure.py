"""Which mechanism, how many fakes and which local epsilon meet three targets with the least error.

The targets are epsilons against the server alone (central), against the server and all other users,
and against everybody (local).  The error is the mean squared error of the estimated shares,
averaged over the domain.  Candidates are direct response, and hashing into some number of buckets.

How privacy is accounted for is exchangeable: ``PublishedAccounting`` uses the closed forms of the
paper, ``BlanketAccounting`` the accountant of the product.

Source: Wang 2021, section 9.5.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH


@dataclass(frozen=True)
class PeosGoals:
    """What is wanted: three epsilons with one delta, for so many users and values."""

    users: int
    size: int
    delta: float
    central: float
    against_users: float
    local: float
    max_fakes: int

    def __post_init__(self) -> None:
        settings.whole("users", self.users, 2)
        settings.whole("size", self.size, 2, GRR.max_size)
        settings.open_share("delta", self.delta)
        settings.epsilon("central", self.central)
        settings.epsilon("against_users", self.against_users)
        settings.epsilon("local", self.local)
        settings.whole("max_fakes", self.max_fakes, 1)


@dataclass(frozen=True)
class ReportShape:
    """A mechanism before its local epsilon is known: D cells, direct or hashed."""

    size: int
    cells: int
    hashed: bool

    @classmethod
    def direct(cls, size: int) -> "ReportShape":
        """Return direct response: every value is a cell."""
        return cls(size, size, hashed=False)

    def mechanism(self, epsilon: float) -> PureMechanism:
        """Return the mechanism with this local epsilon."""
        if self.hashed:
            return OLH(epsilon, self.size, self.cells)
        return GRR(epsilon, self.size)


@dataclass(frozen=True)
class PeosConfiguration:
    """What was found: a mechanism and the fakes, their error, and what they really achieve."""

    mechanism: PureMechanism
    fakes: int
    mse: float
    central: float
    against_users: float

    @property
    def local(self) -> float:
        """Return the local epsilon."""
        return self.mechanism.epsilon


class PeosAccounting(ABC):
    """How privacy is accounted for while a configuration is searched."""

    @abstractmethod
    def configure(self, goals: PeosGoals) -> PeosConfiguration:
        """Return the configuration with the least error that meets all targets."""


def configure_peos(goals: PeosGoals, accounting: PeosAccounting) -> PeosConfiguration:
    """Return the configuration with the least error that meets all targets.

    >>> from sottovoce.lab.peos.published_accounting import PublishedAccounting
    >>> goals = PeosGoals(10**6, 16, 1e-9, 0.5, 0.8, local=4.0, max_fakes=4 * 10**6)
    >>> best = configure_peos(goals, PublishedAccounting())
    >>> best.mechanism.kind, best.fakes, f"{best.mse:.2e}"
    ('grr', 7496, '4.09e-08')
    """
    return accounting.configure(goals)
