"""Adaptive top k in the laboratory: one user at a time in compiled code, and rounds drawn without any reports.

``sequential`` is ARBS, or ARBSF with ``even``, as published: every weight is computed anew after every answer.
``drawn`` runs the arithmetic of the plan ``dbs`` on counts drawn from true frequencies, for experiments of many runs;
``uniform`` is the baseline that never adapts.

Source: Du 2025, chapter 5.
"""

from dataclasses import dataclass
from math import exp, expm1

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.kernels import jit
from sottovoce.plans.itemsets.adaptive_sampling import Asked, opening_users, round_users

Dice = np.random.Generator


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was known after the even start and after each round."""

    states: tuple[Asked, ...]

    @property
    def last(self) -> Asked:
        """Return what was known in the end."""
        return self.states[-1]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the users of each round, the even start left out."""
        return tuple(np.diff([int(state.times.sum()) for state in self.states]).tolist())


def drawn(
    frequencies: Floats, users: int, sought: int, epsilon: float, dice: Dice, *, rounds: int = 10, even: bool = False
) -> Drawn:
    """Return the rounds of DBS over people of whom these shares have each item."""
    rates, items = reported(frequencies, epsilon), len(frequencies)
    opening = opening_users(users, items, epsilon)
    states = [_more(None, rates, np.full(items, 1 / items), opening, sought, dice)]
    left, rest = users - opening, rounds
    while left:
        asked = states[-1]
        shares = asked.shares(even=even)
        size = left if left < rest else round_users(asked, shares, left, rest)
        states.append(_more(asked, rates, shares, size, sought, dice))
        left, rest = left - size, rest - 1
    return Drawn(tuple(states))


def uniform(frequencies: Floats, users: int, sought: int, epsilon: float, dice: Dice) -> Asked:
    """Return what is known when everybody is asked about any item with the same chance."""
    items = len(frequencies)
    return _more(None, reported(frequencies, epsilon), np.full(items, 1 / items), users, sought, dice)


def pruned(frequencies: Floats, users: int, kept: int, epsilon: float, dice: Dice) -> Ints:
    """Return the items that so many users leave of all when each names one of its set, held independently.

    With a mean of s items, having one and naming it has the chance p (1 - exp(-s)) / s; reports are optimised unary.
    """
    mean = frequencies.sum()
    named = dice.multinomial(users, np.append(frequencies * -expm1(-mean) / mean, np.exp(-mean)))[:-1]
    support = dice.binomial(named, 0.5) + dice.binomial(users - named, 1 / (exp(epsilon) + 1))
    return np.sort(np.argsort(-support, kind="stable")[:kept])


def sequential(
    frequencies: Floats, users: int, sought: int, epsilon: float, *, even: bool = False, seed: int = 0
) -> Asked:
    """Return what is known when every user is asked about the item that all before make the most doubtful."""
    dice, rates = np.random.default_rng(seed), reported(frequencies, epsilon)
    each = opening_users(users, len(rates), epsilon) // len(rates)
    times = np.full(len(rates), each)
    start = Asked(times, dice.binomial(times, rates), sought)
    return in_turn(start, rates, dice.random((users - each * len(rates), 2)), even=even)


def in_turn(start: Asked, rates: Floats, uniforms: Floats, *, even: bool = False) -> Asked:
    """Return what is known after one more user for every row of uniforms: the first picks the item, the second says."""
    times, ones = start.times.astype(np.int64), start.ones.astype(np.int64)
    _ask_all(rates, uniforms, times, ones, start.order.astype(np.int64), start.sought, even)
    return Asked(times, ones, start.sought)


def reported(frequencies: Floats, epsilon: float) -> Floats:
    """Return the share of ones in the reports about items that these shares of people have; equation 5.4."""
    lie = 1 / (exp(epsilon) + 1)
    return np.asarray(lie + frequencies * (1 - 2 * lie))


def estimated(asked: Asked, epsilon: float) -> Floats:
    """Return the share of people who have each item; equation 5.13."""
    lie = 1 / (exp(epsilon) + 1)
    return np.asarray((asked.rates - lie) / (1 - 2 * lie))


def _more(asked: Asked | None, rates: Floats, shares: Floats, users: int, sought: int, dice: Dice) -> Asked:
    times = dice.multinomial(users, shares)
    ones = dice.binomial(times, rates)
    return Asked(times + asked.times, ones + asked.ones, sought) if asked else Asked(times, ones, sought)


@jit
def _ask_all(
    rates: Floats, uniforms: Floats, times: Ints, ones: Ints, order: Ints, sought: int, even: bool
) -> None:  # pragma: no cover
    known, weights = ones / np.maximum(times, 1), np.empty(len(times))
    for user in range(len(uniforms)):
        whole = _weigh(known, times, order, sought, even, weights)
        aim, item = uniforms[user, 0] * whole, 0
        reached = weights[0]
        while reached <= aim and item < len(weights) - 1:
            item += 1
            reached += weights[item]
        times[item] += 1
        ones[item] += uniforms[user, 1] < rates[item]
        known[item] = ones[item] / times[item]
        _settle(order, known, item)


@jit
def _weigh(
    known: Floats, times: Ints, order: Ints, sought: int, even: bool, weights: Floats
) -> float:  # pragma: no cover
    """Fill in exp(-t H^2) of every item, scaled so that the largest is 1, and return their sum."""
    best, largest = np.inf, -np.inf
    for place in range(sought):
        item = order[place]
        best = min(best, known[item] * (1 - known[item]) / max(times[item], 1) ** 2)
    above, below = known[order[sought - 1]], known[order[sought]]
    for place in range(len(order)):
        item, inside = order[place], place < sought
        gap = abs(known[item] - (below if inside else above))
        if even and inside:
            gap = np.sqrt(best * times[item])
        spread = 2 * known[item] * (1 - known[item])
        reach = np.sqrt(spread) + np.sqrt(spread + 12 * gap)
        weights[item] = -times[item] * (2 * gap / reach) ** 2 if reach > 0 else 0.0
        largest = max(largest, weights[item])
    whole = 0.0
    for item in range(len(weights)):
        weights[item] = np.exp(weights[item] - largest)
        whole += weights[item]
    return whole


@jit
def _settle(order: Ints, known: Floats, item: int) -> None:  # pragma: no cover
    """Move an item to its place again: highest rate first, of equal ones the first."""
    place = 0
    while order[place] != item:
        place += 1
    while place > 0 and _precedes(known, item, order[place - 1]):
        order[place] = order[place - 1]
        place -= 1
    while place < len(order) - 1 and _precedes(known, order[place + 1], item):
        order[place] = order[place + 1]
        place += 1
    order[place] = item


@jit
def _precedes(known: Floats, one: int, other: int) -> bool:  # pragma: no cover
    return known[one] > known[other] or (known[one] == known[other] and one < other)
