"""General Byzantine attack (GBA) on numbers, Poi(a, b): reports from some segments of all outputs.

The outputs of a randomiser of numbers are put in order and cut into ``segments`` equal parts.  The
attackers agree on ``poisoned`` of them, and every report is a draw from one of these: uniform,
Gaussian around the middle, or Beta(1, 6) or Beta(6, 1) towards an end.  Which segments they are is
drawn once for a collection, unless ``chosen`` names them.

Source: Du 2025, section 6.2.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import Aim, CraftedReports
from sottovoce.tasks.question import Question

MAX_SEGMENTS = 1 << 10
SHAPES = ("uniform", "gaussian", "beta16", "beta61")
_GAUSSIAN_SPREAD = 1 / 6  # of a segment: its ends are three standard deviations away


@dataclass(frozen=True)
class BiasedNumbers(CraftedReports, kind="gba"):
    """Reports lie in ``poisoned`` of ``segments`` segments of the outputs, or in those ``chosen``.

    With none ``chosen`` they are drawn for every question.
    """

    segments: int = 8
    poisoned: int = 2
    shape: str = "uniform"
    chosen: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        settings.whole("segments", self.segments, 1, MAX_SEGMENTS)
        settings.whole("poisoned", self.poisoned, 1, self.segments)
        settings.choice("shape", self.shape, SHAPES)
        if self.chosen:
            settings.entries("chosen", self.chosen, self.poisoned, self.poisoned)
            settings.wholes("chosen", self.chosen, 0, self.segments - 1)
            settings.distinct("chosen", self.chosen)

    @classmethod
    def aimed(cls, aim: Aim) -> "BiasedNumbers":
        # The highest eighth of the outputs, or the lowest.
        return cls(8, 1, chosen=(0,) if aim.against else (7,))

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        mechanism = question.mechanism.numeric()
        numbers = mechanism.numbers(np.arange(mechanism.outputs))
        ascending = np.argsort(numbers, kind="stable")
        parts = self._parts(rng)[rng.integers(self.poisoned, users)]
        positions = (parts + self._within(users, rng)) / self.segments
        places = np.minimum((positions * len(ascending)).astype(np.int64), len(ascending) - 1)
        outcomes = mechanism.outcomes()
        report_of = np.empty(mechanism.outputs, np.int64)
        report_of[mechanism.codes(outcomes)] = np.arange(len(outcomes))
        return outcomes[report_of[ascending[places]]]

    def _parts(self, rng: Rng) -> Ints:
        """Return the poisoned segments."""
        if self.chosen:
            return np.array(self.chosen)
        return np.argsort(rng.words(self.segments))[: self.poisoned]

    def _within(self, users: int, rng: Rng) -> Floats:
        """Return where in its segment each report lies, in [0, 1)."""
        uniform = _uniform(users, rng)
        if self.shape == "beta16":  # 1 - (1 - x)^6 is the law of Beta(1, 6)
            return np.asarray(1 - (1 - uniform) ** (1 / 6))
        if self.shape == "beta61":  # x^6 is the law of Beta(6, 1)
            return np.asarray(uniform ** (1 / 6))
        if self.shape == "gaussian":
            return self._gaussian(uniform, rng)
        return uniform

    def _gaussian(self, uniform: Floats, rng: Rng) -> Floats:
        """Return normal draws around the middle (Box and Muller); those beyond are cut off."""
        angles = _uniform(len(uniform), rng)
        radii = np.sqrt(-2 * np.log1p(-uniform))
        normal = radii * np.cos(2 * np.pi * angles)
        return np.asarray(np.clip(0.5 + _GAUSSIAN_SPREAD * normal, 0.0, 1 - 2.0**-53))


def _uniform(count: int, rng: Rng) -> Floats:
    """Return uniform numbers in [0, 1)."""
    return np.asarray((rng.longs(count) >> np.uint64(11)) * 2.0**-53, np.float64)
