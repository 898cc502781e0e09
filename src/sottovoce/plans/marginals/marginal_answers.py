"""The answers of a collection of marginals: tables by name, and statistics of dependence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from math import nan, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import TOGETHER, Answers
from sottovoce.answers.export import optional
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.side_views import PairView, SideViews
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import JointNoise
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.chow_liu import Tree, chow_liu, mutual_information, pairwise
from sottovoce.plans.marginals.independence import Dependence, dependence
from sottovoce.plans.marginals.marginal_table import MarginalTable, Model, View, shape_of

if TYPE_CHECKING:
    from sottovoce.plans.marginals.marginals import Marginals

MAX_LISTED_PAIRS = 150  # with more pairs, an answer lists single attributes only
MAX_LISTED_CELLS = 1024  # of a listed pair: its covariance has the square of that
_MAX_ATTRIBUTES = 24  # with more attributes, pairs are not compared
_NO_PAIRS = (
    "nobody was asked about two attributes together, so nothing is known about pairs:"
    " collect with `view_size` 2 or more"
)
_MAX_REMEMBERED = 512  # tables that are not computed again


@dataclass(frozen=True, eq=False)
class MarginalAnswers(Answers):
    """The tables of single attributes and of pairs by name, and any other table on request."""

    plan: "Marginals"
    model: Model
    epsilon: float
    coins_checked: bool = False
    remembered: dict[View, MarginalTable] = field(default_factory=dict, repr=False)
    shuffled: ShuffledReports | None = None

    @classmethod
    def of(
        cls, plan: "Marginals", model: Model, epsilon: float, *, coins_checked: bool = False
    ) -> "MarginalAnswers":
        """Return the answers of a collection."""
        answers = cls("marginals", {}, plan, model, epsilon, coins_checked)
        object.__setattr__(answers, "parts", _ListedTables(answers))
        return answers

    @property
    def users(self) -> int:
        return self.model.users

    def after_shuffling(self, shuffled: ShuffledReports) -> "MarginalAnswers":
        answers = replace(self, shuffled=shuffled)
        object.__setattr__(answers, "parts", _ListedTables(answers))
        return answers

    def table(self, view: View) -> MarginalTable:
        """Return the table of a view, computed once."""
        table = self.remembered.get(view)
        if table is None:
            table = self.model.table(view)
            if len(self.remembered) >= _MAX_REMEMBERED:
                self.remembered.clear()
            self.remembered[view] = table
        return table

    def unbiased(self, view: View) -> MarginalTable:
        """Return the table of a view that tests read."""
        return self.model.unbiased(view)

    def marginal(self, *names: str) -> Answer:
        """Return the table of some attributes as one answer, with the covariance of its cells."""
        view = self._view(names)
        domain = self.plan.domain
        labels = [domain.attributes[attribute].labels for attribute in view]
        cells = tuple(TOGETHER.join(cell) for cell in product(*labels))
        title = TOGETHER.join(domain.names[attribute] for attribute in view)
        estimate = self._estimate(self.table(view))
        return Answer(title, cells, estimate, self.plan.method, shuffled=self.shuffled)

    def kept(self) -> Answers | None:
        """Return nothing to store: the sums of the reports give every table again."""
        return None

    def dependence(self, first: str, second: str) -> Dependence:
        """Return whether two attributes depend on each other, by a test that knows the noise."""
        return dependence(self.unbiased(self._view((first, second))), self.users)

    def information(self) -> Floats:
        """Return (attributes, attributes): the mutual information of every pair, in nats.

        It is not a number for pairs that nobody was asked about together.
        """

        def measured(pair: View) -> float:
            table = self.table(pair)
            return nan if table.guessed else mutual_information(table.shares)

        return pairwise(len(self.plan.sizes), measured)

    def tree(self) -> Tree:
        """Return the tree that joins the attributes by the most mutual information (Chow-Liu)."""
        return chow_liu(self, len(self.plan.sizes))

    def heat(
        self, path: str | Path | None = None, *, truth: Floats | None = None, ax: Any = None
    ) -> Any:
        """Draw the mutual information of every pair, with the tree's pairs framed.

        Pairs that nobody was asked about together stay blank.  With ``ax`` the map is drawn there,
        into a figure of the caller's.
        """
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import heat

        panels = {"estimated": self.information()}
        if np.isnan(panels["estimated"]).sum() == len(self.plan.sizes) * (len(self.plan.sizes) - 1):
            raise NoDataError(_NO_PAIRS)
        if truth is not None:
            panels["really"] = truth
        return heat(self.plan.domain.names, panels, path, self.tree().edges, ax)

    def synthetic(self, count: int, rng: Rng | None = None) -> list[dict[str, str]]:
        """Return synthetic records like those of the population, drawn from the Chow-Liu tree."""
        domain = self.plan.domain
        records = self.tree().records(count, rng or SystemRng())
        labels = [attribute.labels for attribute in domain.attributes]
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
                f"a marginal needs attributes of this task, each once: {', '.join(known)}"
            )
        return tuple(sorted(known.index(name) for name in names))

    def _estimate(self, table: MarginalTable) -> Estimate:
        users = self.users
        noise = JointNoise(table.covariance * users**2)
        raw = None if table.raw is None else self._estimate(table.raw)
        votes = table.shares.ravel() * users
        estimate = Estimate(votes, noise, users, self.epsilon, steps=table.steps, raw=raw)
        return replace(estimate, law=table.law, coins_checked=self.coins_checked)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.shuffled)

    def select(self, names: Sequence[str]) -> Answer:
        return self.marginal(*names)

    def highlights(self) -> Answers:
        """Return the tables of single attributes, and that of the pair that depends the most."""
        shown: list[tuple[str, ...]] = [(name,) for name in self.plan.domain.names]
        pairs = self.views().pairs
        if pairs is not None:
            index = {name: position for position, name in enumerate(pairs.names)}

            def information(edge: tuple[str, str]) -> float:
                return pairs.numbers[index[edge[0]]][index[edge[1]]]

            shown += sorted(pairs.edges, key=information, reverse=True)[:1]
        tables = [self.marginal(*names) for names in shown]
        return Answers(self.name, {table.name: table for table in tables})

    def views(self, names: Sequence[str] = ()) -> SideViews:
        """Return the mutual information of all pairs with their tree, and a test of two names."""
        remarks = (self._remark_on(*names),) if len(names) == 2 else ()
        return SideViews(self._pairs(), (*remarks, *self._remark_on_pairs()))

    def _remark_on_pairs(self) -> tuple[str, ...]:
        """Return in a sentence how many pairs nobody was asked about, if there are any."""
        pairs = list(combinations(range(len(self.plan.sizes)), 2))
        if not self._compares_pairs:
            return ()
        unknown = sum(self.table(pair).guessed for pair in pairs)
        if not unknown:
            return ()
        return (
            f"Nobody was asked about {unknown} of the {len(pairs)} pairs of attributes together:"
            " their tables assume what is most even, and say nothing about dependence.",
        )

    def _remark_on(self, first: str, second: str) -> str:
        """Return in a sentence whether two attributes are independent."""
        try:
            return self.dependence(first, second).remark
        except NoDataError as error:
            return f"Whether these attributes are independent cannot be said: {error}."

    @property
    def _compares_pairs(self) -> bool:
        """Return whether all pairs are few and small enough to be compared."""
        sizes = self.plan.sizes
        few = 2 <= len(sizes) <= _MAX_ATTRIBUTES
        return few and prod(sorted(sizes)[-2:]) <= MAX_LISTED_CELLS

    def _pairs(self) -> PairView | None:
        """Return the mutual information of all pairs; None if it is unknown or too much to compute.

        It is unknown where the model has no table of some pair: a baseline that asked about single
        attributes, or a view that nobody's coin picked.
        """
        if not self._compares_pairs:
            return None
        try:
            information = self.information()
            edges = self.tree().edges
        except (ParameterError, NoDataError):
            return None
        if np.isnan(information).any():
            return None
        names = self.plan.domain.names
        return PairView(
            "Mutual information of every pair of attributes",
            "nats",
            names,
            tuple(map(tuple, information.tolist())),
            tuple((names[first], names[second]) for first, second in edges),
        )


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
            views += [
                pair for pair in pairs if prod(shape_of(plan.sizes, pair)) <= MAX_LISTED_CELLS
            ]
        named = [tuple(plan.domain.names[attribute] for attribute in view) for view in views]
        return {TOGETHER.join(names): names for names in named}

    def __getitem__(self, name: str) -> Answer:
        return self._answers.marginal(*self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
