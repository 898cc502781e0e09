"""Several correlated attributes in one report: correlation-bounded perturbation (CBP, CBPS).

Every attribute is reported by GRR, with more noise the more the other attributes reveal about it.
Under local differential privacy, which is what a task is charged for, that is one way to split a
budget over attributes; asking each person about one attribute (``Survey``) is mostly better at that
price.  The plan exists for the published guarantee, univariate dominance LDP (UDLDP), which is
weaker; the class below says what it is not.

Source: Du 2025, chapter 4.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings as validators
from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import ascending, entries, whole
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.encodings.view import View
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.attribute_groups import Group, Grouping
from sottovoce.lab.baselines.correlation_bounds import Leaks, Rows, Ties, audit, check_agreements
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.lab.baselines.waiver import WaivedQuestion
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

PAIRWISE = "pairwise, conditionally independent"
TABLE = "table"
MAX_MEMBERS = 1024  # combinations of groups, one of each cluster
_MAX_PARTS = 10_000  # into which the users of a cluster are divided by weights


@dataclass(frozen=True)
class Correlated(Plan, kind="cbp", wire=False):
    """Ask about all attributes, or one group of each cluster, so that UDLDP holds.

    ``udldp`` is its bound.

    ``agreements`` are how often each pair of binary attributes has equal values.  ``tables``, the
    joint tables of the pairs inside each cluster, serve attributes of any size and skew.
    Attributes of different clusters are taken to be independent, whatever agreements say.
    ``group`` is how many attributes of a cluster one person is asked about; 0 means all of them.

    UDLDP bounds what the whole report reveals about ONE attribute, averaged over what the others
    usually are.  It is not

    - local differential privacy of the record, which costs ``epsilon_record``, the sum over the
      attributes that are sent, even where they are independent;
    - a property of the randomiser alone: it assumes that the stated correlations are true of all
      people;
    - a worst case: it assumes that the other attributes are independent given the one.  Joint
      distributions with the same agreements exceed it (claimed 1, really 1.22 for three attributes
      that agree at 0.8).

    A task is therefore charged ``epsilon_record``.  Only with a ``waiver``, the operator's
    statement in writing, is it charged ``udldp``.
    """

    domain: Records  # or the values of every attribute by its name
    udldp: float
    agreements: Rows = ()
    tables: tuple[Rows, ...] = ()
    clusters: tuple[Group, ...] = ()
    group: int = 0
    waiver: str = ""

    def __post_init__(self) -> None:
        domain = _records(self.domain)
        everything = (tuple(range(len(domain.names))),)
        settings = {
            "domain": domain,
            "udldp": validators.epsilon("udldp", self.udldp),
            "agreements": _floats(self.agreements),
            "tables": tuple(_floats(table) for table in self.tables),
            "clusters": tuple(tuple(cluster) for cluster in self.clusters) or everything,
        }
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        self._check_clusters()
        self._check_correlations()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values every attribute has."""
        return tuple(attribute.size for attribute in self.domain.attributes)

    @property
    def assumption(self) -> str:
        """Return what the weaker guarantee rests on."""
        return TABLE if self.tables else PAIRWISE

    @property
    def epsilon_record(self) -> float:
        """Return the epsilon of local differential privacy that a whole report spends at most."""
        return max(question.mechanism.epsilon for question in self.questions)

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        """Return each cluster in groups, which number the attributes of their cluster."""
        groupings = []
        for cluster, ties in zip(self.clusters, self._ties(), strict=True):
            size = min(self.group or len(cluster), len(cluster))
            sizes = [self.sizes[attribute] for attribute in cluster]
            groupings.append(Grouping.greedy(ties, sizes, self.udldp, size))
        return tuple(groupings)

    def with_best_group(self, users: int, share: float = 0.5) -> "Correlated":
        """Return the plan whose groups have the size with the smallest errors for so many users.

        ``share`` is that of the people who hold a value whose error counts.
        """
        whole("users", users, 1)
        ties_of_clusters = self._ties()

        def error(size: int) -> float:
            total = 0.0
            for cluster, ties in zip(self.clusters, ties_of_clusters, strict=True):
                sizes = [self.sizes[attribute] for attribute in cluster]
                grouping = Grouping.greedy(ties, sizes, self.udldp, min(size, len(cluster)))
                total += grouping.total(users, share)
            return total

        largest = max(map(len, self.clusters))
        smallest = max(1, -(-largest // users))
        return replace(self, group=min(range(smallest, largest + 1), key=error))

    @cached_property
    def picks(self) -> tuple[tuple[int, ...], ...]:
        """Return for every member of the choice which group of each cluster it asks about."""
        count = prod(len(grouping.groups) for grouping in self.groupings)
        if count > MAX_MEMBERS:
            raise ParameterError(
                f"`group` must be larger: the groups combine in more than {MAX_MEMBERS} ways"
            )
        return tuple(product(*(range(len(grouping.groups)) for grouping in self.groupings)))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Return the questions, one for each combination of groups."""
        return tuple(self._question(pick) for pick in self.picks)

    def step(self, collected: Collected) -> Round | Answers:
        if collected.rounds:
            answers = {name: self._answer(collected, name) for name in self.domain.names}
            return Answers("correlated", answers)
        self._check_price(collected.epsilon)
        if len(self.questions) == 1:
            return Round(0, self.questions[0])
        return Round(0, Choice(self.questions, self._weights()))

    def audit(self, joint: Floats, cluster: int = 0) -> tuple[Leaks, ...]:
        """Return what each group of a cluster reveals, given the distribution of its attributes."""
        grouping = self.groupings[cluster]
        if joint.shape != grouping.sizes:
            raise ParameterError("`joint` must have one axis for every attribute of its cluster")
        leaks = []
        for group, spent in zip(grouping.groups, grouping.spent, strict=True):
            others = tuple(axis for axis in range(joint.ndim) if axis not in group)
            leaks.append(audit(joint.sum(axis=others), [spent] * len(group)))
        return tuple(leaks)

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        if not self.waiver:
            return ()
        return (
            f"epsilon {self.udldp:g} is stated under UDLDP, which is weaker than local differential"
            " privacy and rests on assumptions about the attributes; a whole report spends"
            f" {self.epsilon_record:g}",
        )

    def _check_clusters(self) -> None:
        for name, attribute in zip(self.domain.names, self.domain.attributes, strict=True):
            if not isinstance(attribute, (Categories, Integers)):
                raise ParameterError(
                    f"attribute {name!r} of `domain` must be of class Categories or Integers"
                )
        for cluster in self.clusters:
            entries("clusters", cluster, 1)
            ascending("clusters", cluster)
        members = sorted(attribute for cluster in self.clusters for attribute in cluster)
        if members != list(range(len(self.sizes))):
            raise ParameterError("`clusters` must contain every attribute once, by its number")
        whole("group", self.group, 0, max(map(len, self.clusters)))

    def _check_correlations(self) -> None:
        tied = max(map(len, self.clusters)) > 1
        if tied and bool(self.agreements) == bool(self.tables):
            raise ParameterError("give either `agreements` or `tables`, not both and not neither")
        if self.agreements and set(self.sizes) != {2}:
            raise ParameterError(
                "`agreements` need attributes of two values: give `tables` instead"
            )
        if self.agreements and len(check_agreements(self.agreements)) != len(self.sizes):
            raise ParameterError("`agreements` must have one row for every attribute")
        if self.waiver and not any(isinstance(each, WaivedQuestion) for each in self.questions):
            raise ParameterError(
                "`waiver` must be empty: these reports spend no more than UDLDP states"
            )

    def _check_price(self, epsilon: float) -> None:
        needed = max(question.epsilon for question in self.questions)
        if exact.stated(epsilon) < exact.stated(needed):
            advice = "" if self.waiver else ", the cost of a whole report (or give a `waiver`)"
            raise ParameterError(f"`epsilon` of the task must be at least {needed!r}{advice}")

    def _ties(self) -> list[Ties]:
        if self.agreements:
            everything = Ties.of_agreements(self.agreements)
            return [everything.among(cluster) for cluster in self.clusters]
        left = list(self.tables)
        ties = []
        for cluster in self.clusters:
            pairs = len(list(combinations(cluster, 2)))
            sizes = [self.sizes[attribute] for attribute in cluster]
            ties.append(Ties.of_tables(sizes, left[:pairs]))
            left = left[pairs:]
        if left:
            raise ParameterError("`tables` must have one joint table for every pair of a cluster")
        return ties

    def _question(self, pick: Sequence[int]) -> Question:
        spent: dict[int, float] = {}
        for cluster, grouping, chosen in zip(self.clusters, self.groupings, pick, strict=True):
            for member in grouping.groups[chosen]:
                spent[cluster[member]] = grouping.spent[chosen]
        columns = tuple(sorted(spent))
        sizes = tuple(self.sizes[column] for column in columns)
        parts = [exact.stated(spent[column]) for column in columns]
        record = exact.at_least(sum(parts, start=exact.stated(0.0)))
        if record > validators.MAX_EPSILON:
            raise ParameterError(
                "`group` must be smaller: a whole report would spend more than"
                f" {validators.MAX_EPSILON:g}"
            )
        pairs = zip(columns, sizes, strict=True)
        keeps = tuple(GRR(spent[column], size).keep for column, size in pairs)
        mechanism = ProductResponse(record, prod(sizes), sizes, keeps)
        if self.waiver and record > self.udldp:
            return WaivedQuestion(mechanism, View(columns, sizes), self.udldp, self.waiver)
        return Question(mechanism, View(columns, sizes))

    def _weights(self) -> tuple[int, ...]:
        """Return the weight of every member: the product of its groups' shares of the users."""
        split = sum(len(grouping.groups) > 1 for grouping in self.groupings)
        shares = []
        for grouping in self.groupings:
            count = len(grouping.groups)
            parts = max(_parts(split), count) if count > 1 else 1
            shares.append(grouping.users(parts))
        return tuple(_product_of_shares(shares, pick) for pick in self.picks)

    def _answer(self, collected: Collected, name: str) -> Answer:
        column = self.domain.names.index(name)
        attribute = self.domain.attributes[column]
        assert isinstance(attribute, (Categories, Integers))
        cluster, chosen = self._group_of(column)
        members = [member for member, pick in enumerate(self.picks) if pick[cluster] == chosen]
        counts = np.zeros(attribute.size, np.int64)
        for member in members:
            counts += _counts(collected, member, column)
        if not counts.sum():
            raise NoDataError(f"attribute {name!r} has no reports yet")
        mechanism, axis = _mechanism_of(collected, Address(0, members[0]), column)
        estimate = mechanism.responses[axis].estimate_counts(counts, int(counts.sum()))
        estimate = replace(estimate, epsilon=collected.epsilon).of(collected.users(0))
        kind = "product, UDLDP only" if self.waiver else "product"
        details = self._details(column, estimate)
        return Answer(name, attribute.labels, estimate, kind, details=details)

    def _group_of(self, column: int) -> tuple[int, int]:
        """Return the cluster of an attribute, and its group there."""
        cluster = next(index for index, members in enumerate(self.clusters) if column in members)
        own = self.clusters[cluster].index(column)
        groups = self.groupings[cluster].groups
        return cluster, next(index for index, group in enumerate(groups) if own in group)

    def _details(self, column: int, estimate: Estimate) -> dict[str, Any]:
        cluster, chosen = self._group_of(column)
        group = [
            self.clusters[cluster][member] for member in self.groupings[cluster].groups[chosen]
        ]
        noise_variance = estimate.noise.variances(estimate.votes, estimate.users).max()
        return {
            "epsilon_udldp": self.udldp,
            "epsilon_record": self.epsilon_record,
            "assumption": self.assumption,
            "waiver": self.waiver,
            "asked_with": [self.domain.names[member] for member in group if member != column],
            # of a share, as published: without the drawing of users
            "error_of_noise": float(np.sqrt(noise_variance)) / estimate.users,
        }


def _counts(collected: Collected, member: int, column: int) -> Ints:
    """Return how many reports of a member name each value of an attribute."""
    address = Address(0, member)
    mechanism, axis = _mechanism_of(collected, address, column)
    try:
        if mechanism.has_tally:
            records = collected.tally(address)["records"].reshape(mechanism.sizes)
            summed = tuple(index for index in range(records.ndim) if index != axis)
            return np.asarray(records.sum(axis=summed))
        batches = [mechanism.split(batch)[axis] for batch in collected.reports(address)]
    except NoDataError:  # nobody's coin picked this member
        return np.zeros(mechanism.sizes[axis], np.int64)
    return np.bincount(np.concatenate(batches), minlength=mechanism.sizes[axis])


def _mechanism_of(
    collected: Collected, address: Address, column: int
) -> tuple[ProductResponse, int]:
    """Return the mechanism of a member, and which of its parts reports an attribute."""
    question = collected.rounds[0].question(address)
    mechanism = question.mechanism
    view = question.encoding
    assert isinstance(mechanism, ProductResponse)
    assert isinstance(view, View)
    return mechanism, view.columns.index(column)


def _product_of_shares(shares: Sequence[Sequence[int]], pick: Sequence[int]) -> int:
    return prod(share[chosen] for share, chosen in zip(shares, pick, strict=True))


def _parts(split: int) -> int:
    """Return into how many parts the users of a cluster are cut.

    Products of weights stay below 2^32.
    """
    parts = _MAX_PARTS
    while split and parts**split >= 1 << 32:
        parts = parts * 9 // 10
    return parts


def _records(domain: Records | Mapping[str, Domain | Iterable[Any]]) -> Records:
    """Return the domain of records with these attributes."""
    if isinstance(domain, Records):
        return domain
    return Records(tuple(domain), tuple(domain_of(values) for values in domain.values()))


def _floats(rows: Sequence[Sequence[float]]) -> Rows:
    return tuple(tuple(float(number) for number in row) for row in rows)
