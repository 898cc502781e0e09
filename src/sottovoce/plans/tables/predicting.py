"""How good an answer will be, before anything is collected: exact second moments over an even population.

For a report of a layer with coefficients c the votes have the mechanism's own law (docs/affine-response.md, section 1);
over layers picked with chance P, the square of a score is on average the sum over layers of (its own)/P.

Source: Xu 2020, sections 3 to 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.tables.layout import Axis, Slot
from sottovoce.plans.tables.scoring import bases
from sottovoce.plans.tables.targets import Levels, Target, Term, Wanted

EVEN = 0.5  # the chance of a coin that nobody knows anything about


@dataclass(frozen=True)
class Moments:
    """Of a factor's score: the mean of its square, and the mean square of what it estimates."""

    square: float
    signal: float
    mean: float  # of what it estimates

    @property
    def variance(self) -> float:
        """Return the variance of one person's score."""
        return max(0.0, self.square - self.signal)


def moments(parts: Sequence[tuple[float, Wanted]], target: Target) -> Moments:
    """Return the moments of one person's score for a target that is a sum of what is wanted of one factor."""
    factor = parts[0][1].factor
    meant, mean = _meant(parts)
    asked = meant - 2 * target.known * mean + target.known**2  # what is known is not scored, but added
    noise = sum(_variance(slot, target, asked / len(factor.slots) ** 2) for slot in factor.slots)
    return Moments(noise + meant, meant, mean)


def cells(slot: Slot, target: Target) -> float:
    """Return how many cells a report is compared with on average, were each of them hashed."""
    used = [0.0] * len(slot.family)
    for member in range(len(slot.family)):
        group, levels = slot.levels(member)
        for term in target.groups[group]:
            vectors = [axis[level] for axis, level in zip(term.axes, levels, strict=True)]
            used[member] += prod(0 if one is None else np.count_nonzero(one) for one in vectors)
    return float(np.mean(used))


def _meant(parts: Sequence[tuple[float, Wanted]]) -> tuple[float, float]:
    """Return the mean square and the mean of what is wanted of a person, a sum of parts."""
    factor = parts[0][1].factor
    weights = np.array([weight for weight, _ in parts])
    shared, alone = np.ones((len(parts), len(parts))), np.ones(len(parts))
    for column in factor.columns:
        values = [_wanted(wanted, column) for _, wanted in parts]
        if any(one is not None for one in values):
            size = next(len(one) for one in values if one is not None)
            filled = np.stack([np.ones(size) if one is None else one for one in values])
            shared, alone = shared * (filled @ filled.T) / size, alone * filled.mean(axis=1)
    many = factor.slots[0].family.most
    chance, stands = (EVEN, parts[0][1].weight * len(factor.slots)) if many else (1.0, 1.0)
    return chance * stands**2 * float(weights @ shared @ weights), chance * stands * float(weights @ alone)


def _wanted(wanted: Wanted, column: int) -> Floats | None:
    """Return the number that is wanted for every value of a column; nothing where it is 1 for all."""
    held, numbers = wanted.sets.get(column), wanted.numbers if column == wanted.measured else None
    if numbers is None:
        return None if held is None else held.astype(float)
    return numbers if held is None else numbers * held


def _variance(slot: Slot, target: Target, signal: float) -> float:
    """Return the variance of one report's score."""
    laws, chances = _laws(slot), np.array([slot.chance(member) for member in range(len(slot.family))])
    sums = np.zeros((5, len(slot.family)))  # of squares, of coefficients, and of a person's: square, value; cells
    start = -slot.family.first
    for group, terms in enumerate(target.groups):
        size = prod(slot.family.shapes[group])
        made = _grids(slot.groups[group], terms, size)
        sums[:, max(start, 0) : start + size] = made[:, max(-start, 0) :]
        start += size
    squares, total, person_square, person, count = sums
    balanced, spread, held = laws
    mean = np.where(balanced, total / np.maximum(count, 1), 0.0)
    apart = person_square - 2 * mean * person + mean**2
    noise = spread * (squares - count * mean**2) + held * apart
    base = bases(slot, target)
    if len(slot.family) == 1:
        return float(noise.sum())
    drift = float((person - mean).sum())
    return max(0.0, float(((noise + apart) / chances).sum()) + 2 * base * drift + base**2 - signal)


def _laws(slot: Slot) -> tuple[Floats, Floats, Floats]:
    """Return for every layer whether its votes sum to one, and the two parts of their variance."""
    moments = {id(one): one.noise.score_moments for one in slot.family.mechanisms if isinstance(one, PureMechanism)}
    laws = [moments[id(slot.family[member].mechanism)] for member in range(len(slot.family))]
    centred = np.array([law.centred for law in laws])
    return centred, np.array([law.spread for law in laws]), np.array([law.held for law in laws])


def _grids(axes: tuple[Axis, ...], terms: tuple[Term, ...], size: int) -> Floats:
    """Return for every layer of a group the sums over its cells that variances are made of."""
    found = np.zeros((5, size))
    for one, other in product(terms, repeat=2):
        pairs = [_pair(axis, left, right) for axis, left, right in zip(axes, one.axes, other.axes, strict=True)]
        weight = one.weight * other.weight
        found[0] += weight * _outer([pair[0] for pair in pairs])
        found[2] += weight * _outer([pair[1] for pair in pairs])
    for term in terms:
        singles = [_single(axis, levels) for axis, levels in zip(axes, term.axes, strict=True)]
        found[1] += term.weight * _outer([one[0] for one in singles])
        found[3] += term.weight * _outer([one[1] for one in singles])
    found[4] = _outer([np.array([len(axis.tree.real(level)) for level in axis.levels], float) for axis in axes])
    return found


def _outer(parts: list[Floats]) -> Floats:
    return np.asarray(reduce(np.multiply.outer, parts)).ravel()


def _pair(axis: Axis, left: Levels, right: Levels) -> tuple[Floats, Floats]:
    shared, person = [], []
    for level in axis.levels:
        one, other = left[level], right[level]
        both = None if one is None or other is None else one * other
        shared.append(0.0 if both is None else float(both.sum()))
        person.append(0.0 if both is None else float(both @ _shares(axis, level)))
    return np.array(shared), np.array(person)


def _single(axis: Axis, levels: Levels) -> tuple[Floats, Floats]:
    vectors = [levels[level] for level in axis.levels]
    sums = [0.0 if one is None else float(one.sum()) for one in vectors]
    person = [
        0.0 if one is None else float(one @ _shares(axis, level))
        for one, level in zip(vectors, axis.levels, strict=True)
    ]
    return np.array(sums), np.array(person)


def _shares(axis: Axis, level: int) -> Floats:
    """Return the share of people in each node, were they spread evenly over the values."""
    if axis.coins:
        return np.full(len(axis.tree.real(level)), 1 / len(axis.tree.real(level)))
    tree = axis.tree
    width, nodes = tree.width(level), -(-tree.size // tree.width(level))
    once = np.minimum(width, tree.size - np.arange(nodes) * width) / tree.size
    if not tree.doubled:
        return np.asarray(once)
    return np.ones(1) if level == 0 else np.concatenate([once, once]) / 2
