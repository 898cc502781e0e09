"""The same histogram epoch after epoch, from the same people: how a population changes.

For tasks that declare ``distinct`` values.  Devices answer with permanent responses, one for each value, which cost
the task's epsilon divided by ``distinct``; averaging any number of epochs leads to them and no further.  Symmetric
unary encoding adds an instantaneous round, because reports that are equal in every epoch would let a collector follow
a device by its noise.  Every other mechanism named here sends its permanent response as it is, and can be followed.

Source: Erlingsson 2014.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.frequencies.histogram import mechanism_for
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

SECOND_KEEP, SECOND_FLIP = 3 << 62, 1 << 62  # of 2^64: a permanent 1 is sent as 1 in three of four reports, a 0 in one

_MOST_EPOCHS = 1 << 16


@dataclass(frozen=True, init=False)
class Tracking(Plan, kind="tracking"):
    """Ask everyone for their value in each of ``epochs`` rounds.

    >>> Tracking(["home", "office"], epochs=12).mechanism
    'sue'
    """

    longitudinal = True

    domain: Domain
    epochs: int
    mechanism: str

    def __init__(self, domain: Domain | Iterable[Any], epochs: int, mechanism: str = "sue") -> None:
        if type(epochs) is not int or not 1 <= epochs <= _MOST_EPOCHS:
            raise ParameterError("tracking takes from 1 to 65,536 epochs")
        object.__setattr__(self, "domain", domain_of(domain))
        object.__setattr__(self, "epochs", epochs)
        object.__setattr__(self, "mechanism", mechanism)

    def step(self, collected: Collected) -> Round | Answers:
        if len(collected.rounds) < self.epochs:
            return Round(len(collected.rounds), Question(self._randomiser(collected.epsilon)))
        return self._answers(collected)

    def so_far(self, collected: Collected) -> Answers | None:
        """Return the epochs that have been sealed."""
        return self._answers(collected) if collected.rounds else None

    def _randomiser(self, epsilon: float) -> Mechanism:
        if self.mechanism != "sue":
            return mechanism_for(self.domain, epsilon, self.mechanism)
        return SUE(epsilon, self.domain.size, second_keep=SECOND_KEEP, second_flip=SECOND_FLIP)

    def _answers(self, collected: Collected) -> Answers:
        return Answers(
            "tracking", {f"epoch {asked.number + 1}": self._answer(collected, asked) for asked in collected.rounds}
        )

    def _answer(self, collected: Collected, asked: Round) -> Answer:
        address = Address(asked.number)
        kind = asked.question(address).mechanism.kind
        return Answer(f"epoch {asked.number + 1}", self.domain.labels, collected.estimate(address), kind)
