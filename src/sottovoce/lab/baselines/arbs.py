"""Adaptive top k in the laboratory: ARBS and ARBSF one user at a time, and DBS on drawn counts.

``run_sequential`` is ARBS, or ARBSF with ``even``, as published: every weight is computed again
after every answer, in compiled code.  ``draw_rounds`` runs the arithmetic of the plan ``dbs`` on
counts drawn from true frequencies, for experiments with many runs.  ``draw_uniform`` is the
baseline that never adapts.

Source: Du 2025, chapter 5.
"""

from dataclasses import dataclass
from math import exp, expm1
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.kernels import jit
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports, opening_users, round_users

Generator = np.random.Generator


@dataclass(frozen=True)
class ItemPopulation:
    """People asked about the ``sought`` top items with ``epsilon``.

    The shares say how many of them have each item.
    """

    frequencies: Floats
    users: int
    sought: int
    epsilon: float

    @property
    def rates(self) -> Floats:
        """Return the share of ones in the reports about each item; equation 5.4."""
        lie = 1 / (exp(self.epsilon) + 1)
        return np.asarray(lie + self.frequencies * (1 - 2 * lie))

    def draw(self, users: int, shares: Floats, generator: Generator) -> ItemReports:
        """Return the reports of some users who are asked about items with these chances."""
        times = generator.multinomial(users, shares)
        return ItemReports(times, generator.binomial(times, self.rates), self.sought)


@dataclass(frozen=True, eq=False)
class DrawnRounds:
    """The reports after the even start and after each round."""

    states: tuple[ItemReports, ...]

    @property
    def last(self) -> ItemReports:
        """Return all reports."""
        return self.states[-1]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the users of each round without the even start."""
        return tuple(np.diff([int(state.times.sum()) for state in self.states]).tolist())


def draw_rounds(
    population: ItemPopulation, generator: Generator, *, rounds: int = 10, even: bool = False
) -> DrawnRounds:
    """Return the rounds of DBS; with ``even`` those of its form with even accuracy."""
    items = len(population.frequencies)
    opening = opening_users(population.users, items, population.epsilon)
    states = [population.draw(opening, np.full(items, 1 / items), generator)]
    left = population.users - opening
    rounds_left = rounds
    while left:
        reports = states[-1]
        shares = reports.shares(even=even)
        size = left if left < rounds_left else round_users(reports, shares, left, rounds_left)
        states.append(reports + population.draw(size, shares, generator))
        left -= size
        rounds_left -= 1
    return DrawnRounds(tuple(states))


def draw_uniform(population: ItemPopulation, generator: Generator) -> ItemReports:
    """Return the reports of users who are asked about any item with the same chance."""
    items = len(population.frequencies)
    return population.draw(population.users, np.full(items, 1 / items), generator)


def draw_pruned(
    frequencies: Floats, users: int, kept: int, epsilon: float, generator: Generator
) -> Ints:
    """Return the ``kept`` items that are left when each user names one item of their set.

    Items are held independently.  With a mean of s items, the chance to hold an item and to name it
    is p (1 - exp(-s)) / s.  Reports are by optimised unary encoding.
    """
    mean = frequencies.sum()
    named_share = frequencies * -expm1(-mean) / mean
    named = generator.multinomial(users, np.append(named_share, np.exp(-mean)))[:-1]
    support = generator.binomial(named, 0.5)
    support = support + generator.binomial(users - named, 1 / (exp(epsilon) + 1))
    return np.sort(np.argsort(-support, kind="stable")[:kept])


def run_sequential(population: ItemPopulation, *, even: bool = False, seed: int = 0) -> ItemReports:
    """Return the reports if every user is asked about the item that is most doubtful so far."""
    generator = np.random.default_rng(seed)
    rates = population.rates
    each = opening_users(population.users, len(rates), population.epsilon) // len(rates)
    times = np.full(len(rates), each)
    start = ItemReports(times, generator.binomial(times, rates), population.sought)
    uniforms = generator.random((population.users - each * len(rates), 2))
    return ask_in_turn(start, rates, uniforms, even=even)


def ask_in_turn(
    start: ItemReports, rates: Floats, uniforms: Floats, *, even: bool = False
) -> ItemReports:
    """Return the reports after one more user for every row of uniforms.

    The first uniform of a row picks the item, the second the answer.
    """
    search = _Search(
        times=start.times.astype(np.int64),
        ones=start.ones.astype(np.int64),
        order=start.order.astype(np.int64),
        sought=start.sought,
        even=even,
    )
    _ask_all(search, rates, uniforms)
    return ItemReports(search.times, search.ones, start.sought)


def estimated_frequencies(reports: ItemReports, epsilon: float) -> Floats:
    """Return the share of people who have each item; equation 5.13."""
    lie = 1 / (exp(epsilon) + 1)
    return np.asarray((reports.rates - lie) / (1 - 2 * lie))


class _Search(NamedTuple):
    """What is known between two users, as compiled code takes it; the arrays change in place."""

    times: Ints  # how often each item was asked about
    ones: Ints  # how many of these reports were a one
    order: Ints  # items by their share of ones, highest first
    sought: int
    even: bool


@jit
def _ask_all(search: _Search, rates: Floats, uniforms: Floats) -> None:  # pragma: no cover
    times = search.times
    ones = search.ones
    known = ones / np.maximum(times, 1)
    weights = np.empty(len(times))
    for user in range(len(uniforms)):
        total = _weigh(search, known, weights)
        aim = uniforms[user, 0] * total
        item = 0
        reached = weights[0]
        while reached <= aim and item < len(weights) - 1:
            item += 1
            reached += weights[item]
        times[item] += 1
        ones[item] += uniforms[user, 1] < rates[item]
        known[item] = ones[item] / times[item]
        _move_to_rank(search.order, known, item)


@jit
def _weigh(search: _Search, known: Floats, weights: Floats) -> float:  # pragma: no cover
    """Fill in exp(-t H^2) of every item, scaled so that the largest is 1, and return their sum."""
    times = search.times
    order = search.order
    sought = search.sought
    best = np.inf
    largest = -np.inf
    for rank in range(sought):
        item = order[rank]
        best = min(best, known[item] * (1 - known[item]) / max(times[item], 1) ** 2)
    above = known[order[sought - 1]]
    below = known[order[sought]]
    for rank in range(len(order)):
        item = order[rank]
        inside = rank < sought
        gap = abs(known[item] - (below if inside else above))
        if search.even and inside:
            gap = np.sqrt(best * times[item])
        spread = 2 * known[item] * (1 - known[item])
        reach = np.sqrt(spread) + np.sqrt(spread + 12 * gap)
        weights[item] = -times[item] * (2 * gap / reach) ** 2 if reach > 0 else 0.0
        largest = max(largest, weights[item])
    total = 0.0
    for item in range(len(weights)):
        weights[item] = np.exp(weights[item] - largest)
        total += weights[item]
    return total


@jit
def _move_to_rank(order: Ints, known: Floats, item: int) -> None:  # pragma: no cover
    """Move an item to its rank again: highest rate first, of equal ones the first."""
    rank = 0
    while order[rank] != item:
        rank += 1
    while rank > 0 and _precedes(known, item, order[rank - 1]):
        order[rank] = order[rank - 1]
        rank -= 1
    while rank < len(order) - 1 and _precedes(known, order[rank + 1], item):
        order[rank] = order[rank + 1]
        rank += 1
    order[rank] = item


@jit
def _precedes(known: Floats, first: int, second: int) -> bool:  # pragma: no cover
    return known[first] > known[second] or (known[first] == known[second] and first < second)
