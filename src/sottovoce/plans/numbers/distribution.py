"""The distribution of a number: its shape, mean, variance and quantiles, from one bucket per person.

Reports by Square Wave, decoded by expectation maximisation with smoothing (EMS).  Errors come from a
parametric bootstrap of the whole decoding.  Intervals of the mean cover as stated.  Intervals of quantiles
cover inside a smooth shape and miss at its ends and at narrow peaks, which smoothing flattens;
docs/evidence/numbers.md has the measured coverage.

Source: Li et al. 2020.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.export import optional
from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Total
from sottovoce.core.settings import open_share
from sottovoce.domains.buckets import Buckets
from sottovoce.errors import ParameterError
from sottovoce.plans.numbers.mean import numeric
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

QUARTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, init=False)
class Distribution(Plan, kind="distribution"):
    """Ask everybody for the interval that contains their number, from ``low`` to ``high``.

    >>> Distribution(0, 100, 50).domain.count
    50
    """

    domain: Buckets

    def __init__(
        self,
        low: float = 0.0,
        high: float = 1.0,
        buckets: int = 512,
        *,
        clamped: bool = False,
        domain: Buckets | None = None,
    ) -> None:
        object.__setattr__(self, "domain", domain or Buckets(low, high, buckets, clamped))

    def step(self, collected: Collected) -> "Round | DistributionAnswer":
        if not collected.rounds:
            return Round(0, Question(numeric("square_wave", collected.epsilon, self.domain.size)))
        estimate = collected.estimate(Address())
        labels, edges = self.domain.labels, self.domain.edges
        return DistributionAnswer("distribution", labels, estimate, "square_wave", edges=edges)


@dataclass(frozen=True, eq=False)
class DistributionAnswer(Answer):
    """A histogram of intervals that also knows its mean, variance and quantiles."""

    edges: Floats = field(kw_only=True)

    def postprocess(self, method: str, **options: Any) -> "Answer":
        """Refuse: expectation maximisation has made the shares consistent already."""
        raise ParameterError("a distribution takes no post-processing: it is consistent already")

    @property
    def middles(self) -> Floats:
        """Return the middle of every interval."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def mean(self) -> Total:
        """Return the mean with its bootstrap error."""
        return self._figure(lambda shares: shares @ self.middles)

    def variance(self) -> Total:
        """Return the variance of the number between people, with its bootstrap error."""
        return self._figure(lambda shares: shares @ self.middles**2 - (shares @ self.middles) ** 2)

    def quantile(self, share: float) -> Total:
        """Return the number that this share of people is below, with its bootstrap error."""
        open_share("share", share)
        return self._figure(lambda shares: self._quantiles(shares, share))

    def measures(self) -> NumberAnswer:
        """Return mean, variance and quantiles together."""
        figures = {"mean": self.mean(), "variance": self.variance()}
        figures |= {f"{100 * share:g} %": self.quantile(share) for share in QUARTILES}
        estimate = self.estimate
        return NumberAnswer(
            self.name, figures, estimate.users, estimate.epsilon, self.mechanism, estimate.steps, self.level
        )

    def plot(self, path: str | Path | None = None, *, truth: Any = None) -> Any:
        """Draw the density with a band of its intervals."""
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import density

        return density(self, path, truth)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "measures": self.measures().rows()}

    def __str__(self) -> str:
        return str(self.measures())

    def _figure(self, function: Any) -> Total:
        figure = float(function(self.estimate.frequencies[None, :])[0])
        replicates = function(self.estimate.noise.replicates / self.estimate.users)
        # The replicates were drawn from this figure, so their distance from it includes the bias.
        return Total(figure, float(((replicates - figure) ** 2).mean()))

    def _quantiles(self, shares: Floats, share: float) -> Floats:
        """Return the quantile of every row, interpolated within intervals."""
        sums = np.concatenate([np.zeros((len(shares), 1)), shares.cumsum(axis=1)], axis=1)
        return np.array([np.interp(share, row, self.edges) for row in sums])
