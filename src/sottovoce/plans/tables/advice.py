"""Which way to collect tables for the questions that will be asked: the expected error of each, beforehand.

How people are asked cannot depend on a question, so it is chosen for all of them together.  Errors are those of a
population that is spread evenly over all values; a method that cannot be asked, or cannot answer some question, is left
out.

Source: Wang 2021, section 7.4.5; Xu 2020, section 6.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, isfinite, log, sqrt
from typing import Any

from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.plans.tables import planning
from sottovoce.plans.tables.explaining import explained
from sottovoce.plans.tables.joint import Queries
from sottovoce.plans.tables.layout import METHODS, Asking
from sottovoce.tasks.advice import Advice

FANOUTS = (2, 4, 5, 8, 16)


@dataclass(frozen=True)
class Collected:
    """One way to collect, and the expected error of the first number of every question."""

    method: str
    fanout: int
    errors: tuple[float, ...]
    relative: tuple[float, ...]

    @property
    def cost(self) -> float:
        """Return the geometric mean of the errors: no question counts more because its numbers are larger."""
        logs = [log(error) for error in self.errors if error > 0]
        return exp(sum(logs) / len(logs)) if logs else 0.0


@dataclass(frozen=True)
class TablesAdvice(Advice):
    """The ways to collect from the best to the worst for some questions."""

    users: int
    epsilon: float
    questions: tuple[str, ...]
    ways: tuple[Collected, ...]

    @property
    def method(self) -> str:
        """Return the method that is advised."""
        return self.ways[0].method

    @property
    def fanout(self) -> int:
        """Return the fan-out that is advised."""
        return self.ways[0].fanout

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {"method": self.method, "fanout": self.fanout, **asdict(self)}

    def __str__(self) -> str:
        best = self.ways[0]
        lines = [f"{self.users:,} users, epsilon {self.epsilon:g}: collect by {best.method}, fan-out {best.fanout}", ""]
        lines += [f"{'':24}" + "".join(f"{f'question {at + 1}':>14}" for at in range(len(self.questions)))]
        for way in self.ways:
            shares = "".join(f"{_percent(one):>14}" for one in way.relative)
            lines.append(f"{f'{way.method}, fan-out {way.fanout}':<24}{shares}")
        lines += ["", "Expected error as a share of the answer, were people spread evenly over all values."]
        return "\n".join([*lines, *(f"{at + 1}: {text}" for at, text in enumerate(self.questions))])


def advise_tables(plan: Queries, questions: Sequence[str], users: int, epsilon: float) -> TablesAdvice:
    """Return how good the answers to some questions would be for every way to collect the tables of a plan."""
    from sottovoce.sql.reading import read

    if not questions or type(users) is not int or users < 2:
        raise ParameterError("advice is about at least one question and at least two users")
    asked = [read(text, plan.domain) for text in questions]
    fanouts = sorted({*FANOUTS, plan.fanout})
    found = []
    for method in METHODS:
        tried = fanouts if _may(plan, method) else []
        ways = [_tried(_asking(plan, method, fanout, epsilon), asked, users) for fanout in tried]
        good = [way for way in ways if way is not None]
        found += [min(good, key=lambda way: way.cost)] if good else []
    if not found:
        raise ParameterError("no way to collect these tables can answer these questions")
    return TablesAdvice(users, epsilon, tuple(questions), tuple(sorted(found, key=lambda way: way.cost)))


def _may(plan: Queries, method: str) -> bool:
    try:
        _asking(plan, method, plan.fanout, 1.0)
    except ParameterError:
        return False
    return True


def _asking(plan: Queries, method: str, fanout: int, epsilon: float) -> Asking:
    return Asking(plan.domain, plan.rows, method, fanout, plan.published, epsilon)


def _tried(asking: Asking, asked: Sequence[Any], users: int) -> Collected | None:
    """Return what one way to collect gives, or nothing if it cannot be asked or cannot answer."""
    try:
        works = [planning.plan(asking, query) for query in asked]
        errors = [sqrt(users * work.predicted[work.lines[0].cells[0].parts[0]]) for work in works]
        facts = [explained(asking, query, users, work) for query, work in zip(asked, works, strict=True)]
    except SottovoceError:
        return None
    relative = tuple(fact["numbers"][0]["relative"] for fact in facts)
    return Collected(asking.method, asking.fanout, tuple(errors), relative)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if isfinite(share) else "-"
