"""The contract of attacks: the false reports that enter a simulation beside the honest ones.

Attackers know the protocol, may agree beforehand, and send whatever a collector accepts.  An attack
answers one question: what do so many of them send in a round.  Most attacks make every report by
itself, given the question that it answers: they are ``CraftedReports``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core import settings
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.errors import ParameterError
from sottovoce.lab.batches import Batches, with_fakes
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

if TYPE_CHECKING:
    from sottovoce.tasks.task import Task

MAX_TARGETS = 1 << 12


@dataclass(frozen=True)
class Aim:
    """What an attack on a task is after: values to promote, or to demote (``against``).

    Attacks take from it what they need: ``tries`` are seeds that are searched for one report,
    ``each`` is how many of the targets one report promotes, ``members`` and ``round_number`` are
    where attackers answer if they may choose, ``query`` is the SQL query whose answer they move.
    """

    task: "Task"
    targets: tuple[Any, ...] = ()
    against: bool = False
    tries: int = 1000
    each: int = 2
    members: tuple[int, ...] = ()
    round_number: int | None = None
    query: str = ""

    @property
    def domain(self) -> Domain:
        """Return what one person may hold."""
        domain: Domain = self.task.plan.domain
        return domain

    @property
    def possible_tries(self) -> int:
        """Return how many seeds an attacker may try: one where tokens fix them."""
        collection = self.task.collection
        return 1 if collection is not None and collection.fixes_seeds else self.tries

    def refuse_against(self, kind: str) -> None:
        """Refuse to demote, for an attack that can only promote."""
        if self.against:
            raise ParameterError(f"`against` does not go with the attack {kind!r}: use 'spa'")


@dataclass(frozen=True, eq=False)
class RoundAtHop:
    """The reports that reach the shufflers of a round.

    They add ``fakes`` together, of which one of them adds ``fakes_of_hop``.  ``share`` is that of
    the attack.
    """

    batches: Batches
    asked: Round
    fakes: int
    fakes_of_hop: int
    share: float


def refuse_search(kind: str, tries: int, task: "Task") -> None:
    """Refuse to try several seeds where the tokens of a task fix them."""
    if tries > 1 and task.collection is not None and task.collection.fixes_seeds:
        raise ParameterError(
            f"`tries` must be 1 for the attack {kind!r}: the tokens of this task fix the seeds"
        )


class Attack(ABC):
    """Users who know the protocol, may agree beforehand, and send whatever a collector accepts."""

    kind: ClassVar[str] = ""
    kinds: ClassVar[Registry["Attack"]] = Registry("attack", "sottovoce.lab.attacks")

    def __init_subclass__(cls, kind: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if kind:  # the attack of a single test has none
            cls.kind = kind
            Attack.kinds.add(kind, cls)

    @classmethod
    def aimed(cls, aim: Aim) -> "Attack":
        """Return the attack of this kind with an aim, or refuse an aim that it cannot have."""
        return cls()

    @abstractmethod
    def reports(self, asked: Round, users: int, rng: Rng) -> Mapping[Address, Reports]:
        """Return the reports of ``users`` attackers who are asked in a round, by address."""

    def check(self, task: "Task") -> None:  # noqa: B027 - most attacks apply to every task
        """Refuse a task that the attack does not apply to, and say why."""

    def counted_among(self, asked: Round, answering: int, everybody: int) -> int:
        """Return among how many people the attackers of a round are a share.

        Attackers are dealt to rounds as people are, unless they choose theirs.
        """
        return answering

    def public_parts(self, users: int, rng: Rng) -> Sequence[bytes]:
        """Return what attackers show everybody; if nothing, they copy honest people."""
        return ()

    def mixed(self, batch: RoundAtHop, rng: Rng) -> Batches:
        """Return what reaches the collector of a shuffled task, through honest shufflers."""
        return with_fakes(batch.batches, batch.asked, batch.fakes, rng)


class CraftedReports(Attack):
    """An attack that makes each report by itself, from the question that it answers."""

    @abstractmethod
    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        """Return the reports of ``users`` attackers who are asked a question."""

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        return {
            address: self.crafted(asked.question(address), len(people), rng)
            for address, people in asked.assigned(np.arange(users), rng)
        }


class HopAttack(Attack):
    """An attack by a shuffler instead of users: it overrides ``mixed``."""

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        return {}

    def counted_among(self, asked: Round, answering: int, everybody: int) -> int:
        return 0

    def check(self, task: "Task") -> None:
        if task.shuffle is None:
            raise ParameterError(f"the attack {self.kind!r} is a shuffler's: the task has none")
        if task.opening.slots > 1:
            raise ParameterError(
                f"the attack {self.kind!r} applies to tasks with one report per person"
            )


@dataclass(frozen=True)
class TargetedReports(CraftedReports):
    """An attack on behalf of some ``targets``, values of the task's ``domain``."""

    domain: Domain
    targets: tuple[Any, ...]

    def __post_init__(self) -> None:
        settings.instance("targets", self.targets, tuple)
        settings.entries("targets", self.targets, 1, MAX_TARGETS)

    def public_parts(self, users: int, rng: Rng) -> Sequence[bytes]:
        texts = self.domain.public_parts(self.domain.indices(list(self.targets)))
        return [texts[place % len(texts)] for place in range(users)] if texts else ()

    def target_values(self, choices: Ints) -> Values:
        """Return the indices of the targets with these numbers."""
        return self.domain.indices(list(self.targets))[choices.ravel()]

    def wanted(self, question: Question, choices: Ints, rng: Rng) -> Values:
        """Return (attackers, targets): what the mechanism should support, given target numbers."""
        values = self.target_values(choices)
        encoding = question.encoding
        encoded = encoding.promoting(values, rng) if encoding else values
        return np.asarray(encoded).reshape(*choices.shape, *np.shape(encoded)[1:])
