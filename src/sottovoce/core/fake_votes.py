"""The votes that fakes add to a group, and the noise law of the votes that remain without them.

Shufflers add F fakes to the reports of n people.  A fake is a draw from the blanket of a pure
mechanism: it supports a given value with probability ``share``, and another given value as well
with probability ``overlap``.  Its vote for a value therefore has

    mean u        = (share - q) / (p - q)
    variance      = share (1 - share) / (p - q)^2
    covariance    = share (overlap - share) / (p - q)^2        with its vote for another value

Where coins deal people and fakes to groups, nobody knows how many of the N_j reports of a group are
fakes.  Let m be the mean of what is known of their number and h its variance (``fake_count.py``),
and let f be the share of people who hold a value.  With V the sum of the votes of all N_j reports,

    V - m u          has the mean       (N_j - m) f
                     and the variance   noise of (N_j - m) people + m Var[fake] + h (f - u)^2

so (V - m u) / (N_j - m) is unbiased.  The drawing of the people of the group comes on top, as for
every group.  It is that of N_j - m people, which is too much by h f (1 - f) / (n - 1): less than
one part in n.  If there is one group, m = F and h = 0, and all of it is exact.

Source: Wang 2021, section 9.5, corrected; docs/shuffling.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.noise import Noise, VoteVariance
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.errors import NoDataError
from sottovoce.maths.coin_sums import Coins
from sottovoce.maths.normal import upper_quantile


@dataclass(frozen=True)
class FakeVotes:
    """The law of the votes that a number of fakes add for every value.

    ``vote`` is the mean vote of one fake.  Its votes have the covariance ``own`` on the diagonal
    alone, and ``common`` everywhere.
    """

    count: FakeCount
    vote: float
    own: float
    common: float

    @classmethod
    def of(
        cls, count: FakeCount, support: tuple[float, float], share: float, overlap: float
    ) -> "FakeVotes":
        """Return the votes of draws from a blanket; ``support`` are the p and q of a mechanism."""
        p, q = support
        square = (p - q) ** 2
        return cls(
            count=count,
            vote=(share - q) / (p - q),
            own=share * (1 - overlap) / square,
            common=share * (overlap - share) / square,
        )

    def times(self, factor: float) -> "FakeVotes":
        """Return the law of the votes of the fakes times a factor."""
        square = factor**2
        return FakeVotes(self.count, factor * self.vote, square * self.own, square * self.common)

    @property
    def variance(self) -> float:
        """Return the variance of the vote of one fake for one value."""
        return self.own + self.common

    def removed_from(self, estimate: Estimate) -> Estimate:
        """Return the estimate for the people in a group from the estimate for all its reports.

        The number of people is rounded to a whole one; the shares are not affected by it.
        """
        people = estimate.users - self.count.mean
        users = round(people)
        if users < 1:
            raise NoDataError("there are only fakes among these reports")
        votes = (estimate.votes - self.count.mean * self.vote) * (users / people)
        noise = NoiseWithFakes(estimate.noise, self, users)
        return replace(estimate, votes=votes, noise=noise, users=users, population=users)


@dataclass(frozen=True)
class NoiseWithFakes(Noise):
    """The law of votes from which the mean of the fakes was taken: their spread is still there.

    ``people`` is the law without fakes, and ``users`` the number of people whose votes they are.
    """

    people: Noise
    fakes: FakeVotes
    users: int

    @property
    def complete(self) -> bool:  # type: ignore[override]
        return self.people.complete

    @property
    def has_sums(self) -> bool:  # type: ignore[override]
        return self.people.has_sums

    @property
    def floor(self) -> float:  # type: ignore[override]
        return self.people.floor

    @property
    def supports(self) -> "SupportLawWithFakes | None":
        people = self.people.supports
        if people is None:
            return None
        return SupportLawWithFakes(people.p, people.q, self.fakes.count, self.fakes.vote)

    def variances(self, votes: Floats, users: int) -> Floats:
        spread = self.fakes.count.mean * self.fakes.variance
        dealt = self.fakes.count.variance * self._distance(votes, users) ** 2
        return np.asarray(self.people.variances(votes, users) + spread + dealt)

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return self.people.total(coefficients, votes, users)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        noise = self.people.linear(coefficients, votes, users)
        constant = self._constant(coefficients)
        scored = coefficients - constant
        spread = self.fakes.own * float(scored @ scored)
        spread += self.fakes.common * float(scored.sum()) ** 2
        mean = self.total(coefficients, votes, users) / users
        distance = mean - (constant + self.fakes.vote * float(scored.sum()))
        count = self.fakes.count
        return noise + count.mean * spread + count.variance * distance**2

    def covariance(self, votes: Floats, users: int) -> Floats:
        count = self.fakes.count
        spread = self.fakes.own * np.eye(len(votes)) + self.fakes.common
        distance = self._distance(votes, users)
        dealt = count.variance * np.outer(distance, distance)
        return np.asarray(self.people.covariance(votes, users) + count.mean * spread + dealt)

    def draw(
        self, held: Floats, users: int, generator: np.random.Generator, replicates: int
    ) -> Floats:
        errors = self.people.draw(held, users, generator, replicates)
        count = self.fakes.count
        # own + common on the diagonal, common elsewhere.  A negative common part is that of
        # independent errors less a part of their mean.
        single = generator.standard_normal((replicates, len(held)))
        cells = len(held)
        along_mean = max(0.0, 1 + cells * self.fakes.common / self.fakes.own)
        mean = single.mean(axis=1, keepdims=True)
        single = single - mean + np.sqrt(along_mean) * mean
        dealt = generator.standard_normal((replicates, 1)) * self._distance(held, users)
        spread = np.sqrt(count.mean * self.fakes.own) * single
        return np.asarray(errors + spread + np.sqrt(count.variance) * dealt)

    @property
    def vote_variance(self) -> VoteVariance:
        """Return the variance of a vote with the variance of the fakes spread over the users."""
        alone = self.people.vote_variance
        count = self.fakes.count
        added = count.mean * self.fakes.variance + count.variance * self.fakes.vote**2
        return VoteVariance(alone.unheld + added / self.users, alone.held)

    @property
    def inflation(self) -> float:
        return self.vote_variance.unheld / self.people.vote_variance.unheld

    def among(self) -> "NoiseWithFakes":
        return replace(self, people=self.people.among())

    def picked(self, indices: Ints) -> "NoiseWithFakes":
        return replace(self, people=self.people.picked(indices))

    def for_people(self, people: Noise, factor: float) -> "NoiseWithFakes":
        return NoiseWithFakes(people, self.fakes.times(factor), self.users)

    def _distance(self, votes: Floats, users: int) -> Floats:
        """Return how far the share of people is from the vote of a fake."""
        return np.clip(votes / users, 0, 1) - self.fakes.vote

    def _constant(self, coefficients: Floats) -> float:
        """Return the expected contribution of a person who holds none of the values.

        It is the mean coefficient where the law is balanced over a whole domain, else 0.
        """
        return self.people.total(coefficients, np.zeros(len(coefficients)), 1)


@dataclass(frozen=True)
class SupportLawWithFakes(SupportLaw):
    """The supports of a value where some reports of the group are fakes.

    ``vote`` is the mean vote of a fake, so that a fake supports the value with probability
    q + (p - q) vote.  Where the number of fakes is not known, the law is interpolated as for people
    that are drawn: between m fakes among R reports, and R reports each of which is a fake with
    probability m / R.  The variance is that of the number of fakes.
    """

    count: FakeCount
    vote: float

    @property
    def fake_count(self) -> FakeCount:
        return self.count

    @property
    def fake_vote(self) -> float:
        return self.vote

    @property
    def fake_chance(self) -> float:
        """Return the probability that a fake supports the value."""
        return self.q + self.gap * self.vote

    def supports(self, votes: Floats, users: int) -> Floats:
        # People's votes V' = V - m u are those of all n + m reports, less the mean of the fakes.
        reports = users + self.count.mean
        return np.asarray(reports * self.q + self.gap * (votes + self.count.mean * self.vote))

    def votes(self, supports: float, users: int) -> float:
        reports = users + self.count.mean
        return (supports - reports * self.q) / self.gap - self.count.mean * self.vote

    def coins(self, shares: Floats, sample: Sampled) -> Coins:
        fakes = self.count.mean
        reports = sample.users + fakes
        mixed = 0.0
        if self.count.variance:
            mixed = min(1.0, self.count.variance * reports / (fakes * sample.users))
        # People are drawn in the mixed part as well; the other part makes up for the rest.
        drawn = max(0.0, 1 - sample.part - mixed)
        known = 1 - mixed - drawn
        chance = self.q + self.gap * shares
        either = (sample.users * chance + fakes * self.fake_chance) / reports
        ones = np.ones_like(shares)
        users = sample.users
        weights = [
            known * users * shares,
            known * users * (1 - shares),
            drawn * users * ones,
            (1 - mixed) * fakes * ones,
            mixed * reports * ones,
        ]
        chances = [self.p * ones, self.q * ones, chance, self.fake_chance * ones, either]
        return Coins(np.array(weights), np.array(chances))

    def unheld_votes(self, tail: float, users: int) -> float:
        """Return the bound that an unheld value exceeds with probability ``tail``, by bisection."""
        coins = self.coins(np.zeros(1), Sampled(users, users))
        wanted = upper_quantile(tail)
        low = 0
        high = int(coins.number[0]) + 1
        while high - low > 1:
            middle = (low + high) // 2
            if coins.scores(np.array([middle - 0.5]))[0] >= wanted:
                high = middle
            else:
                low = middle
        return self.votes(high - 0.5, users)
