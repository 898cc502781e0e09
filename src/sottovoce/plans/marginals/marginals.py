"""Joint tables of several attributes from one report per person (CALM).

The plan collects and answers in these steps, each in a file of its own:

    1. view_selection.py   choose few views (sets of attributes) for the expected number of users
       covering.py         views that contain every set of some size
    2. reported_views.py   every person reports the cell of one view, picked by a public coin
       marginal_table.py   a view becomes a table of shares with the covariance of its cells
    3. consistency.py      views that overlap are made to agree, and negative cells are removed
    4. maximum_entropy.py  what no view contains is the table with the most entropy
       calm.py             steps 3 and 4, with errors from replicates
    5. marginal_answers.py tables as answers by name; what else they say:
       independence.py     a test of independence that knows the noise
       chow_liu.py         mutual information, the Chow-Liu tree, synthetic records

``advice.py`` states the expected error before anybody is asked.  The other published methods are
baselines of the laboratory: lab/baselines/marginals.

Source: Wang 2021, chapter 6; Cormode 2018.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.core.settings import open_share, whole
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.calm import Calm
from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
from sottovoce.plans.marginals.marginal_table import Model, View
from sottovoce.plans.marginals.reported_views import ReportedViews, ask_views
from sottovoce.plans.marginals.view_selection import THRESHOLD, ViewSelection
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import Round

DEFAULT_USERS = 100_000
MAX_USERS = 1 << 53
MAX_VALUES = 1 << 20  # of one attribute


@dataclass(frozen=True, init=False)
class Marginals(Plan, kind="marginals"):
    """Ask for the joint tables of up to ``order`` attributes, of which any can be estimated later.

    ``users`` is how many people are expected to answer: views are chosen for so many.  ``threshold`` is
    the error of a table that views may leave, as published; with a larger one there are more and
    larger views.
    """

    domain: Records
    users: int
    order: int
    threshold: float

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        users: int = DEFAULT_USERS,
        order: int = 3,
        threshold: float = THRESHOLD,
    ) -> None:
        records = _records(domain)
        object.__setattr__(self, "domain", records)
        object.__setattr__(self, "users", whole("users", users, 1, MAX_USERS))
        object.__setattr__(self, "order", whole("order", order, 1, len(records.attributes)))
        object.__setattr__(self, "threshold", open_share("threshold", threshold))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values every attribute has."""
        return tuple(attribute.size for attribute in self.domain.attributes)

    @property
    def method_name(self) -> str:
        """Return the name of the method, as answers state it."""
        return "calm"

    def step(self, collected: Collected) -> Round | MarginalAnswers:
        if not collected.rounds:
            return Round(0, self.ask(collected.epsilon))
        return MarginalAnswers.of(self, self.model(collected), collected.epsilon)

    def ask(self, epsilon: float) -> Ask:
        """Return the question that every person is asked."""
        return ask_views(epsilon, self.sizes, self.views(epsilon))

    def model(self, collected: Collected) -> Model:
        """Return what the reports say about tables."""
        return Calm(ReportedViews.read(collected), self.sizes)

    def views(self, epsilon: float) -> tuple[View, ...]:
        """Return the views that are asked about."""
        return ViewSelection(self.users, self.sizes, epsilon, self.order, self.threshold).views()


def _records(domain: Records | Mapping[str, Domain | Iterable[Any]]) -> Records:
    """Return the domain of a plan, or refuse attributes that have no joint table."""
    if not isinstance(domain, Records):
        attributes = tuple(domain_of(values) for values in domain.values())
        domain = Records(tuple(domain), attributes)
    for name, attribute in zip(domain.names, domain.attributes, strict=True):
        if not isinstance(attribute, (Categories, Integers)):
            raise ParameterError(f"attribute {name!r} of `domain` must be of class Categories or Integers")
        if attribute.size > MAX_VALUES:
            raise ParameterError(f"attribute {name!r} of `domain` must have at most {MAX_VALUES:,} values")
    return domain
