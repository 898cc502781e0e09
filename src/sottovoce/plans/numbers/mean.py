"""The mean of a number.  One round, one small report per person.

The hybrid mechanism is the default: its worst variance is never above that of the better of the two
mechanisms it mixes (Duchi's and the piecewise mechanism).  "wide_hybrid" and "wide_piecewise" name
the same mechanisms with windows of less variance, which are our own.

With the defence "graded" it is the mean of the distribution that graded groups give: see
graded_groups.py.  That costs accuracy where nobody lies.

Source: Wang et al. 2019.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate, Total
from sottovoce.core.influence import Exposure
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.mechanisms.wide_hybrid import wide_hybrid
from sottovoce.mechanisms.wide_piecewise import wide_piecewise
from sottovoce.plans.numbers.graded_answer import graded_answer, widened
from sottovoce.plans.numbers.graded_groups import (
    FREE_COINS,
    check_defence,
    check_probe,
    graded_question,
)
from sottovoce.plans.numbers.truth import true_figures
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

POINTS = (
    1 << 20
) + 1  # rounding to the nearest moves a number by at most a two-millionth of the range

DEFENDED_POINTS = 65
# Ways to set a mechanism, which a task's document names where it could name a kind.
WIDE: dict[str, Callable[[float, int], NumericMechanism]] = {
    "wide_hybrid": wide_hybrid,
    "wide_piecewise": wide_piecewise,
}


@dataclass(frozen=True, init=False)
class Mean(Plan, kind="mean"):
    """Ask everybody for a number from ``low`` to ``high``.

    Numbers outside are refused, or moved to the nearer end if ``clamped``.  ``mechanism`` is
    hybrid, piecewise, duchi, wide_hybrid or wide_piecewise.  The ``defence``
    "graded" asks in graded groups, the last of which reports at the epsilon ``probe`` (default:
    1/16).

    >>> Mean(0, 120).domain.high
    120.0
    """

    domain: Numbers
    mechanism: str
    defence: str | None = None
    probe: float | None = None

    def __init__(
        self,
        low: float = 0.0,
        high: float = 1.0,
        mechanism: str | None = None,
        *,
        clamped: bool = False,
        domain: Numbers | None = None,
        defence: str | None = None,
        probe: float | None = None,
    ) -> None:
        points = DEFENDED_POINTS if defence else POINTS
        chosen = mechanism or ("square_wave" if defence else "hybrid")
        if defence is not None and chosen != "square_wave":
            raise ParameterError("`mechanism` must be left out if there is a `defence`")
        object.__setattr__(self, "domain", domain or Numbers(low, high, points, clamped))
        object.__setattr__(self, "mechanism", chosen)
        object.__setattr__(self, "defence", check_defence(defence))
        object.__setattr__(self, "probe", check_probe(probe, defence))

    def step(self, collected: Collected) -> Round | NumberAnswer:
        if not collected.rounds:
            return Round(0, self._ask(collected.epsilon))
        if self.probe is not None:
            return self._defended(collected)
        tally = collected.tally(Address())
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, NumericMechanism)
        figure = on_scale(mechanism.mean(tally), self.domain.low, self.domain.high)
        return NumberAnswer(
            "mean", {"mean": figure}, tally.users, collected.epsilon, mechanism.kind
        )

    def _ask(self, epsilon: float) -> Ask:
        if self.probe is not None:
            return graded_question(epsilon, self.probe, self.domain.size)
        return Question(self._mechanism(epsilon))

    def _defended(self, collected: Collected) -> NumberAnswer:
        """Return the mean of the distribution over the points; the undefended one is a detail."""
        graded = graded_answer(collected)
        points = np.linspace(self.domain.low, self.domain.high, self.domain.size)
        linear = self._from_end_to_end(graded.linear_mean)
        read_out = self._from_end_to_end(graded.read_out)
        mean = replace(widened(_mean_of(graded.estimate, points), read_out), raw=linear)
        raw = graded.estimate.raw or graded.estimate
        undefended = widened(_mean_of(raw, points), linear)
        low, high = undefended.interval()
        details = {
            **graded.details,
            "undefended_mean": undefended.total,
            "undefended_interval": [low, high],
        }
        return NumberAnswer(
            "mean",
            {"mean": mean},
            graded.estimate.users,
            collected.epsilon,
            "square_wave",
            graded.estimate.steps,
            details=details,
        )

    def _from_end_to_end(self, mean: Total | None) -> Total | None:
        return None if mean is None else on_scale(mean, self.domain.low, self.domain.high)

    @property
    def concerns_of_free_coins(self) -> tuple[str, ...]:
        return () if self.probe is None else (FREE_COINS,)

    def _mechanism(self, epsilon: float) -> NumericMechanism:
        if self.mechanism in WIDE:
            return WIDE[self.mechanism](epsilon, self.domain.size)
        mechanism = numeric(self.mechanism, epsilon, self.domain.size)
        if mechanism.end != 1:  # its indices are the middles of buckets, not points up to the ends
            raise ParameterError(
                "`mechanism` of a mean must be hybrid, piecewise, duchi,"
                " wide_hybrid or wide_piecewise"
            )
        return mechanism

    @property
    def methods(self) -> tuple[str, ...]:
        return ("none",)

    def truth(self, values: Any, outcome: Outcome) -> dict[str, dict[str, float]]:
        return {
            outcome.name: true_figures(
                self.domain, values, [row["value"] for row in outcome.rows()]
            )
        }


def _mean_of(estimate: Estimate, points: Floats) -> Total:
    """Return the mean of a distribution over points, with its bootstrap error."""
    mean = float(estimate.frequencies @ points)
    replicates = estimate.noise.replicates @ points / estimate.users
    return Total(mean, float(((replicates - mean) ** 2).mean()))


def numeric(kind: str, epsilon: float, size: int) -> NumericMechanism:
    """Return the numeric mechanism of a kind."""
    mechanism_class: Any = Mechanism.kinds[kind]
    mechanism = mechanism_class(epsilon=epsilon, size=size)
    if not isinstance(mechanism, NumericMechanism):
        raise ParameterError(
            "`mechanism` must randomise numbers: hybrid, piecewise, duchi or square_wave"
        )
    return mechanism


def on_scale(figure: Total, low: float, high: float) -> Total:
    """Return a figure of [-1, 1] on the scale from low to high."""
    half = (high - low) / 2
    exposure = None
    if figure.exposure:
        influence = figure.exposure.influence.times(half)
        origin = low + half * (1 + figure.exposure.origin)
        exposure = Exposure(influence, figure.exposure.people, origin)
    return Total(low + half * (1 + figure.total), half**2 * figure.variance, exposure)
