"""Several histograms at once: every person answers one question with the whole budget.

A public coin draws the question.  Splitting the budget over Q questions instead makes every error
larger: with unary noise by a factor of about Q in variance at a small epsilon, and far more at a
large one (5.4 at Q = 4, epsilon = 2).

Source: Wang 2021, section 3.4.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.core.settings import wholes
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.encodings.attribute import Attribute
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.frequencies.choose_mechanism import DEFAULT_RULE, is_kind
from sottovoce.plans.frequencies.histogram import mechanism_for
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


@dataclass(frozen=True, init=False)
class Survey(Plan, kind="survey"):
    """Named questions over the attributes of one record; weights ask some of them more often.

    ``mechanism`` names a kind or a rule for all questions, as in a histogram.
    """

    takes_fakes = True

    domain: Records
    weights: tuple[int, ...]
    mechanism: str

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        weights: Sequence[int] = (),
        mechanism: str = DEFAULT_RULE,
    ) -> None:
        if not isinstance(domain, Records):
            domain = Records(tuple(domain), tuple(domain_of(values) for values in domain.values()))
        if weights and len(weights) != len(domain.names):
            raise ParameterError("`weights` must have one entry for every question")
        wholes("weights", weights, 1)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "weights", tuple(weights))
        object.__setattr__(self, "mechanism", mechanism)

    def step(self, collected: Collected) -> Round | Answers:
        if not collected.rounds:
            return Round(0, Choice(self._members(collected.epsilon), self.weights))
        return Answers(
            "survey",
            {name: self._answer(collected, index) for index, name in enumerate(self.domain.names)},
        )

    def _members(self, epsilon: float) -> tuple[Question, ...]:
        mechanisms = [
            mechanism_for(attribute, epsilon, self.mechanism)
            for attribute in self.domain.attributes
        ]
        return tuple(
            Question(mechanism, Attribute(column)) for column, mechanism in enumerate(mechanisms)
        )

    def _answer(self, collected: Collected, index: int) -> Answer:
        name = self.domain.names[index]
        attribute = self.domain.attributes[index]
        address = Address(0, index)
        try:
            estimate = collected.estimate(address)
        except NoDataError:
            raise NoDataError(f"question {name!r} of this survey has no reports yet") from None
        return Answer(
            name, attribute.labels, estimate, collected.rounds[0].question(address).mechanism.kind
        )

    def cell_label(self, asked: Round, address: Address, cell: int) -> str:
        name = self.domain.names[address.member]
        return f"{name}: {self.domain.attributes[address.member].labels[cell]}"

    def advise(
        self,
        users: int,
        epsilon: float,
        *,
        error: float | None = None,
        rule: str = DEFAULT_RULE,
    ) -> Advice:
        """Return the expected errors of the question with the most values.

        The users are divided among all questions.
        """
        from sottovoce.plans.frequencies.advice import advise_histogram

        size = max(attribute.size for attribute in self.domain.attributes)
        count = len(self.domain.names)
        compared = self.mechanism if is_kind(self.mechanism) else ""
        wishes = {"questions": count, "error": error, "rule": rule, "mechanism": compared}
        return advise_histogram(users, size, epsilon, **wishes)
