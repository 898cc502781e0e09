"""The privacy guarantee of an outcome for the people behind it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee


@dataclass(frozen=True)
class ShuffledReports:
    """How the reports behind an outcome were shuffled, which its guarantee follows from.

    ``users`` are the people who really answered each round, and ``blankets`` what hides their
    reports.  Each of the ``hops`` added ``fakes`` to a round.  Of these only the fakes of one hop
    count: the others may be run by friends of the collector.
    """

    hops: int
    fakes: int
    delta: float
    blankets: tuple[Blanket, ...]
    users: tuple[int, ...]

    @cached_property
    def guarantee(self) -> ShuffledGuarantee:
        """Return the guarantee for everybody, whichever round they answered; computed once."""
        rounds = [
            ShuffledGuarantee.of(blanket, users, self.fakes, self.delta)
            for blanket, users in zip(self.blankets, self.users, strict=True)
        ]
        return ShuffledGuarantee(
            central=max(each.central for each in rounds),
            delta=self.delta,
            against_users=max(each.against_users for each in rounds),
            local=max(each.local for each in rounds),
        )


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of an outcome.

    ``local`` is the epsilon that each device spent.  It holds against everybody who sees reports.

    ``shuffled`` reports hide each other, so that two more epsilons hold.  They are computed on
    demand, from the number of people who really answered.
    """

    local: float
    shuffled: ShuffledReports | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        if self.shuffled is None:
            return {"local": self.local}
        guarantee = self.shuffled.guarantee
        return {
            "local": self.local,
            "central": guarantee.central,
            "against_users": guarantee.against_users,
            "delta": guarantee.delta,
            "users": min(self.shuffled.users),
            "hops": self.shuffled.hops,
            "fakes": self.shuffled.fakes,
        }

    def lines(self) -> list[str]:
        """Return the lines printed below an outcome; none if only the local epsilon holds."""
        if self.shuffled is None:
            return []
        guarantee = self.shuffled.guarantee
        return [
            f"shuffled by {self.shuffled.hops} hops, each with {self.shuffled.fakes:,} fakes:",
            f"  epsilon {guarantee.central:.3g} against the collector, if one hop is honest"
            f" (delta {guarantee.delta:g})",
            f"  epsilon {guarantee.against_users:.3g} against the collector with all other users"
            f" (delta {guarantee.delta:g})",
            f"  epsilon {self.local:g} against everybody",
        ]
