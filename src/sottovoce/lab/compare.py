"""Compare mechanisms on data that you have: which one errs least, at which epsilon.

Every mechanism asks the same people at every epsilon, once for each seed.  The error is that of the
shares: the root of the mean square over all values and seeds, and the expected one beside it, which
the mechanism states.  ``covered`` is the share of the 95 % intervals that contain the truth.

    print(sv.compare(people, epsilons=[0.5, 1, 2]))
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers import export
from sottovoce.answers.plain_data import PlainRows
from sottovoce.core import settings
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.simulate import simulate
from sottovoce.plans.advise import advise
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.task import Task

DEFAULT_EPSILONS = (0.5, 1.0, 2.0, 4.0)
DEFAULT_SEEDS = 5
_MAX_SEEDS = 10_000


@dataclass(frozen=True)
class ComparedMechanism:
    """One mechanism at one epsilon; errors are of shares."""

    mechanism: str
    epsilon: float
    error: float
    expected_error: float
    covered: float
    report_bytes: int


@dataclass(frozen=True)
class MechanismComparison(PlainRows):
    """Mechanisms at several epsilons on the same people."""

    people: int
    values: int
    seeds: int
    table: tuple[ComparedMechanism, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per mechanism and epsilon."""
        return [asdict(row) for row in self.table]

    def best(self, epsilon: float) -> ComparedMechanism:
        """Return the mechanism with the least expected error at an epsilon."""
        rows = [row for row in self.table if row.epsilon == epsilon]
        if not rows:
            raise ParameterError(f"`epsilon` {epsilon:g} was not compared")
        return min(rows, key=lambda row: row.expected_error)

    def to_dict(self) -> dict[str, Any]:
        facts = {"people": self.people, "values": self.values, "seeds": self.seeds}
        return {**facts, "rows": self.rows()}

    def plot(self, path: str | Path | None = None, *, ax: Any = None) -> Any:
        """Draw the error of every mechanism by epsilon; points are measured, lines expected."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import ErrorCurve, error_curves

        curves = []
        for mechanism in dict.fromkeys(row.mechanism for row in self.table):
            rows = [row for row in self.table if row.mechanism == mechanism]
            curve = ErrorCurve(
                mechanism,
                [row.epsilon for row in rows],
                [row.error for row in rows],
                [row.expected_error for row in rows],
            )
            curves.append(curve)
        facts = f"{self.people:,} people, {self.values:,} values, {self.seeds} seeds"
        return error_curves(curves, facts, path, ax)

    def __str__(self) -> str:
        facts = f"{self.people:,} people, {self.values:,} values, {self.seeds} seeds"
        head = f"{'epsilon':>7}  {'mechanism':<12}{'error':>9}  {'expected':>9}  {'covered':>8}"
        lines = [f"Error of a share: {facts}", "", f"{head}  {'bytes':>6}"]
        for row in self.table:
            errors = f"{100 * row.error:>7.2f} %  {100 * row.expected_error:>7.2f} %"
            mark = "  best" if row == self.best(row.epsilon) else ""
            lines.append(
                f"{row.epsilon:>7g}  {row.mechanism:<12}{errors}  {100 * row.covered:>6.1f} %"
                f"  {row.report_bytes:>6}{mark}"
            )
        return "\n".join(lines)


def compare(
    values: Iterable[Any],
    domain: Domain | Iterable[Any] | None = None,
    *,
    mechanisms: Sequence[str] = (),
    epsilons: Sequence[float] = DEFAULT_EPSILONS,
    seeds: int = DEFAULT_SEEDS,
) -> MechanismComparison:
    """Return how mechanisms do on the values of some people.

    ``domain`` are the values that could be (default: those that there are), ``mechanisms`` the
    kinds to compare (default: those that ``advise`` compares).
    """
    people = list(values)
    settings.whole("seeds", seeds, 1, _MAX_SEEDS)
    if not people:
        raise NoDataError("`values` must have somebody in it")
    if not epsilons:
        raise ParameterError("`epsilons` must have at least one epsilon")
    if domain is None:
        domain = Categories(tuple(sorted({str(value) for value in people})))
        people = [str(value) for value in people]
    plan_domain = Histogram(domain).domain
    kinds = tuple(mechanisms) or _advised(len(people), plan_domain.size, epsilons[0])
    counts = np.bincount(plan_domain.indices(people), minlength=plan_domain.size)
    truth = counts / len(people)
    rows = []
    for epsilon in epsilons:
        for kind in kinds:
            task = Task("compared", Histogram(plan_domain, kind), epsilon)
            answers = [simulate(task, people, seed=seed) for seed in range(seeds)]
            rows.append(_compared(task, answers, truth))
    return MechanismComparison(len(people), plan_domain.size, seeds, tuple(rows))


def _advised(users: int, size: int, epsilon: float) -> tuple[str, ...]:
    advice = advise(users=users, size=size, epsilon=epsilon)
    return tuple(row["mechanism"] for row in advice.rows())


def _compared(task: Task, answers: Sequence[Any], truth: Any) -> ComparedMechanism:
    """Return the errors of the answers of one task, one for each seed."""
    squares, expected, covered = [], [], []
    for answer in answers:
        people = answer.estimate.population
        low, high = answer.estimate.interval(answer.level)
        squares.append(((answer.estimate.frequencies - truth) ** 2).mean())
        expected.append(((answer.estimate.errors / people) ** 2).mean())
        covered.append(((low <= truth * people) & (truth * people <= high)).mean())
    mechanism = answers[0].mechanism
    return ComparedMechanism(
        mechanism=mechanism,
        epsilon=task.epsilon,
        error=sqrt(float(np.mean(squares))),
        expected_error=sqrt(float(np.mean(expected))),
        covered=float(np.mean(covered)),
        report_bytes=task.opening.width,
    )
