"""Several attributes at once: any table of a few of them, from one report per person.

Source: Cormode 2018; Wang 2021, chapter 6.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import TOGETHER, Answers
from sottovoce.answers.export import optional
from sottovoce.answers.guarantee import Guarantee
from sottovoce.answers.measure import Measure
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.side_views import PairView, SideViews
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import JointNoise
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals import full, hadamard, input_em, views
from sottovoce.plans.marginals.calm import Calm
from sottovoce.plans.marginals.independence import Dependence, dependence
from sottovoce.plans.marginals.planning import THRESHOLD, layout
from sottovoce.plans.marginals.planning import views as chosen_views
from sottovoce.plans.marginals.structure import Tree, chow_liu, mutual_information, pairwise
from sottovoce.plans.marginals.tables import Model, Table, View
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round

USERS = 100_000
_MOST_PAIRS = 150  # tables of two attributes that an answer lists by itself,
_MOST_CELLS = 1024  # and their cells: the covariance is the square of that
_MOST_USERS, _MOST_VALUES = 1 << 53, 1 << 20
_MOST_ATTRIBUTES = 24  # of which all pairs are looked at
_REMEMBERED = 512  # tables that an answer does not make again

METHODS = (
    *("calm", "inp_ht", "inp_rr", "inp_ps", "inp_olh", "inp_htcms", "inp_em"),
    *("marg_rr", "marg_ps", "marg_ht", "fc", "am"),
)


@dataclass(frozen=True, init=False)
class Marginals(Plan, kind="marginals"):
    """Ask everybody about one part of their record, so that any table of up to ``order`` attributes can be estimated.

    ``users`` is how many people are expected to answer: CALM chooses its views for so many.
    """

    domain: Records
    users: int
    order: int
    method: str
    threshold: float

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        users: int = USERS,
        order: int = 3,
        method: str = "calm",
        threshold: float = THRESHOLD,
    ) -> None:
        if not isinstance(domain, Records):
            domain = Records(tuple(domain), tuple(domain_of(values) for values in domain.values()))
        if not all(isinstance(one, (Categories, Integers)) for one in domain.attributes):
            raise ParameterError("marginals are of attributes with labels or whole numbers")
        if type(order) is not int or not 1 <= order <= len(domain.attributes) or method not in METHODS:
            raise ParameterError(f"an order is from 1 to all attributes, a method one of {', '.join(METHODS)}")
        if not 0 < threshold < 1:
            raise ParameterError("a threshold lies between 0 and 1")
        if type(users) is not int or not 1 <= users <= _MOST_USERS:
            raise ParameterError("at least one user is expected, and at most 2^53 are")
        if max(one.size for one in domain.attributes) > _MOST_VALUES:
            raise ParameterError(f"an attribute has at most {_MOST_VALUES:,} values")
        settings = {"domain": domain, "users": users, "order": order, "method": method, "threshold": float(threshold)}
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values every attribute has."""
        return tuple(one.size for one in self.domain.attributes)

    def step(self, collected: Collected) -> Round | Answers:
        if not collected.rounds:
            return Round(0, self._ask(collected.epsilon))
        return Tables.of(self, _MODELS[self.method](self, collected), collected.epsilon)

    def _ask(self, epsilon: float) -> Ask:
        return _ASKS[self.method](self, epsilon)

    def views(self, epsilon: float) -> tuple[View, ...]:
        """Return the views that CALM asks about."""
        chosen = layout(self.users, self.sizes, epsilon, self.order, self.threshold)
        return chosen_views(chosen, len(self.sizes), self.order)

    @property
    def subsets(self) -> tuple[View, ...]:
        """Return all sets of as many attributes as the order says."""
        return tuple(combinations(range(len(self.sizes)), self.order))

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for cells of a joint table, which do not all have the same error."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(equal_errors=False))

    @property
    def unprocessed(self) -> str:
        return "as the task's own method gives them"

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.domain.names

    def select(self, outcome: Outcome, names: Sequence[str]) -> Outcome:
        """Return the table of some attributes, named one at a time or with commas between them."""
        chosen = self.named(names)
        size_of = dict(zip(self.domain.names, self.sizes, strict=True))
        if prod(size_of[name] for name in chosen) > _MOST_CELLS:
            raise ParameterError(f"a table on request has at most {_MOST_CELLS:,} cells: name fewer attributes")
        return outcome.select(chosen)

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the attributes that somebody names, in the order of the task.

        >>> Marginals({"a": ["x", "y"], "b": ["x", "y"]}, users=10, order=1, method="fc").named(["b,a"])
        ('a', 'b')
        """
        known = self.domain.names
        split = [part for text in names for part in ([text] if text in known else text.split(","))]
        if not split or set(split) - set(known) or len(set(split)) < len(split):
            raise ParameterError(f"a marginal is of some of the attributes {', '.join(known)}, each once")
        return tuple(sorted(split, key=known.index))

    def advise(self, users: int, epsilon: float) -> Advice:
        from sottovoce.plans.marginals.advice import advise_marginals

        return advise_marginals(users, self.sizes, epsilon, self.order)

    def truth(self, values: Any, outcome: Outcome) -> dict[str, dict[str, float]]:
        from sottovoce.plans.marginals import truth

        records = self.domain.indices(values)
        return {name: truth.counts(self, records, truth.view_named(self, name)) for name in outcome.questions()}

    def assess(self, values: Any, outcome: Outcome) -> tuple[Measure, ...]:
        from sottovoce.plans.marginals import truth

        return truth.measures(self, self.domain.indices(values), outcome)

    def draw(self, path: Path, values: Any, outcome: Outcome, level: float = 0.95) -> None:
        """Draw the heat map of all pairs, estimated and real."""
        from sottovoce.plans.marginals import truth

        outcome.heat(path, truth=truth.information(self, self.domain.indices(values)))  # type: ignore[attr-defined]


_ASKS: dict[str, Callable[[Marginals, float], Ask]] = {
    "calm": lambda plan, epsilon: views.ask(epsilon, plan.sizes, plan.views(epsilon)),
    "inp_ht": lambda plan, epsilon: hadamard.ask(epsilon, plan.sizes, plan.order),
    "inp_rr": lambda plan, epsilon: full.ask(epsilon, plan.sizes, "oue"),
    "inp_ps": lambda plan, epsilon: full.ask(epsilon, plan.sizes, "grr"),
    "inp_olh": lambda plan, epsilon: full.ask(epsilon, plan.sizes, "olh"),
    "inp_htcms": lambda plan, epsilon: full.ask(epsilon, plan.sizes, "hcms"),
    "inp_em": lambda plan, epsilon: input_em.ask(epsilon, plan.sizes),
    "fc": lambda plan, epsilon: full.ask(epsilon, plan.sizes),
    "marg_rr": lambda plan, epsilon: views.ask(epsilon, plan.sizes, plan.subsets, "oue"),
    "marg_ps": lambda plan, epsilon: views.ask(epsilon, plan.sizes, plan.subsets, "grr"),
    "am": lambda plan, epsilon: views.ask(epsilon, plan.sizes, plan.subsets),
    "marg_ht": lambda plan, epsilon: hadamard.ask(epsilon, plan.sizes, plan.order, within=True),
}
_MODELS: dict[str, Callable[[Marginals, Collected], Model]] = {
    "calm": lambda plan, collected: Calm(views.Reported.read(collected), plan.sizes),
    "inp_em": lambda plan, collected: input_em.InputEM.read(collected),
    **dict.fromkeys(("inp_ht", "marg_ht"), lambda plan, collected: hadamard.Spectrum.read(collected)),
    **dict.fromkeys(
        ("inp_rr", "inp_ps", "inp_olh", "inp_htcms", "fc"),
        lambda plan, collected: full.Whole.read(plan.sizes, collected),
    ),
    **dict.fromkeys(("marg_rr", "marg_ps", "am"), lambda plan, collected: views.Reported.read(collected)),
}


@dataclass(frozen=True, eq=False)
class Tables(Answers):
    """The tables of single attributes and of pairs, by name, and any other on request."""

    plan: Marginals
    model: Model
    epsilon: float
    made: dict[View, Table] = field(default_factory=dict, repr=False)  # so far

    @property
    def users(self) -> int:
        return self.model.users

    def table(self, view: View) -> Table:
        """Return the table of a view, made once."""
        found = self.made.get(view)
        if found is None:
            found = self.model.table(view)
            if len(self.made) >= _REMEMBERED:
                self.made.clear()
            self.made[view] = found
        return found

    @classmethod
    def of(cls, plan: Marginals, model: Model, epsilon: float) -> "Tables":
        """Return the answer of a collection."""
        made = cls("marginals", {}, plan, model, epsilon)
        object.__setattr__(made, "parts", _Listed(made))
        return made

    def marginal(self, *names: str) -> Answer:
        """Return the table of some attributes as one answer, with the covariance of its cells."""
        view, known = self._view(names), self.plan.domain.names
        table = self.table(view)
        labels = [self.plan.domain.attributes[one].labels for one in view]
        cells = tuple(TOGETHER.join(cell) for cell in product(*labels))
        title = TOGETHER.join(known[one] for one in view)
        return Answer(title, cells, self._estimate(table), self.plan.method)

    def kept(self) -> Answers | None:
        """Return the listed tables where reports are needed for any other, nothing where their sums are enough."""
        unsummed = isinstance(self.model, input_em.InputEM) and not self.model.mechanism.has_tally
        return Answers(self.name, dict(self.parts)) if unsummed else None

    def dependence(self, one: str, other: str) -> Dependence:
        """Return whether two attributes hang together, by a test that knows the noise of their table."""
        return dependence(self.table(self._view((one, other))), self.users)

    def information(self) -> Floats:
        """Return (attributes, attributes): the mutual information of every pair, in nats."""
        return pairwise(len(self.plan.sizes), lambda pair: mutual_information(self.table(pair).shares))

    def tree(self) -> Tree:
        """Return the tree that joins the attributes by the most mutual information (Chow-Liu)."""
        return chow_liu(self, len(self.plan.sizes))

    def heat(self, path: str | Path | None = None, *, truth: Floats | None = None) -> Any:
        """Draw how much every pair of attributes tells about each other, the tree's pairs framed."""
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import heat

        panels = {"estimated": self.information(), **({} if truth is None else {"really": truth})}
        return heat(self.plan.domain.names, panels, path, self.tree().edges)

    def synthetic(self, count: int, rng: Rng | None = None) -> list[dict[str, str]]:
        """Return invented records that look like the population: drawn from the tree, nobody's own."""
        names, attributes = self.plan.domain.names, self.plan.domain.attributes
        drawn = self.tree().records(count, rng or SystemRng())
        labels: list[tuple[str, ...]] = [one.labels for one in attributes]
        return [
            {name: labels[place][cell] for place, (name, cell) in enumerate(zip(names, row, strict=True))}
            for row in drawn
        ]

    def _view(self, names: tuple[str, ...]) -> View:
        known = self.plan.domain.names
        if not names or set(names) - set(known) or len(set(names)) < len(names):
            raise ParameterError(f"a marginal is of some of the attributes {', '.join(known)}, each once")
        return tuple(sorted(known.index(name) for name in names))

    def _estimate(self, table: Table) -> Estimate:
        users = self.users
        noise = JointNoise(table.covariance * users**2)
        raw = None if table.raw is None else self._estimate(table.raw)
        return Estimate(table.shares.ravel() * users, noise, users, self.epsilon, steps=table.steps, raw=raw)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon)

    def select(self, names: Sequence[str]) -> Answer:
        return self.marginal(*names)

    def highlights(self) -> Answers:
        """Return the tables of single attributes, and that of the pair that tells the most."""
        shown: list[tuple[str, ...]] = [(name,) for name in self.plan.domain.names]
        pairs = self.views().pairs
        if pairs is not None:
            index = {name: place for place, name in enumerate(pairs.names)}
            strongest = sorted(pairs.edges, key=lambda edge: -pairs.numbers[index[edge[0]]][index[edge[1]]])
            shown += strongest[:1]
        tables = [self.marginal(*names) for names in shown]
        return Answers(self.name, {table.name: table for table in tables})

    def views(self, names: Sequence[str] = ()) -> SideViews:
        """Return the mutual information of all pairs with their tree, and a test of two named attributes."""
        remarks = (self._remark_on(*names),) if len(names) == 2 else ()
        return SideViews(self._pairs(), remarks)

    def _remark_on(self, first: str, second: str) -> str:
        """Return in a sentence whether two attributes are independent."""
        try:
            return self.dependence(first, second).remark
        except NoDataError as error:
            return f"Whether these attributes are independent cannot be said: {error}."

    def _pairs(self) -> PairView | None:
        """Return what pairs tell about each other; None where reports do not say, or pairs are too many."""
        largest = sorted(self.plan.sizes)[-2:]
        if not 2 <= len(self.plan.sizes) <= _MOST_ATTRIBUTES or prod(largest) > _MOST_CELLS:
            return None
        try:
            information, edges = self.information(), self.tree().edges
        except (ParameterError, NoDataError):
            return None  # a method that asked about no pairs, or nobody whose coin fell on some
        names = self.plan.domain.names
        return PairView(
            "Mutual information of every pair of attributes",
            "nats",
            names,
            tuple(map(tuple, information.tolist())),
            tuple((names[first], names[second]) for first, second in edges),
        )


class _Listed(Mapping[str, Answer]):
    """The tables that an answer lists by itself, made when they are looked at."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        plan = self._tables.plan
        pairs = list(combinations(range(len(plan.sizes)), 2)) if plan.order > 1 else []
        small = [pair for pair in pairs if prod(plan.sizes[one] for one in pair) <= _MOST_CELLS]
        listed = [*((one,) for one in range(len(plan.sizes))), *(small if len(pairs) <= _MOST_PAIRS else [])]
        named = [tuple(plan.domain.names[one] for one in view) for view in listed]
        return {TOGETHER.join(one): one for one in named}

    def __getitem__(self, name: str) -> Answer:
        return self._tables.marginal(*self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
