"""Biased numbers: attackers send outputs from chosen parts of the output range, whatever is asked.

It is the general Byzantine attack on mechanisms for numbers, written Poi(n_d, n_p; shape) in the
source.  The outputs of a mechanism, ordered by the number that they stand for, are cut into n_d
equal segments.  Attackers agree on n_p of them.  Every false report picks one of these segments
with equal probability and a position inside it, independently of all other reports:

    uniform      the position is uniform over the segment
    gaussian     normal about the middle of the segment, a sixth of its width as deviation, cut at
                 the ends
    beta_1_6     Beta(1, 6): near the low end of the segment
    beta_6_1     Beta(6, 1): near the high end of the segment

An attacker who is asked for several reports sends that many false ones.  Attackers cannot send an
output that does not exist, because the collector refuses it.  With all segments poisoned the attack
is the random evasion of the source: it raises all outputs alike.

Source: Du 2025, sections 6.1.1 (definition 8) and 6.5.1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Attack
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

SHAPES = ("uniform", "gaussian", "beta_1_6", "beta_6_1")
MAX_SEGMENTS = 1 << 12
_DEVIATION = 1 / 6  # of the Gaussian shape, in parts of the width of a segment


@dataclass(frozen=True)
class BiasedNumbers(Attack):
    """Every report lies in one of the ``poisoned`` of ``segments`` equal parts of the outputs.

    Segments are counted from 0, from the smallest number up.  With a ``member`` all attackers
    report about that member of a choice instead of the one that their coins pick.

    >>> BiasedNumbers(segments=8, poisoned=(7,)).shape
    'uniform'
    """

    segments: int
    poisoned: tuple[int, ...]
    shape: str = "uniform"
    member: int | None = None

    def __post_init__(self) -> None:
        settings.whole("segments", self.segments, 1, MAX_SEGMENTS)
        settings.entries("poisoned", self.poisoned, 1, self.segments)
        settings.wholes("poisoned", self.poisoned, 0, self.segments - 1)
        settings.distinct("poisoned", self.poisoned)
        settings.choice("shape", self.shape, SHAPES)

    @classmethod
    def chosen(cls, segments: int, count: int, rng: Rng, shape: str = "uniform") -> "BiasedNumbers":
        """Return the attack on ``count`` of the segments, every such choice equally likely."""
        settings.whole("segments", segments, 1, MAX_SEGMENTS)
        settings.whole("count", count, 1, segments)
        order = np.argsort(rng.longs(segments), kind="stable")
        return cls(segments, tuple(sorted(order[:count].tolist())), shape)

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        return {
            address: self.outputs(asked.question(address).mechanism, len(people), rng)
            for address, people in self._assigned(asked, users, rng)
        }

    def outputs(self, mechanism: Mechanism, count: int, rng: Rng) -> Reports:
        """Return false reports of a mechanism that randomises numbers."""
        if not mechanism.randomises_numbers:
            raise ParameterError("biased numbers attack mechanisms that randomise numbers alone")
        ordered = _by_number(mechanism)
        segment = np.array(self.poisoned)[rng.integers(len(self.poisoned), count)]
        places = (segment + self._positions(count, rng)) * (len(ordered) / self.segments)
        # A position just below 1 may round to it, which is the first place of the next segment.
        return ordered[np.minimum(places.astype(np.int64), len(ordered) - 1)]

    def _positions(self, count: int, rng: Rng) -> Floats:
        """Return positions in [0, 1), parts of a segment, of the shape."""
        if self.shape == "gaussian":
            return _cut_gaussian(count, rng)
        uniform = _uniform(count, rng)
        if self.shape == "beta_1_6":
            return np.asarray(1 - (1 - uniform) ** (1 / 6))  # inverse of 1 - (1 - x)^6
        if self.shape == "beta_6_1":
            return np.asarray(uniform ** (1 / 6))  # inverse of x^6
        return uniform

    def _assigned(self, asked: Round, users: int, rng: Rng) -> list[tuple[Address, Ints]]:
        people = np.arange(users)
        if self.member is None:
            return asked.assigned(people, rng)
        slots = range(asked.ask.slots_of(self.member))
        return [(Address(asked.number, self.member, slot), people) for slot in slots]


def _by_number(mechanism: Any) -> Reports:
    """Return every possible report in the order of the number that it stands for."""
    outcomes = mechanism.outcomes()
    numbers = mechanism.numbers(mechanism.codes(outcomes))
    return np.asarray(outcomes[np.argsort(numbers, kind="stable")])


def _uniform(count: int, rng: Rng) -> Floats:
    """Return numbers uniform in [0, 1), multiples of 2^-53."""
    return np.asarray((rng.longs(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _cut_gaussian(count: int, rng: Rng) -> Floats:
    """Return normal positions about 1/2; those outside of [0, 1) are drawn again."""
    positions = np.empty(count)
    missing = np.arange(count)
    while len(missing):
        # Box and Muller: the radius of two independent normal numbers, and an angle.
        radius = np.sqrt(-2 * np.log1p(-_uniform(len(missing), rng)))
        angle = 2 * np.pi * _uniform(len(missing), rng)
        positions[missing] = 0.5 + _DEVIATION * radius * np.cos(angle)
        outside = (positions[missing] < 0) | (positions[missing] >= 1)
        missing = missing[outside]
    return positions
