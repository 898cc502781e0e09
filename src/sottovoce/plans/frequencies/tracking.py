"""The same histogram in every epoch, from the same people: how a population changes.

For tasks that declare ``distinct`` values.  Devices answer with permanent responses, one per value,
each of which costs the task's epsilon divided by ``distinct``; averaging any number of epochs
reveals the permanent responses and no more.  Symmetric unary encoding adds an instantaneous round,
because reports that are equal in every epoch would let a collector follow a device by its noise.
Every other mechanism sends its permanent response as it is, and its devices can be followed.

Source: Erlingsson 2014.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.frequencies.histogram import mechanism_for
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

SECOND_KEEP = 3 << 62  # of 2^64: a permanent 1 is sent as 1 in three of four reports
SECOND_FLIP = 1 << 62  # of 2^64: a permanent 0 is sent as 1 in one of four reports
MAX_EPOCHS = 1 << 16


@dataclass(frozen=True, init=False)
class Tracking(Plan, kind="tracking"):
    """Ask everybody for their value in each of ``epochs`` rounds.

    >>> Tracking(["home", "office"], epochs=12).mechanism
    'sue'
    """

    longitudinal = True

    domain: Domain
    epochs: int
    mechanism: str

    def __init__(self, domain: Domain | Iterable[Any], epochs: int, mechanism: str = "sue") -> None:
        object.__setattr__(self, "domain", domain_of(domain))
        object.__setattr__(self, "epochs", whole("epochs", epochs, 1, MAX_EPOCHS))
        object.__setattr__(self, "mechanism", mechanism)

    def step(self, collected: Collected) -> Round | Answers:
        if len(collected.rounds) < self.epochs:
            return Round(len(collected.rounds), Question(self._randomiser(collected.epsilon)))
        return self._answers(collected)

    def so_far(self, collected: Collected) -> Answers | None:
        """Return the epochs that have been collected."""
        return self._answers(collected) if collected.rounds else None

    def _randomiser(self, epsilon: float) -> Mechanism:
        if self.mechanism != "sue":
            return mechanism_for(self.domain, epsilon, self.mechanism)
        return SUE(epsilon, self.domain.size, second_keep=SECOND_KEEP, second_flip=SECOND_FLIP)

    def _answers(self, collected: Collected) -> Answers:
        return Answers(
            "tracking",
            {
                f"epoch {asked.number + 1}": self._answer(collected, asked)
                for asked in collected.rounds
            },
        )

    def _answer(self, collected: Collected, asked: Round) -> Answer:
        address = Address(asked.number)
        kind = asked.question(address).mechanism.kind
        return Answer(
            f"epoch {asked.number + 1}", self.domain.labels, collected.estimate(address), kind
        )
