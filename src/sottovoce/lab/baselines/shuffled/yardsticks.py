"""What every method is measured by: a trusted curator, and a guess that looks at nobody.

``CentralLaplace`` (Lap) adds Laplace noise of scale 2 / epsilon to every count: replacing a value
moves two counts by one.  ``UniformGuess`` (Base) says 1 / d for every value.

Source: Wang 2021, section 9.6.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.accounting.central_noise import laplace_variance
from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings
from sottovoce.lab.baselines.shuffled.base import FrequencyMethod, PublishedClaim


@dataclass(frozen=True)
class CentralLaplace(FrequencyMethod):
    """Laplace noise that a trusted curator adds to the true counts."""

    epsilon: float

    def __post_init__(self) -> None:
        settings.epsilon("epsilon", self.epsilon)

    @property
    def claim(self) -> PublishedClaim:
        return PublishedClaim(self.epsilon, 0.0, None)

    def mse(self, truth: Ints, fakes: int = 0) -> float:
        return laplace_variance(self.epsilon) / float(truth.sum()) ** 2

    def draw(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Floats:
        noise = generator.laplace(scale=2 / self.epsilon, size=len(truth))
        return np.asarray((truth + noise) / truth.sum())


@dataclass(frozen=True)
class UniformGuess(FrequencyMethod):
    """The same share for every value, without asking anybody."""

    @property
    def claim(self) -> None:
        return None

    def mse(self, truth: Ints, fakes: int = 0) -> float:
        return float(((truth / truth.sum() - 1 / len(truth)) ** 2).mean())

    def draw(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Floats:
        return np.full(len(truth), 1 / len(truth))
