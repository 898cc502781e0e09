"""Audit a mechanism or a task for poisoning: what each attack achieves, beside the bound.

Every attack makes a batch of false reports, once on behalf of a single target and once for several.
Their mean vote for the target, and for all targets together, is what one false report achieves; the
influence of one report is the bound that no attack exceeds.  For a randomiser of numbers it is the
number that a report stands for, on the scale of [-1, 1].
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sottovoce.arrays import Reports
from sottovoce.core.influence import Influence
from sottovoce.core.rng import Rng
from sottovoce.domains.integers import Integers
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim, Attack, CraftedReports, TargetedReports
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.question import Question
from sottovoce.tasks.task import Task

REPORTS = 2000  # false reports that an attack is judged by
TARGETS = 10  # values that are promoted where no option names others


@dataclass(frozen=True)
class PoisonRow:
    """What one false report of an attack adds to its target, on average, and at most.

    ``together`` and ``together_bound`` are the same for all targets.  None stands for what does not
    apply, for the reason in ``note``.
    """

    attack: str
    question: str
    target: float | None
    bound: float | None
    together: float | None
    together_bound: float | None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the attack stays within the bound."""
        pairs = ((self.target, self.bound), (self.together, self.together_bound))
        return all(
            achieved is None or bound is None or achieved <= bound * (1 + 1e-9) + 1e-9
            for achieved, bound in pairs
        )


@dataclass(frozen=True)
class PoisonAudit:
    """The attacks of the laboratory on one mechanism or task."""

    name: str
    epsilon: float
    rows: tuple[PoisonRow, ...]

    @property
    def passes(self) -> bool:
        """Return whether no attack exceeds its bound."""
        return all(row.holds for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "name": self.name,
            "epsilon": self.epsilon,
            "passes": self.passes,
            "attacks": [asdict(row) for row in self.rows],
        }

    def __str__(self) -> str:
        verdict = "no attack exceeds the bound" if self.passes else "FAILS: a bound does not hold"
        lines = [f"Poisoning of {self.name}, epsilon {self.epsilon:g}: {verdict}", ""]
        lines.append("One false report counts for so many honest ones, on average and at most:")
        lines.append(f"  {'attack':<10}{'question':<24}{'one target':>20}{'all targets':>20}")
        written = [f"  {row.attack:<10}{row.question:<24}{_cells(row)}" for row in self.rows]
        return "\n".join([*lines, *written])


def audit_mechanism(mechanism: Mechanism, rng: Rng, *, tries: int = 1000) -> PoisonAudit:
    """Return what the attacks achieve on a mechanism; its last ten values are promoted."""
    task = Task("values", Histogram(Integers(0, mechanism.size - 1), "grr"), mechanism.epsilon)
    count = 1 if mechanism.randomises_numbers else min(TARGETS, mechanism.size - 1)
    targets = tuple(range(mechanism.size - count, mechanism.size))
    aim = Aim(task, targets, tries=tries, each=min(2, count))
    rows = [_row(kind, aim, Question(mechanism), rng) for kind in _kinds()]
    return PoisonAudit(mechanism.kind, mechanism.epsilon, tuple(rows))


def audit_task(aim: Aim, rng: Rng) -> PoisonAudit:
    """Return what the attacks achieve on the questions of a task's first round."""
    questions: dict[Question, None] = {}
    for question in aim.task.opening.ask.representatives():
        questions.setdefault(question)
    rows = [_row(kind, aim, question, rng) for question in questions for kind in _kinds()]
    return PoisonAudit(aim.task.name, aim.task.epsilon, tuple(rows))


def _kinds() -> list[type[Attack]]:
    """Return the attacks that make each report by itself: others decide where it is sent."""
    return [kind for kind in Attack.kinds.classes() if issubclass(kind, CraftedReports)]


def _row(kind: type[Attack], aim: Aim, question: Question, rng: Rng) -> PoisonRow:
    mechanism = question.mechanism
    described = f"{mechanism.kind}, {_short(mechanism.size)}"
    influence = mechanism.influence
    bound = None if influence is None else influence.up
    try:
        if mechanism.randomises_numbers:
            number = _mean_number(kind, aim, question, rng)
            return PoisonRow(kind.kind, described, number, bound, None, None)
        alone = replace(aim, targets=aim.targets[:1], each=1)
        target = _mean_votes(kind, alone, question, rng)
        together = _mean_votes(kind, aim, question, rng)
    except ParameterError as reason:
        return PoisonRow(kind.kind, described, None, bound, None, None, str(reason))
    joint = _bound_together(mechanism, _wanted(aim, question, rng))
    joint_bound = None if joint is None else joint.up
    return PoisonRow(kind.kind, described, target, bound, together, joint_bound)


def _mean_votes(kind: type[Attack], aim: Aim, question: Question, rng: Rng) -> float:
    """Return what a report gives to all targets of an aim together."""
    reports = _crafted(kind, aim, question, rng)
    votes = question.mechanism.pure().votes(reports, _wanted(aim, question, rng))
    return float(votes.sum(axis=1).mean())


def _mean_number(kind: type[Attack], aim: Aim, question: Question, rng: Rng) -> float:
    """Return the number that a report stands for, whichever its sign."""
    randomiser = question.mechanism.numeric()
    numbers = randomiser.numbers(randomiser.codes(_crafted(kind, aim, question, rng)))
    return float(np.abs(numbers.mean()))


def _crafted(kind: type[Attack], aim: Aim, question: Question, rng: Rng) -> Reports:
    attack = kind.aimed(aim)
    assert isinstance(attack, CraftedReports)
    return attack.crafted(question, REPORTS, rng)


def _wanted(aim: Aim, question: Question, rng: Rng) -> Any:
    """Return the indices of the mechanism that stand for the targets."""
    aimed = _Targets(aim.domain, aim.targets)
    return aimed.wanted(question, np.arange(len(aim.targets)), rng)


class _Targets(TargetedReports):
    """The targets of an aim, without an attack."""

    def crafted(self, question: Question, users: int, rng: Rng) -> Any:
        raise NotImplementedError


def _bound_together(mechanism: Mechanism, wanted: Any) -> Influence | None:
    """Return the influence on the sum of all targets."""
    law = mechanism.influence_law
    if law is None or mechanism.size > 1 << 20 or len(set(wanted.tolist())) < len(wanted):
        return None
    coefficients = np.zeros(mechanism.size)
    coefficients[wanted] = 1.0
    return law.of(coefficients)


def _cells(row: PoisonRow) -> str:
    if row.target is None:
        return f"  {row.note}"
    alone = f"{row.target:.2f} of {_number(row.bound)}"
    if row.together is None:
        return f"{alone:>20}"
    together = f"{row.together:.2f} of {_number(row.together_bound)}"
    return f"{alone:>20}{together:>20}"


def _number(bound: float | None) -> str:
    return "?" if bound is None else f"{bound:,.2f}"


def _short(size: int) -> str:
    return f"{size:,} values" if size <= 1 << 20 else f"2^{(size - 1).bit_length()} values"
