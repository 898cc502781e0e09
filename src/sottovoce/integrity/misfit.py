"""Misfit test: whether any honest population could have sent some randomised numbers.

For any population, the probabilities of the outputs are a known channel times the shares of the
values.  If no shares explain the counts, some reports were not made by honest devices.  The filter
of poisoned outputs (EMF) then estimates how many.  The mathematics is in
``plans.numbers.poison_evidence``.

The estimated share is reliable only at a small epsilon.  It is shown beside an alarm, and never
without one.
"""

from dataclasses import dataclass

from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest
from sottovoce.core.tally import Tally
from sottovoce.maths.normal import chi_squared_tail
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.numbers.poison_evidence import CELLS, evidence_in_tally

NAME = "misfit"
MAX_GRID = 1 << 12  # values of a channel that is fitted


@dataclass(frozen=True)
class Misfit:
    """The test, and the estimated share of false reports."""

    test: PlausibilityTest
    share: float


def misfit(mechanism: Mechanism, evidence: Tally, alpha: float = FALSE_ALARM) -> Misfit | None:
    """Return the test whether honest people explain the outputs; None for counts and fine grids."""
    if not mechanism.randomises_numbers or mechanism.size > MAX_GRID:
        return None
    filter_evidence = evidence_in_tally(mechanism, evidence, alpha)
    degrees = min(CELLS, len(evidence["outputs"])) - 1
    statistic = 2 * filter_evidence.misfit
    p_value = chi_squared_tail(statistic, degrees) if statistic else 1.0
    test = PlausibilityTest(NAME, statistic, 2 * filter_evidence.threshold, p_value, evidence.users)
    return Misfit(test, filter_evidence.share)
