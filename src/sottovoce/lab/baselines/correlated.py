"""Several correlated attributes in one report: correlation-bounded perturbation (CBP), in groups CBPS.

Every attribute is told by direct response, with more noise the more the others tell of it.  Under local differential
privacy, which is what a task is charged for, that is one way to split a budget over attributes; asking each person
about one attribute (``Survey``) is mostly better at that price.  This is for those who want univariate dominance LDP
(UDLDP), and have read below what it is not.

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
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.encodings.view import View
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.attribute_groups import Group, Grouping
from sottovoce.lab.baselines.correlation_bounds import Leaks, Rows, Ties, audit, check_agreements
from sottovoce.lab.baselines.waiver import WaivedQuestion
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.product import Product
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

PAIRWISE = "pairwise, conditionally independent"
TABLE = "table"
MOST_MEMBERS = 1024  # combinations of groups, one of each cluster
_PARTS = 10_000  # of the users, that the weights of the groups of a cluster tell apart


@dataclass(frozen=True, init=False)
class Correlated(Plan, kind="cbp", wire=False):
    """Ask everybody about all attributes, or about one group of each cluster, so that UDLDP holds at ``udldp``.

    ``agreements`` are how often each pair of binary attributes has equal values; ``tables``, the joint tables of the
    pairs inside each cluster, serve attributes of any size and skew.  Attributes of different clusters are taken to be
    independent of each other, whatever agreements say.  ``group`` is how many attributes of a cluster one person is
    asked about: 0 means all of them.

    UDLDP bounds what the whole report tells of ONE attribute, averaged over what the others usually are.  It is not:
    local differential privacy of the record, which costs ``epsilon_record``, the sum over the attributes that are sent,
    also where they are independent; a property of the randomiser alone, since it rests on the stated correlations being
    true of all people; a worst case, since it takes the other attributes to be independent given the one: joint
    distributions with the same agreements exceed it (claimed 1, true 1.22 with three attributes that agree at 0.8).

    A task is therefore charged ``epsilon_record``.  Only with a ``waiver``, the operator's statement in writing that
    devices show to their owners and refuse by default, is it charged ``udldp``.
    """

    domain: Records
    udldp: float
    agreements: Rows
    tables: tuple[Rows, ...]
    clusters: tuple[Group, ...]
    group: int
    waiver: str

    def __init__(
        self,
        domain: Records | Mapping[str, Domain | Iterable[Any]],
        udldp: float,
        agreements: Sequence[Sequence[float]] = (),
        tables: Sequence[Sequence[Sequence[float]]] = (),
        clusters: Sequence[Sequence[int]] = (),
        group: int = 0,
        waiver: str = "",
    ) -> None:
        if not isinstance(domain, Records):
            domain = Records(tuple(domain), tuple(domain_of(values) for values in domain.values()))
        settings = {
            "domain": domain,
            "udldp": validators.epsilon("udldp", udldp),
            "agreements": _floats(agreements),
            "tables": tuple(_floats(table) for table in tables),
            "clusters": tuple(tuple(one) for one in clusters) or (tuple(range(len(domain.names))),),
            "group": group,
            "waiver": waiver,
        }
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        self._check()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values every attribute has."""
        return tuple(one.size for one in self.domain.attributes)

    @property
    def assumption(self) -> str:
        """Return what the weaker guarantee rests on."""
        return TABLE if self.tables else PAIRWISE

    @property
    def epsilon_record(self) -> float:
        """Return the epsilon of local differential privacy that a whole report spends at the most."""
        return max(one.mechanism.epsilon for one in self.questions)

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        """Return each cluster in groups; they number the attributes of their cluster."""
        made = []
        for cluster, ties in zip(self.clusters, self._ties(), strict=True):
            size = min(self.group or len(cluster), len(cluster))
            made.append(Grouping.greedy(ties, [self.sizes[one] for one in cluster], self.udldp, size))
        return tuple(made)

    @cached_property
    def picks(self) -> tuple[tuple[int, ...], ...]:
        """Return for every member of the choice which group of each cluster it asks about."""
        count = prod(len(one.groups) for one in self.groupings)
        if count > MOST_MEMBERS:
            raise ParameterError(f"the groups of all clusters combine in at most {MOST_MEMBERS} ways: make them larger")
        return tuple(product(*(range(len(one.groups)) for one in self.groupings)))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Return what may be asked, one question for each combination of groups."""
        return tuple(self._question(pick) for pick in self.picks)

    def step(self, collected: Collected) -> Round | Answers:
        if not collected.rounds:
            self._check_price(collected.epsilon)
            single = len(self.questions) == 1
            return Round(0, self.questions[0] if single else Choice(self.questions, self._weights()))
        return Answers("correlated", {name: self._answer(collected, name) for name in self.domain.names})

    def audit(self, joint: Floats, cluster: int = 0) -> tuple[Leaks, ...]:
        """Return what each group of a cluster really leaks if its attributes have this joint distribution."""
        grouping, axes, found = self.groupings[cluster], set(range(joint.ndim)), []
        if joint.shape != grouping.sizes:
            raise ParameterError("a joint distribution has one axis for every attribute of its cluster")
        for group, spent in zip(grouping.groups, grouping.spent, strict=True):
            found.append(audit(joint.sum(axis=tuple(axes - set(group))), [spent] * len(group)))
        return tuple(found)

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        if not self.waiver:
            return ()
        return (
            f"epsilon {self.udldp:g} is stated under UDLDP, which is weaker than local differential privacy and rests "
            f"on assumptions about the attributes; a whole report spends {self.epsilon_record:g}",
        )

    def _check(self) -> None:
        if not all(isinstance(one, (Categories, Integers)) for one in self.domain.attributes):
            raise ParameterError("correlated attributes have labels or are whole numbers")
        if not all(self.clusters) or sorted(sum(self.clusters, ())) != list(range(len(self.sizes))):
            raise ParameterError("clusters hold every attribute once, by its number")
        if any(list(cluster) != sorted(cluster) for cluster in self.clusters):
            raise ParameterError("the attributes of a cluster are in ascending order")
        if type(self.group) is not int or not 0 <= self.group <= max(map(len, self.clusters)):
            raise ParameterError("a group has at most all attributes of the largest cluster; 0 means all of each")
        if bool(self.agreements) == bool(self.tables) and max(map(len, self.clusters)) > 1:
            raise ParameterError("attributes hang together by their agreements or by joint tables, one of the two")
        if self.agreements and (set(self.sizes) != {2} or len(check_agreements(self.agreements)) != len(self.sizes)):
            raise ParameterError("agreements are of attributes with two values, one row for each")
        if self.waiver and not any(isinstance(question, WaivedQuestion) for question in self.questions):
            raise ParameterError("these reports spend no more than UDLDP states: there is nothing to waive")

    def _check_price(self, epsilon: float) -> None:
        needed = max(one.epsilon for one in self.questions)
        if exact.stated(epsilon) < exact.stated(needed):
            waivable = "" if self.waiver else ", the cost of a whole report (or a waiver in writing)"
            raise ParameterError(f"a task of this plan states an epsilon of at least {needed!r}{waivable}")

    def _ties(self) -> list[Ties]:
        if self.agreements:
            whole = Ties.of_agreements(self.agreements)
            return [whole.among(cluster) for cluster in self.clusters]
        left, made = list(self.tables), []
        for cluster in self.clusters:
            pairs = len(list(combinations(cluster, 2)))
            made.append(Ties.of_tables([self.sizes[one] for one in cluster], left[:pairs]))
            left = left[pairs:]
        if left:
            raise ParameterError("there is one joint table for every pair of attributes of a cluster")
        return made

    def _question(self, pick: Sequence[int]) -> Question:
        spent: dict[int, float] = {}
        for cluster, grouping, chosen in zip(self.clusters, self.groupings, pick, strict=True):
            spent |= {cluster[one]: grouping.spent[chosen] for one in grouping.groups[chosen]}
        columns = tuple(sorted(spent))
        sizes = tuple(self.sizes[one] for one in columns)
        record = exact.at_least(sum((exact.stated(spent[one]) for one in columns), start=exact.stated(0.0)))
        if record > validators.MAX_EPSILON:
            raise ParameterError(
                f"a whole report would spend more than {validators.MAX_EPSILON:g}: ask in smaller groups"
            )
        keeps = tuple(GRR(spent[one], size).keep for one, size in zip(columns, sizes, strict=True))
        mechanism, view = Product(record, prod(sizes), sizes, keeps), View(columns, sizes)
        if self.waiver and record > self.udldp:
            return WaivedQuestion(mechanism, view, self.udldp, self.waiver)
        return Question(mechanism, view)

    def _weights(self) -> tuple[int, ...]:
        """Return the weight of every member: the product of what its groups get of the users of their clusters."""
        split = sum(len(one.groups) > 1 for one in self.groupings)
        parts = [max(_parts(split), len(one.groups)) if len(one.groups) > 1 else 1 for one in self.groupings]
        shares = [one.users(count) for one, count in zip(self.groupings, parts, strict=True)]
        return tuple(prod(share[chosen] for share, chosen in zip(shares, pick, strict=True)) for pick in self.picks)

    def _answer(self, collected: Collected, name: str) -> Answer:
        column = self.domain.names.index(name)
        attribute, (cluster, chosen) = self.domain.attributes[column], self._place(column)
        assert isinstance(attribute, (Categories, Integers))
        members = [member for member, pick in enumerate(self.picks) if pick[cluster] == chosen]
        counts = sum(
            (_counts(collected, member, column) for member in members), start=np.zeros(attribute.size, np.int64)
        )
        if not counts.sum():
            raise NoDataError(f"attribute {name!r} has no reports yet")
        mechanism, axis = _found(collected, Address(0, members[0]), column)
        estimate = mechanism.responses[axis].estimate_counts(counts, int(counts.sum()))
        estimate = replace(estimate, epsilon=collected.epsilon).of(collected.users(0))
        kind = "product, UDLDP only" if self.waiver else "product"
        return Answer(name, attribute.labels, estimate, kind, details=self._details(column, estimate))

    def _place(self, column: int) -> tuple[int, int]:
        """Return the cluster of an attribute, and its group there."""
        cluster = next(place for place, one in enumerate(self.clusters) if column in one)
        own = self.clusters[cluster].index(column)
        return cluster, next(place for place, one in enumerate(self.groupings[cluster].groups) if own in one)

    def _details(self, column: int, estimate: Estimate) -> dict[str, Any]:
        cluster, chosen = self._place(column)
        together = [self.clusters[cluster][one] for one in self.groupings[cluster].groups[chosen]]
        alone = estimate.noise.variances(estimate.votes, estimate.users).max()
        return {
            "epsilon_udldp": self.udldp,
            "epsilon_record": self.epsilon_record,
            "assumption": self.assumption,
            "waiver": self.waiver,
            "asked_with": [self.domain.names[one] for one in together if one != column],
            "error_of_noise": float(np.sqrt(alone)) / estimate.users,  # of a share, as published: the drawing left out
        }


def _counts(collected: Collected, member: int, column: int) -> Ints:
    """Return how many reports of a member name each value of an attribute."""
    address = Address(0, member)
    mechanism, axis = _found(collected, address, column)
    try:
        if mechanism.has_tally:
            records = collected.tally(address)["records"].reshape(mechanism.sizes)
            return np.asarray(records.sum(axis=tuple(one for one in range(records.ndim) if one != axis)))
        batches = [mechanism.digits(batch)[axis] for batch in collected.reports(address)]
    except NoDataError:  # nobody's coin picked this member
        return np.zeros(mechanism.sizes[axis], np.int64)
    return np.bincount(np.concatenate(batches), minlength=mechanism.sizes[axis])


def _found(collected: Collected, address: Address, column: int) -> tuple[Product, int]:
    """Return the mechanism of a member, and which of its parts tells of an attribute."""
    question = collected.rounds[0].question(address)
    mechanism, view = question.mechanism, question.encoding
    assert isinstance(mechanism, Product)
    assert isinstance(view, View)
    return mechanism, view.columns.index(column)


def _parts(split: int) -> int:
    """Return into how many parts the users of a cluster are cut, so that the products of weights stay below 2^32."""
    parts = _PARTS
    while split and parts**split >= 1 << 32:
        parts = parts * 9 // 10
    return parts


def _floats(rows: Sequence[Sequence[float]]) -> Rows:
    return tuple(tuple(float(one) for one in row) for row in rows)
