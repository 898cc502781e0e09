"""The covariance of the sums that a number is made of: measured, and held to the known law.

The measured covariance of two totals is the sum over people of the product of their parts, less
what that would be without noise.  For counts where everybody has one record, the latter is the
count itself (of two conditions, the smaller count).  For other numbers no more is known than

    (total * total) / users

so their errors include how people differ: a little too wide where there is little noise.

What is measured from few reports is itself uncertain: one person shows no spread at all, and a
label that nobody holds is hardly ever reported where epsilon is large.  But the noise has a known
law.  So the measured covariance of few people counts as much as they are beside ``PRIOR`` people of
whom only the law is known, and no variance is less than that of people who hold no cell with a part
in the total, which is the least there is.  A total without a private part has no noise.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.plans.tables.demand import Groups, Number, ScoreTotal
from sottovoce.plans.tables.predict import Prediction
from sottovoce.plans.tables.run import EngineRows
from sottovoce.plans.tables.select import QueryPlan

PRIOR = 20  # people of whom the law is known that what is measured is held against
MANY = 200  # people from which on their own reports tell enough
LARGE_EPSILON = 3.0  # of a record: noise becomes rare, and what is rare is not measured well


@dataclass(frozen=True, eq=False)
class LawOfNoise:
    """What is known about the noise of one person's part of some totals.

    ``even`` is the covariance if people were spread evenly over all values, ``least`` the variance
    of each total that nobody falls below.
    """

    even: Floats
    least: Floats


@dataclass(frozen=True, eq=False)
class Covariances:
    """The covariances of the numbers of a planned query."""

    plan: QueryPlan
    _laws: dict[tuple[Groups, tuple[int, ...]], LawOfNoise] = field(default_factory=dict)

    def of(self, part: EngineRows, groups: Groups, number: Number, group: int) -> Floats:
        """Return the covariance of the totals of a number in one public group.

        Moments of everybody are summed over all public groups.
        """
        measured = self._measured(part, number, group)
        noisy = np.array([self._is_noisy(self.plan.totals[total]) for total in number.totals], bool)
        users = _users_of_totals(part, number, group)
        if noisy.any() and (users.min() < MANY or self._rare):
            law = self._law(groups, number)
            shared = np.minimum.outer(users, users)  # people who have a part in both totals
            held = (shared * measured + PRIOR * shared * law.even) / (shared + PRIOR)
            measured = np.where(shared < MANY, held, measured)
            variances = np.maximum(np.diag(measured), users * law.least)
            measured[np.diag_indices_from(measured)] = variances
        return measured * np.outer(noisy, noisy)

    @cached_property
    def _rare(self) -> bool:
        return self.plan.layout.record_epsilon >= LARGE_EPSILON

    def _is_noisy(self, total: ScoreTotal) -> bool:
        return any(product.scores for product in total.products)

    def _measured(self, part: EngineRows, number: Number, group: int) -> Floats:
        totals = np.array(totals_of(part, number, group))
        users = max(_users(part, number, group), 1)
        if number.aggregate.separate:
            own = np.array([part.square(total, total, group) for total in number.totals])
            return np.diag(own - totals**2 / users)
        squares = np.array(
            [[part.square(left, right, group) for right in number.totals] for left in number.totals]
        )
        moments = number.aggregate.moments
        for index, (moment, total) in enumerate(zip(moments, number.totals, strict=True)):
            if moment.of_everybody:
                everywhere = range(len(part))
                squares[index, index] = sum(part.square(total, total, each) for each in everywhere)
        noiseless = np.outer(totals, totals) / users
        if number.aggregate.counts_records and self.one_record_each:
            noiseless = np.maximum(noiseless, np.minimum.outer(totals, totals))
        return np.asarray(squares - noiseless)

    @cached_property
    def one_record_each(self) -> bool:
        """Return whether everybody has one record in every table, so that the squares of a
        condition sum to it.
        """
        return not any(map(self.plan.layout.tables.most, self.plan.query.tables))

    def _law(self, groups: Groups, number: Number) -> LawOfNoise:
        key = (groups, number.totals)
        if key not in self._laws:
            self._laws[key] = self._known(groups, number)
        return self._laws[key]

    def _known(self, groups: Groups, number: Number) -> LawOfNoise:
        """Return the law of some totals: covariances from the variances of sums of two of them."""
        prediction = self.plan.prediction
        totals = [self.plan.totals[total] for total in number.totals]
        variances = np.array([prediction.variance(total) for total in totals])
        even = np.diag(variances)
        for left in range(len(totals)):
            for right in range(0 if number.aggregate.separate else left):
                slopes = [float(index in (left, right)) for index in range(len(totals))]
                both = self._variance_of_sum(groups, number, slopes)
                if both is not None:
                    shared = (both - variances[left] - variances[right]) / 2
                    even[left, right] = even[right, left] = shared
        least = np.array([prediction.least_variance(total) for total in totals])
        return LawOfNoise(even, least)

    def _variance_of_sum(self, groups: Groups, number: Number, slopes: list[float]) -> float | None:
        """Return the variance of a sum of totals; None for several products, whose variance is
        only bounded.
        """
        candidate = self.plan.prediction.candidate
        demand = candidate.demand.combined(number, groups, slopes)
        if len(demand.totals[0].products) > 1:
            return None
        return Prediction(candidate.of(demand)).variance(demand.totals[0])


def totals_of(part: EngineRows, number: Number, group: int) -> list[float]:
    """Return the totals of a number's moments; those of everybody are summed over all groups."""
    totals = []
    for moment, total in zip(number.aggregate.moments, number.totals, strict=True):
        groups = range(len(part)) if moment.of_everybody else [group]
        totals.append(sum(part.total(total, each) for each in groups))
    return totals


def _users_of_totals(part: EngineRows, number: Number, group: int) -> Ints:
    """Return how many people every total of a number is summed over."""
    everybody, own = sum(part.users), part.users[group]
    moments = number.aggregate.moments
    return np.array([everybody if moment.of_everybody else own for moment in moments])


def _users(part: EngineRows, number: Number, group: int) -> int:
    return sum(part.users) if number.aggregate.of_everybody else part.users[group]
