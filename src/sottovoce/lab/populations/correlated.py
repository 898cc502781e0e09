"""Correlated binary attributes: populations with one hidden factor, and baselines of CBP.

The baselines give local differential privacy of the whole record: they split epsilon over all
attributes (``split``), or over those of the one group that a user is drawn for.  Counts come from
their law, attribute by attribute: the errors of one attribute are exact, how those of two hang
together is not.

Source: Du 2025, section 4.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.attribute_groups import Group, Grouping
from sottovoce.lab.baselines.correlation_bounds import Rows, Ties
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.mechanisms.grr import GRR

Dice = np.random.Generator

SPLITS = {"rr": "grr", "rappor": "sue", "sue": "sue", "oue": "oue"}  # basic RAPPOR is SUE


@dataclass(frozen=True)
class OneFactor:
    """People whose attributes each copy one hidden fair coin, or its opposite.

    Attribute i equals the coin with probability (1 + loading i) / 2.

    Loadings grow in equal steps from zero; the two largest make a pair that agrees at 0.5 +
    ``deviation``.
    """

    attributes: int
    users: int
    deviation: float

    @property
    def loadings(self) -> Floats:
        """Return how much each attribute shows of the hidden coin."""
        steps = np.arange(self.attributes, dtype=np.float64)
        return np.minimum(steps * sqrt(2 * self.deviation / (steps[-1] * steps[-2])), 1.0)

    @property
    def agreements(self) -> Rows:
        """Return how often each pair of attributes is equal."""
        rates = 0.5 + np.outer(self.loadings, self.loadings) / 2
        np.fill_diagonal(rates, 1.0)
        return tuple(tuple(row) for row in rates.tolist())

    @property
    def ties(self) -> Ties:
        """Return the ties of all attributes."""
        return Ties.of_agreements(self.agreements)

    def people(self, users: int, dice: Dice) -> Ints:
        """Return (users, attributes) zeros and ones."""
        hidden = dice.random((users, 1)) < 0.5
        shown = dice.random((users, self.attributes)) < (1 + self.loadings) / 2
        return np.asarray(shown == hidden, np.int64)


POPULATIONS = {
    "TH": OneFactor(10, 19_700, 0.30),
    "PM2.5": OneFactor(8, 43_600, 0.35),
    "CMC": OneFactor(8, 1_500, 0.30),
    "CLAVE": OneFactor(16, 10_800, 0.05),
}


def split(scheme: str, epsilon: float, attributes: int) -> PureMechanism:
    """Return how a baseline reports one of so many attributes: with an equal part of epsilon."""
    if scheme not in SPLITS:
        raise ParameterError(f"a baseline is one of {', '.join(SPLITS)}")
    kind = Mechanism.kinds[SPLITS[scheme]]
    mechanism: object = kind(exact.part(epsilon, attributes), 2)  # type: ignore[call-arg]
    assert isinstance(mechanism, PureMechanism)
    return mechanism


@dataclass(frozen=True, eq=False)
class BinaryCounts:
    """How many of so many ``users`` hold a one in each attribute."""

    ones: Ints
    users: int


def together(counts: BinaryCounts, response: PureMechanism, runs: int, dice: Dice) -> Floats:
    """Return (runs, attributes): estimated shares of ones.

    Every user reports every attribute alike.
    """
    holders = np.broadcast_to(counts.ones, (runs, len(counts.ones)))
    return _shares(holders, counts.users, response, dice)


def apart(
    counts: BinaryCounts,
    grouping: Grouping,
    users_by_group: Sequence[int],
    runs: int,
    dice: Dice,
) -> Floats:
    """Return (runs, attributes): estimated shares of ones.

    Each group of attributes is asked of some users, drawn at random.
    """
    estimates = np.zeros((runs, len(counts.ones)))
    groups = zip(grouping.groups, grouping.spent, users_by_group, strict=True)
    for group, spent, users in groups:
        columns = list(group)
        ones = counts.ones[columns]
        holders = dice.hypergeometric(ones, counts.users - ones, users, (runs, len(columns)))
        estimates[:, columns] = _shares(holders, users, GRR(spent, 2), dice)
    return estimates


@dataclass(frozen=True, eq=False)
class SplitGrouping(Grouping):
    """Sampling_gamma: the same groups, but epsilon is split over the attributes of a group."""

    @property
    def spent(self) -> tuple[float, ...]:
        return tuple(exact.part(self.epsilon, len(group)) for group in self.groups)


def sampling(ties: Ties, epsilon: float, size: int) -> SplitGrouping:
    """Return the baseline that asks about so many attributes, with equal parts of epsilon."""
    grouping = SplitGrouping.greedy(ties, (2,) * len(ties), epsilon, size)
    assert isinstance(grouping, SplitGrouping)
    return grouping


def consecutive(count: int, size: int) -> tuple[Group, ...]:
    """Return groups of attributes in their order.

    >>> consecutive(5, 2)
    ((0, 1), (2, 3), (4,))
    """
    return tuple(tuple(range(start, min(start + size, count))) for start in range(0, count, size))


def even(groups: int, users: int) -> tuple[int, ...]:
    """Return equal numbers of users for every group: UNI_allo."""
    return tuple(users // groups + (group < users % groups) for group in range(groups))


def random(groups: int, users: int, dice: Dice) -> tuple[int, ...]:
    """Return numbers of users as a random cut makes them, none of them zero: RAN_allo."""
    cuts = np.sort(dice.choice(users - 1, groups - 1, replace=False)) + 1
    return tuple(np.diff([0, *cuts.tolist(), users]).tolist())


def _shares(holders: Ints, users: int, response: PureMechanism, dice: Dice) -> Floats:
    support = dice.binomial(holders, response.p) + dice.binomial(users - holders, response.q)
    return np.asarray((support / users - response.q) / (response.p - response.q))
