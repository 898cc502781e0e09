"""The answers of a collection of marginals: tables by name, and what they say about the attributes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.export import optional
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import JointNoise
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.chow_liu import Tree, chow_liu, mutual_information, pairwise
from sottovoce.plans.marginals.independence import Dependence, dependence
from sottovoce.plans.marginals.marginal_table import MarginalTable, Model, View, shape_of

if TYPE_CHECKING:
    from sottovoce.plans.marginals.marginals import Marginals

SEPARATOR = " & "  # between the names of attributes, and between the values of a cell
MAX_LISTED_PAIRS = 150  # beyond so many pairs an answer lists single attributes only
MAX_LISTED_CELLS = 1024  # of a listed pair: its covariance has the square of that
_MAX_REMEMBERED = 512  # tables that are not computed again


@dataclass(frozen=True, eq=False)
class MarginalAnswers(Answers):
    """The tables of single attributes and of pairs by name, and any other table on request."""

    plan: "Marginals"
    model: Model
    epsilon: float
    remembered: dict[View, MarginalTable] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, plan: "Marginals", model: Model, epsilon: float) -> "MarginalAnswers":
        """Return the answers of a collection."""
        answers = cls("marginals", {}, plan, model, epsilon)
        object.__setattr__(answers, "parts", _ListedTables(answers))
        return answers

    @property
    def users(self) -> int:
        return self.model.users

    def table(self, view: View) -> MarginalTable:
        """Return the table of a view, computed once."""
        table = self.remembered.get(view)
        if table is None:
            table = self.model.table(view)
            if len(self.remembered) >= _MAX_REMEMBERED:
                self.remembered.clear()
            self.remembered[view] = table
        return table

    def marginal(self, *names: str) -> Answer:
        """Return the table of some attributes as one answer, with the covariance of its cells."""
        view = self._view(names)
        domain = self.plan.domain
        labels = [domain.attributes[attribute].labels for attribute in view]  # type: ignore[attr-defined]
        cells = tuple(SEPARATOR.join(cell) for cell in product(*labels))
        title = SEPARATOR.join(domain.names[attribute] for attribute in view)
        return Answer(title, cells, self._estimate(self.table(view)), self.plan.method_name)

    def kept(self) -> Answers | None:
        """Return nothing to store: the sums of the reports give every table again."""
        return None

    def dependence(self, first: str, second: str) -> Dependence:
        """Return whether two attributes depend on each other, by a test that knows the noise."""
        return dependence(self.table(self._view((first, second))), self.users)

    def information(self) -> Floats:
        """Return (attributes, attributes): the mutual information of every pair, in nats."""
        attributes = len(self.plan.sizes)
        return pairwise(attributes, lambda pair: mutual_information(self.table(pair).shares))

    def tree(self) -> Tree:
        """Return the tree that joins the attributes by the most mutual information (Chow-Liu)."""
        return chow_liu(self, len(self.plan.sizes))

    def heat(self, path: str | Path | None = None, *, truth: Floats | None = None) -> Any:
        """Draw the mutual information of every pair, with the tree's pairs framed."""
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import heat

        panels = {"estimated": self.information()}
        if truth is not None:
            panels["really"] = truth
        return heat(self.plan.domain.names, panels, path, self.tree().edges)

    def synthetic(self, count: int, rng: Rng | None = None) -> list[dict[str, str]]:
        """Return synthetic records like those of the population, drawn from the Chow-Liu tree."""
        domain = self.plan.domain
        records = self.tree().records(count, rng or SystemRng())
        labels: list[tuple[str, ...]] = [
            attribute.labels  # type: ignore[attr-defined]
            for attribute in domain.attributes
        ]
        return [
            {
                name: labels[column][value]
                for column, (name, value) in enumerate(zip(domain.names, record, strict=True))
            }
            for record in records
        ]

    def _view(self, names: tuple[str, ...]) -> View:
        known = self.plan.domain.names
        if not names or set(names) - set(known) or len(set(names)) < len(names):
            raise ParameterError(
                f"a marginal is of some of the attributes {', '.join(known)}, each once"
            )
        return tuple(sorted(known.index(name) for name in names))

    def _estimate(self, table: MarginalTable) -> Estimate:
        users = self.users
        noise = JointNoise(table.covariance * users**2)
        raw = None if table.raw is None else self._estimate(table.raw)
        votes = table.shares.ravel() * users
        return Estimate(votes, noise, users, self.epsilon, steps=table.steps, raw=raw)


class _ListedTables(Mapping[str, Answer]):
    """The tables that answers list by themselves, computed when they are looked at."""

    def __init__(self, answers: MarginalAnswers) -> None:
        self._answers = answers

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        plan = self._answers.plan
        views: list[View] = [(attribute,) for attribute in range(len(plan.sizes))]
        pairs = list(combinations(range(len(plan.sizes)), 2)) if plan.order > 1 else []
        if len(pairs) <= MAX_LISTED_PAIRS:
            views += [pair for pair in pairs if prod(shape_of(plan.sizes, pair)) <= MAX_LISTED_CELLS]
        named = [tuple(plan.domain.names[attribute] for attribute in view) for view in views]
        return {SEPARATOR.join(names): names for names in named}

    def __getitem__(self, name: str) -> Answer:
        return self._answers.marginal(*self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
