"""The distribution of a number: shape, mean, variance and quantiles, from one bucket each.

Reports by Square Wave, decoded by expectation maximisation with smoothing (EMS).  Errors of the
mean, the variance and single buckets come from a parametric bootstrap of the whole decoding, those
of quantiles and ranges from the likelihood of the reports, which assumes no shape: see
likelihood_intervals.py.  Intervals of the mean, of quantiles and of ranges cover as stated.  Those
of single buckets do not at narrow peaks, which smoothing flattens; docs/evidence/quantiles.md has
the measured coverage.

With the defence "graded" everybody reports in one of several graded groups, and false reports are
found and removed: see graded_groups.py.  That costs accuracy where nobody lies.

Source: Li et al. 2020.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers import attacked
from sottovoce.answers.answer import Answer
from sottovoce.answers.export import optional
from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats
from sottovoce.core.cumulative_band import CumulativeBand, Intervals, QuantileTotal, RangeTotal
from sottovoce.core.estimate import Total
from sottovoce.core.settings import open_share
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.real_range import check_points
from sottovoce.errors import ParameterError
from sottovoce.maths.em import Sliding
from sottovoce.maths.normal import quantile as normal_quantile
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.graded_answer import graded_answer, widened
from sottovoce.plans.numbers.graded_groups import (
    FREE_COINS,
    check_defence,
    check_probe,
    graded_question,
)
from sottovoce.plans.numbers.likelihood_intervals import LikelihoodIntervals
from sottovoce.plans.numbers.mean import numeric, on_scale
from sottovoce.plans.numbers.truth import true_figures
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

BUCKETS = 512
DEFENDED_BUCKETS = 64  # the filters fit false reports to every output: fewer are more certain
QUARTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
INTERVALS = (
    "quantiles and ranges by the likelihood of the reports; mean, variance and buckets by bootstrap"
)
_ERROR_LEVEL = 0.95  # of the interval that the error of a quantile is taken from
FIGURES = ("mean", "variance", *(f"{100 * share:g} %" for share in QUARTILES))


@dataclass(frozen=True, init=False)
class Distribution(Plan, kind="distribution"):
    """Ask everybody for the interval that contains their number, from ``low`` to ``high``.

    There are 512 ``buckets`` by default, and 64 with a defence.  The ``defence`` "graded" asks in
    graded groups, the last of which reports at the epsilon ``probe`` (default: 1/16).

    >>> Distribution(0, 100, 50).domain.count
    50
    """

    domain: Buckets
    defence: str | None = None
    probe: float | None = None

    def __init__(
        self,
        low: float = 0.0,
        high: float = 1.0,
        buckets: int | None = None,
        *,
        clamped: bool = False,
        domain: Buckets | None = None,
        defence: str | None = None,
        probe: float | None = None,
    ) -> None:
        if domain is None:
            buckets = buckets or (DEFENDED_BUCKETS if defence else BUCKETS)
            check_points("buckets", buckets)
            domain = Buckets(low, high, buckets, clamped)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "defence", check_defence(defence))
        object.__setattr__(self, "probe", check_probe(probe, defence))

    def step(self, collected: Collected) -> "Round | DistributionAnswer":
        if not collected.rounds:
            return Round(0, self._ask(collected.epsilon))
        if self.probe is not None:
            return self._defended(collected)
        estimate = collected.estimate(Address())
        labels, edges = self.domain.labels, self.domain.edges
        linear_mean = self._linear_mean(collected) if estimate.users > 1 else None
        return DistributionAnswer(
            "distribution",
            labels,
            estimate,
            "square_wave",
            details={"intervals": INTERVALS},
            edges=edges,
            linear_mean=linear_mean,
            band=self._band(collected),
        )

    def _ask(self, epsilon: float) -> Ask:
        if self.probe is not None:
            return graded_question(epsilon, self.probe, self.domain.size)
        return Question(numeric("square_wave", epsilon, self.domain.size))

    def _defended(self, collected: Collected) -> "DistributionAnswer":
        graded = graded_answer(collected)
        return DistributionAnswer(
            "distribution",
            self.domain.labels,
            graded.estimate,
            "square_wave",
            details=graded.details,
            edges=self.domain.edges,
            linear_mean=self._between_middles(graded.linear_mean),
            read_out=self._between_middles(graded.read_out),
        )

    def _between_middles(self, mean: Total | None) -> Total | None:
        """Return a mean of [-1, 1] on the scale from the first middle of a bucket to the last."""
        if mean is None:
            return None
        half_bucket = (self.domain.high - self.domain.low) / self.domain.size / 2
        return on_scale(mean, self.domain.low + half_bucket, self.domain.high - half_bucket)

    @property
    def concerns_of_free_coins(self) -> tuple[str, ...]:
        return () if self.probe is None else (FREE_COINS,)

    def _band(self, collected: Collected) -> CumulativeBand:
        """Return the reports as they are, which bound the distribution without EM."""
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, SquareWave)
        counts = collected.tally(Address())["outputs"].astype(np.float64)
        return CumulativeBand(counts, mechanism.inside, mechanism.outside, mechanism.window)

    def _linear_mean(self, collected: Collected) -> Total:
        """Return the mean by the linear read-out of the reports, which EM does not use."""
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, NumericMechanism)
        mean = mechanism.mean(collected.tally(Address()))
        return on_scale(mean, self.domain.low, self.domain.high)

    @property
    def methods(self) -> tuple[str, ...]:
        return ("none",)

    def truth(self, values: Any, outcome: Outcome) -> dict[str, dict[str, float]]:
        """Return how many people are in each interval, and the true figures of the distribution."""
        counts = np.bincount(self.domain.indices(values), minlength=self.domain.size).tolist()
        by_interval = dict(zip(self.domain.labels, counts, strict=True))
        figures = true_figures(self.domain, values, FIGURES)
        return {outcome.name: {**by_interval, **figures}}


@dataclass(frozen=True, eq=False)
class DistributionAnswer(Answer):
    """A histogram of intervals that also knows its mean, variance and quantiles.

    The influence of a false report on EM is not known.  Bounds that allow for false reports
    therefore come from the reports without EM:

    - Bounds of the mean come from ``linear_mean``.
    - Bounds of intervals and quantiles come from the ``band`` of all cumulative shares.
    - The variance has no such bounds.

    ``read_out`` is a mean without EM.  It widens the error of a defended mean.
    """

    edges: Floats = field(kw_only=True)
    linear_mean: Total | None = field(default=None, kw_only=True)
    read_out: Total | None = field(default=None, kw_only=True)
    band: CumulativeBand | None = field(default=None, kw_only=True)

    @property
    def influence(self) -> dict[str, Any] | None:
        """Return the most that one false report does to the mean."""
        exposure = self.linear_mean and self.linear_mean.exposure
        return {"mean": exposure.influence.to_dict()} if exposure else None

    def _attacked(self, fakes: float, *, simultaneous: bool) -> list[attacked.Bounds | None]:
        if self.band is None:
            return [None] * len(self.labels)
        # The band holds for all intervals together, so that simultaneous bounds are no wider.
        least, most = self.band.bounds(self.level, fakes)
        low, high = self.estimate.interval(self.level, simultaneous=simultaneous)
        users = self.estimate.users
        lowest = np.minimum(low, users * np.maximum(least[1:] - most[:-1], 0.0))
        highest = np.maximum(high, users * np.minimum(most[1:] - least[:-1], 1.0))
        return list(zip(lowest.tolist(), highest.tolist(), strict=True))

    def postprocess(self, method: str, **options: Any) -> "Answer":
        """Refuse: expectation maximisation has made the shares consistent already."""
        raise ParameterError("a distribution takes no post-processing: it is consistent already")

    @property
    def middles(self) -> Floats:
        """Return the middle of every interval."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def mean(self) -> Total:
        """Return the mean with its bootstrap error."""
        mean = self._figure(lambda shares: shares @ self.middles)
        return replace(widened(mean, self.read_out), raw=self.linear_mean)

    @property
    def raw(self) -> "DistributionAnswer":
        """Return the answer without a defence."""
        estimate = self.estimate.raw or self.estimate
        read_out = self.linear_mean if self.estimate.raw else self.read_out
        return replace(self, estimate=estimate, read_out=read_out)

    def variance(self) -> Total:
        """Return the variance of the number between people, with its bootstrap error."""
        return self._figure(lambda shares: shares @ self.middles**2 - (shares @ self.middles) ** 2)

    def quantile(self, share: float) -> Total:
        """Return the number below which this share of people lies.

        Its interval comes from the likelihood.  Its error is that of a normal interval of the same
        length.  With a defence both come from the bootstrap.
        """
        open_share("share", share)
        figure = self._figure(lambda shares: self._quantiles(shares, share))
        intervals = self._quantile_intervals(share)
        return QuantileTotal(
            figure.total,
            _variance_of(intervals) if intervals else figure.variance,
            band=self.band,
            edges=self.edges,
            share=share,
            intervals=intervals,
        )

    def _quantile_intervals(self, share: float) -> Intervals | None:
        likelihood = self._likelihood
        if likelihood is None:
            return None

        def intervals(level: float) -> tuple[float, float]:
            first, last = likelihood.quantile(share, level)
            return float(self.edges[first]), float(self.edges[last])

        return intervals

    def sum(self, values: Iterable[str]) -> Total:
        """Return how many people are in several intervals together.

        Its interval is that of the likelihood.  Bounds that allow for false reports are known for
        neighbours alone.
        """
        wanted = list(values)
        total = super().sum(wanted)
        likelihood = self._likelihood
        if likelihood is None:
            return total
        inside = np.isin(self.labels, wanted)
        users = self.estimate.users

        def intervals(level: float) -> tuple[float, float]:
            low, high = likelihood.share(inside, level)
            return users * low, users * high

        places = np.flatnonzero(inside)
        neighbours = len(places) > 0 and len(places) == places[-1] - places[0] + 1
        return RangeTotal(
            total.total,
            _variance_of(intervals),
            band=self.band if neighbours else None,
            first=int(places[0]) if neighbours else 0,
            last=int(places[-1]) + 1 if neighbours else 0,
            users=users,
            intervals=intervals,
        )

    @property
    def _likelihood(self) -> LikelihoodIntervals | None:
        """Return the likelihood of all reports; None with a defence, which removes some."""
        return None if self.band is None else _likelihood_of(self.band)

    def measures(self) -> NumberAnswer:
        """Return mean, variance and quantiles together."""
        figures = {"mean": self.mean(), "variance": self.variance()}
        figures |= {f"{100 * share:g} %": self.quantile(share) for share in QUARTILES}
        estimate = self.estimate
        return NumberAnswer(
            self.name,
            figures,
            estimate.users,
            estimate.epsilon,
            self.mechanism,
            estimate.steps,
            self.level,
            self.fakes,
            self.shuffled,
            self.details,
        )

    def highlights(self) -> Outcome:
        return self.measures()

    def plot(
        self,
        path: str | Path | None = None,
        *,
        truth: Mapping[str, float] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the density with a band of its intervals; ``truth`` counts people by interval."""
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import density

        people = None if truth is None else np.array([truth[label] for label in self.labels])
        return density(self, path, people, ax)

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


@lru_cache(maxsize=8)
def _likelihood_of(band: CumulativeBand) -> LikelihoodIntervals:
    return LikelihoodIntervals(band.counts, Sliding(band.inside, band.outside, band.window))


def _variance_of(intervals: Intervals) -> float:
    """Return the variance of a normal number whose 95 % interval is as long."""
    low, high = intervals(_ERROR_LEVEL)
    return ((high - low) / (2 * normal_quantile(_ERROR_LEVEL))) ** 2
