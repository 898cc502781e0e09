"""The mean of a number.  One round, one small report per person.

The hybrid mechanism is the default: its worst variance is never above that of the better of the two
mechanisms it mixes (Duchi's and the piecewise mechanism).

Source: Wang et al. 2019.
"""

from dataclasses import dataclass
from typing import Any

from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.answers.outcome import Outcome
from sottovoce.core.estimate import Total
from sottovoce.core.influence import Exposure
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.plans.numbers.truth import true_figures
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

POINTS = (
    1 << 20
) + 1  # rounding to the nearest moves a number by at most a two-millionth of the range


@dataclass(frozen=True, init=False)
class Mean(Plan, kind="mean"):
    """Ask everybody for a number from ``low`` to ``high``.

    Numbers outside are refused, or moved to the nearer end if ``clamped``.

    >>> Mean(0, 120).domain.high
    120.0
    """

    domain: Numbers
    mechanism: str

    def __init__(
        self,
        low: float = 0.0,
        high: float = 1.0,
        mechanism: str = "hybrid",
        *,
        clamped: bool = False,
        domain: Numbers | None = None,
    ) -> None:
        object.__setattr__(self, "domain", domain or Numbers(low, high, POINTS, clamped))
        object.__setattr__(self, "mechanism", mechanism)

    def step(self, collected: Collected) -> Round | NumberAnswer:
        if not collected.rounds:
            return Round(0, Question(self._mechanism(collected.epsilon)))
        tally = collected.tally(Address())
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, NumericMechanism)
        figure = on_scale(mechanism.mean(tally), self.domain.low, self.domain.high)
        return NumberAnswer(
            "mean", {"mean": figure}, tally.users, collected.epsilon, mechanism.kind
        )

    def _mechanism(self, epsilon: float) -> NumericMechanism:
        mechanism = numeric(self.mechanism, epsilon, self.domain.size)
        if mechanism.end != 1:  # its indices are the middles of buckets, not points up to the ends
            raise ParameterError("`mechanism` of a mean must be hybrid, piecewise or duchi")
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
