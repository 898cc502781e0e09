"""The search for a configuration of PEOS with the accountant of the product.

A fake is a draw from the blanket, so the exact sums for privacy blankets apply: with all users for
the central epsilon, with one user for the epsilon against all others.  That needs far fewer fakes
than the closed forms.

For each shape, the fewest fakes that meet the target against users at the largest local epsilon,
and multiples of that number, are candidates.  Each gets the largest local epsilon that meets all
targets.  A target below the local one can always be met, by a local epsilon as small as the target.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import CentralTarget, fakes_for, local_for
from sottovoce.core import settings
from sottovoce.lab.peos.configure import (
    PeosAccounting,
    PeosConfiguration,
    PeosGoals,
    ReportShape,
)
from sottovoce.mechanisms.olh import MAX_BUCKETS
from sottovoce.plans.shuffled_choice import expected_mse

_BLOCKS = 4  # of the accountant
_FAKES_STEP = 2  # ratio between the numbers of fakes that are tried


@dataclass(frozen=True)
class BlanketAccounting(PeosAccounting):
    """The privacy blanket; ``step`` is the ratio between the numbers of buckets that are tried."""

    step: float = 1.25

    def __post_init__(self) -> None:
        settings.real("step", self.step, 1.01, 10)

    def configure(self, goals: PeosGoals) -> PeosConfiguration:
        best: PeosConfiguration | None = None

        def least_mse(shape: ReportShape) -> float:
            return _least_mse(goals, shape, 0)

        # The error falls with the local epsilon and grows with the fakes.  So a candidate that is
        # worse even with the largest local epsilon, or with fewer fakes, need not be accounted for.
        for shape in sorted(self._shapes(goals), key=least_mse):
            if best is not None and least_mse(shape) >= best.mse:
                break
            for fakes in _numbers_of_fakes(goals, shape):
                if best is not None and _least_mse(goals, shape, fakes) >= best.mse:
                    break
                found = _configuration(goals, shape, fakes)
                if best is None or found.mse < best.mse:
                    best = found
        assert best is not None
        return best

    def _shapes(self, goals: PeosGoals) -> Iterator[ReportShape]:
        yield ReportShape.direct(goals.size)
        # At any local epsilon, more than e^local + 1 buckets only add variance.
        max_cells = min(goals.size, MAX_BUCKETS, ceil(exp(goals.local) + 1))
        cells = 2
        while cells <= max_cells:
            yield ReportShape(goals.size, cells, hashed=True)
            cells = max(cells + 1, round(cells * self.step))


def _least_mse(goals: PeosGoals, shape: ReportShape, fakes: int) -> float:
    """Return the error with the largest local epsilon, whether or not it meets the targets."""
    return expected_mse(shape.mechanism(goals.local), ShuffledBatch(goals.users, fakes))


def _numbers_of_fakes(goals: PeosGoals, shape: ReportShape) -> Iterator[int]:
    """Yield the fewest fakes that meet the target against users, and multiples of them."""
    target = CentralTarget(goals.against_users, goals.delta)
    fakes = max(1, fakes_for(shape.mechanism(goals.local).blanket, target))
    while fakes < goals.max_fakes:
        yield fakes
        fakes *= _FAKES_STEP
    yield goals.max_fakes


def _configuration(goals: PeosGoals, shape: ReportShape, fakes: int) -> PeosConfiguration:
    """Return a shape with the largest local epsilon that meets all targets."""
    batch = ShuffledBatch(goals.users, fakes)
    alone = ShuffledBatch(1, fakes)
    local = goals.local
    for epsilon, crowd in ((goals.central, batch), (goals.against_users, alone)):
        target = CentralTarget(epsilon, goals.delta)
        local = local_for(target, crowd, lambda e: shape.mechanism(e).blanket, local, _BLOCKS)
    mechanism = shape.mechanism(local)
    return PeosConfiguration(
        mechanism,
        fakes,
        expected_mse(mechanism, batch),
        mechanism.blanket.epsilon(goals.users, fakes, goals.delta, _BLOCKS),
        mechanism.blanket.epsilon(1, fakes, goals.delta, _BLOCKS),
    )
