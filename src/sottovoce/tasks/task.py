"""A task: a name, a plan and a price, under one digest.

The digest is that of the task's document: the same digest has the same meaning for ever.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.collected import NothingCollected
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.limits import (
    DIRECT_ENVELOPE,
    SHUFFLED_ENVELOPE,
    check_declared,
    check_description,
    check_distinct,
    check_fakes,
    check_message,
    check_name,
    check_price,
    check_shuffle,
    check_tokens,
)
from sottovoce.tasks.moved_number import MovedNumber
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.shuffle import Shuffle

NO_SEEDS = (
    '`defence = "seeds"` fixes nothing here, because the reports carry no hash seed: name a'
    ' mechanism that hashes, such as `mechanism = "affine"`, or leave `defence` out'
)


@dataclass(frozen=True)
class Task:
    """A name, a plan and a price; the opening round follows from them.

    A task with ``distinct`` is longitudinal: its rounds go to the same users.  Their devices
    memoise one permanent response per value, for at most ``distinct`` values, and pay for all of
    them beforehand.  A task with a ``shuffle`` takes its reports from shufflers only.
    """

    name: str
    plan: Plan
    epsilon: float
    description: str = ""
    declares: tuple[str, ...] = ()
    collection: Collection | None = None
    distinct: int | None = None
    shuffle: Shuffle | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", settings.epsilon("epsilon", self.epsilon))
        needed = (field for field in self.plan.needs if field not in self.declares)
        object.__setattr__(self, "declares", (*self.declares, *needed))
        check_name(self.name)
        check_description(self.description)
        check_declared(self.declares)
        check_distinct(self.distinct)
        if self.plan.longitudinal and self.distinct is None:
            raise ParameterError(
                "`distinct` is missing: this plan asks the same users again, so the task must state"
                " how many distinct values it pays for"
            )
        check_price(self.opening, self.epsilon, self.distinct)
        public_bytes = self.plan.domain.public_bytes
        check_message(self.opening, public_bytes, self.distinct, self.envelope_version)
        if self.shuffle is not None:
            check_shuffle(self.shuffle, self, self.opening)
        check_tokens(self.collection, self.distinct)
        if self.fakes:
            check_fakes(self.plan, self.opening)

    @classmethod
    def load(cls, path: str | Path) -> "Task":
        """Return the task in a TOML or JSON file, as ``sottovoce task create`` reads it."""
        # Whoever reads task files knows documents and all plans, which are above this layer.
        reader = import_module("sottovoce.collector.taskfile")
        task: Task = reader.load(Path(path))
        return task

    @property
    def concerns(self) -> tuple[str, ...]:
        """Return what speaks against collecting like this, known before anybody is asked."""
        concerns = list(self.plan.concerns(self.response_epsilon))
        if not self.coins_checked:
            concerns += self.plan.concerns_of_free_coins
        if self.collection is not None and self.collection.fixes_seeds and not self._has_seeds:
            concerns.append(NO_SEEDS)
        return tuple(concerns)

    @property
    def _has_seeds(self) -> bool:
        """Return whether the report to any question of the opening round carries a hash seed."""
        questions = self.opening.ask.representatives()
        return any(question.mechanism.has_seed for question in questions)

    @cached_property
    def moved_numbers(self) -> tuple[MovedNumber, ...]:
        """Return what one false report can do to numbers that are more than one count."""
        checked = self.coins_checked
        return self.plan.moved_numbers(self.response_epsilon, coins_checked=checked)

    @property
    def response_epsilon(self) -> float:
        """Return what one response may cost: ``distinct`` of them fit into the task's epsilon."""
        return exact.part(self.epsilon, self.distinct) if self.distinct else self.epsilon

    @property
    def envelope_version(self) -> int:
        """Return the version of the envelopes in all messages of the task."""
        return DIRECT_ENVELOPE if self.shuffle is None else SHUFFLED_ENVELOPE

    @property
    def fakes(self) -> int:
        """Return how many fakes are among the reports of every round."""
        return 0 if self.shuffle is None else self.shuffle.total_fakes

    @property
    def coins_checked(self) -> bool:
        """Return whether tokens deal all coins, so that the collector can check them."""
        return self.collection is not None and self.collection.needs_token

    @cached_property
    def opening(self) -> Round:
        """Return the first round."""
        first = self.plan.step(NothingCollected(self.response_epsilon))
        if not isinstance(first, Round):
            raise ParameterError("a plan must ask something before it gives an outcome")
        return first

    @cached_property
    def rounds(self) -> RoundLimits | None:
        """Return what rounds after the opening may be; nothing if devices need not be told."""
        return self.plan.later_rounds(self.opening)
