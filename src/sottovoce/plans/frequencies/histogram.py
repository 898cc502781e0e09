"""A histogram: how many people hold each value of a known domain.

One round, one report per person.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import CentralTarget
from sottovoce.answers.answer import Answer
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.plans.frequencies.choose_mechanism import (
    DEFAULT_RULE,
    UNSTATED_RULE,
    choose,
    is_kind,
)
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


@dataclass(frozen=True, init=False)
class Histogram(Plan, kind="histogram"):
    """Ask everybody for their value.

    ``mechanism`` names a kind, such as ``"oue"``, or a rule that chooses one; the default is the
    rule ``"least variance"``.  An empty name, as in older documents, is ``"grr or affine"``.

    >>> Histogram(["cat", "dog"]).domain.size
    2
    """

    takes_fakes = True

    domain: Domain
    mechanism: str

    def __init__(
        self,
        domain: Domain | Iterable[Any],
        mechanism: str = DEFAULT_RULE,
        *,
        declinable: bool = False,
    ) -> None:
        object.__setattr__(self, "domain", domain_of(domain, declinable=declinable))
        object.__setattr__(self, "mechanism", mechanism)

    def step(self, collected: Collected) -> Round | Answer:
        if not collected.rounds:
            return Round(0, Question(mechanism_for(self.domain, collected.epsilon, self.mechanism)))
        estimate = collected.estimate(Address())
        return Answer(
            "histogram",
            self.domain.labels,
            estimate,
            collected.rounds[0].question(Address()).mechanism.kind,
        )

    def for_shuffling(
        self, target: CentralTarget, batch: ShuffledBatch, max_local: float
    ) -> "Histogram":
        from sottovoce.plans.shuffled_choice import choose_shuffled

        if is_kind(self.mechanism) or not self.domain.listed:
            return self
        chosen = choose_shuffled(self.domain.size, target, batch, max_local)
        return Histogram(self.domain, chosen.mechanism.kind)

    def advise(
        self,
        users: int,
        epsilon: float,
        *,
        error: float | None = None,
        rule: str = DEFAULT_RULE,
    ) -> Advice:
        """Return the mechanism to use and the error to expect.

        With a wished ``error`` it says how many users are needed.
        """
        from sottovoce.plans.frequencies.advice import advise_histogram

        compared = self.mechanism if is_kind(self.mechanism) else ""
        wishes = {"error": error, "rule": rule, "mechanism": compared}
        return advise_histogram(users, self.domain.size, epsilon, **wishes)


def mechanism_for(domain: Domain, epsilon: float, kind: str = DEFAULT_RULE) -> Mechanism:
    """Return the mechanism for a domain, of a kind or by a rule; empty is ``UNSTATED_RULE``."""
    if not domain.listed:
        raise ParameterError(
            f"`domain` must have a label for each value: a {domain.kind} domain has none"
        )
    if not is_kind(kind):
        return choose(domain.size, epsilon, kind or UNSTATED_RULE).mechanism
    mechanism_class: Any = Mechanism.kinds[kind]
    if issubclass(mechanism_class, NumericMechanism):
        raise ParameterError(
            f"`mechanism` must not be {kind}, which randomises numbers:"
            " ask for a mean or a distribution"
        )
    mechanism: Mechanism = mechanism_class(epsilon=epsilon, size=domain.size)
    return mechanism
