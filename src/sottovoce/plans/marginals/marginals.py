"""Joint tables of several attributes from one report per person.

The plan collects and answers in these steps, each in a file of its own:

    1. view_planning.py    choose views (sets of attributes) by the expected error of tables
       typical_tables.py   how strongly attributes depend on each other, before anybody is asked
       covering.py         views that contain every set of some size
    2. reported_views.py   every person reports the cell of one view, picked by a public coin
       marginal_table.py   a view becomes a table of shares with the covariance of its cells
    3. components.py       interactions are pooled over all views, with the weights of least squares
       single_attributes.py  shares of single attributes, learnt from all of them
       shrinkage.py        how far to believe each, learnt from all of them
       common_factors.py   what many pairs have in common predicts each of them
       shrunken_components.py  both, order by order, with draws of what the truth may be
    4. consistency.py      negative cells are removed, and views are made to agree
       maximum_entropy.py  what no view contains is the table with the most entropy
       pooled_tables.py    steps 3 and 4, with errors
    5. marginal_answers.py tables as answers by name; what else they say:
       independence.py     a test of independence that knows the noise
       chow_liu.py         mutual information, the Chow-Liu tree, synthetic records

``advice.py`` states the expected error before anybody is asked.  The published methods are
baselines of the laboratory: lab/baselines/marginals.  One of them, CALM, was the product's own;
tasks from that time are still read, and view_selection.py finds the views of their documents.

Source: Wang 2021, chapter 6; Cormode 2018.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from sottovoce.answers.measure import Measure
from sottovoce.answers.outcome import Outcome
from sottovoce.core.settings import choice, open_share, whole
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.marginal_answers import MAX_LISTED_CELLS, MarginalAnswers
from sottovoce.plans.marginals.marginal_table import Model, View, shape_of
from sottovoce.plans.marginals.pooled_tables import PooledTables
from sottovoce.plans.marginals.reported_views import ReportedViews, ask_views
from sottovoce.plans.marginals.view_planning import METHOD, RULES, ViewPlanning
from sottovoce.plans.marginals.view_selection import THRESHOLD, ViewSelection
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round

PUBLISHED = "calm"  # of tasks from before the method was our own
DEFAULT_USERS = 100_000
MAX_USERS = 1 << 53
MAX_VALUES = 1 << 20  # of one attribute


@dataclass(frozen=True, init=False)
class Marginals(Plan, kind="marginals"):
    """Ask for the joint tables of up to ``order`` attributes, of which any can be estimated later.

    ``users`` is how many people are expected to answer: views are chosen for so many.
    ``view_size`` is how many attributes one person reports together.  By default it is the number
    with the least expected error, which with few users or a small epsilon is 1: then tables are
    products, and dependence is not measured.  Ask for 2 to test independence all the same.

    ``method`` is stated in task documents and answers, and says how views were chosen; "pooled" is
    an earlier rule.  Documents that state "calm" have the views of that method, with its
    ``threshold``.  Answers are computed in the same way for all.
    """

    takes_fakes = True

    domain: Records
    users: int
    order: int
    method: str
    threshold: float | None = None
    view_size: int = field(default=0, metadata={"omitted": True})

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        users: int = DEFAULT_USERS,
        order: int = 3,
        view_size: int = 0,
        *,
        method: str = METHOD,
        threshold: float | None = None,
    ) -> None:
        records = _records(domain)
        object.__setattr__(self, "domain", records)
        object.__setattr__(self, "users", whole("users", users, 1, MAX_USERS))
        object.__setattr__(self, "order", whole("order", order, 1, len(records.attributes)))
        object.__setattr__(self, "method", choice("method", method, [*RULES, PUBLISHED]))
        object.__setattr__(self, "threshold", self._threshold(threshold))
        sizes = 0 if method == PUBLISHED else len(records.attributes)
        object.__setattr__(self, "view_size", whole("view_size", view_size, 0, sizes))

    def _threshold(self, threshold: float | None) -> float | None:
        """Return the threshold of the published method, which no other has."""
        if self.method == PUBLISHED:
            return open_share("threshold", THRESHOLD if threshold is None else threshold)
        if threshold is not None:
            raise ParameterError(f'`threshold` must be left out unless `method` is "{PUBLISHED}"')
        return None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values every attribute has."""
        return tuple(attribute.size for attribute in self.domain.attributes)

    def step(self, collected: Collected) -> Round | MarginalAnswers:
        if not collected.rounds:
            return Round(0, self.ask(collected.epsilon))
        model = self.model(collected)
        checked = collected.coins_checked
        return MarginalAnswers.of(self, model, collected.epsilon, coins_checked=checked)

    def ask(self, epsilon: float) -> Ask:
        """Return the question that every person is asked."""
        # Documents of the published method are older than subset selection of views.
        rule = "least variance" if self.threshold is None else "grr or affine"
        return ask_views(epsilon, self.sizes, self.views(epsilon), rule)

    def model(self, collected: Collected) -> Model:
        """Return the tables estimated from the reports."""
        return PooledTables(ReportedViews.read(collected), self.sizes)

    def views(self, epsilon: float) -> tuple[View, ...]:
        """Return the views that are asked about."""
        if self.threshold is not None:
            published = ViewSelection(self.users, self.sizes, epsilon, self.order, self.threshold)
            return published.views()
        return self.planning(self.users, epsilon).views()

    def planning(self, users: int, epsilon: float) -> ViewPlanning:
        """Return the planning from which views are chosen for ``users`` people."""
        method = METHOD if self.method == PUBLISHED else self.method
        return ViewPlanning(users, self.sizes, epsilon, self.order, self.view_size, method)

    # --- how the plan describes itself ---

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
        view = tuple(self.domain.names.index(name) for name in chosen)
        if prod(shape_of(self.sizes, view)) > MAX_LISTED_CELLS:
            raise ParameterError(
                f"a table on request has at most {MAX_LISTED_CELLS:,} cells: name fewer attributes"
            )
        return outcome.select(chosen)

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the named attributes in the order of the task.

        >>> Marginals({"a": ["x", "y"], "b": ["x", "y"]}, users=10, order=1).named(["b,a"])
        ('a', 'b')
        """
        known = self.domain.names
        split: list[str] = []
        for text in names:
            split += [text] if text in known else text.split(",")
        if not split or set(split) - set(known) or len(set(split)) < len(split):
            raise ParameterError(
                f"a marginal needs attributes of this task, each once: {', '.join(known)}"
            )
        return tuple(sorted(split, key=known.index))

    def advise(self, users: int, epsilon: float) -> Advice:
        from sottovoce.plans.marginals.advice import advise_marginals

        return advise_marginals(users, self.sizes, epsilon, self.order, self.view_size)

    def truth(self, values: Any, outcome: Outcome) -> dict[str, dict[str, float]]:
        from sottovoce.plans.marginals import truth

        records = self.domain.indices(values)
        return {
            name: truth.counts(self, records, truth.view_named(self, name))
            for name in outcome.questions()
        }

    def assess(self, values: Any, outcome: Outcome) -> tuple[Measure, ...]:
        from sottovoce.plans.marginals import truth

        return truth.measures(self, self.domain.indices(values), outcome)

    def draw(self, path: Path, values: Any, outcome: Outcome, level: float = 0.95) -> None:
        """Draw the heat map of all pairs, estimated and real."""
        from sottovoce.plans.marginals import truth

        information = truth.information(self, self.domain.indices(values))
        outcome.heat(path, truth=information)  # type: ignore[attr-defined]


def _records(domain: Records | Mapping[str, Domain | Iterable[Any]]) -> Records:
    """Return the domain of a plan, or refuse attributes that have no joint table."""
    if not isinstance(domain, Records):
        attributes = tuple(domain_of(values) for values in domain.values())
        domain = Records(tuple(domain), attributes)
    for name, attribute in zip(domain.names, domain.attributes, strict=True):
        if not isinstance(attribute, (Categories, Integers)):
            raise ParameterError(
                f"attribute {name!r} of `domain` must be of class Categories or Integers"
            )
        if attribute.size > MAX_VALUES:
            raise ParameterError(
                f"attribute {name!r} of `domain` must have at most {MAX_VALUES:,} values"
            )
    return domain
