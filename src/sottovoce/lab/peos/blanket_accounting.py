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
        # The error falls with the local epsilon.  So a candidate that is worse even with the
        # largest one need not be accounted for.
        for candidate in sorted(self._candidates(goals), key=lambda entry: entry.least_mse):
            if best is not None and candidate.least_mse >= best.mse:
                break
            found = candidate.configuration(goals)
            if best is None or found.mse < best.mse:
                best = found
        assert best is not None
        return best

    def _candidates(self, goals: PeosGoals) -> Iterator["_Candidate"]:
        against_users = CentralTarget(goals.against_users, goals.delta)
        for shape in self._shapes(goals):
            mechanism = shape.mechanism(goals.local)
            fakes = max(1, fakes_for(mechanism.blanket, against_users))
            while True:
                fakes = min(fakes, goals.max_fakes)
                least_mse = expected_mse(mechanism, ShuffledBatch(goals.users, fakes))
                yield _Candidate(shape, fakes, least_mse)
                if fakes == goals.max_fakes:
                    break
                fakes *= _FAKES_STEP

    def _shapes(self, goals: PeosGoals) -> Iterator[ReportShape]:
        yield ReportShape.direct(goals.size)
        # At any local epsilon, more than e^local + 1 buckets only add variance.
        max_cells = min(goals.size, MAX_BUCKETS, ceil(exp(goals.local) + 1))
        cells = 2
        while cells <= max_cells:
            yield ReportShape(goals.size, cells, hashed=True)
            cells = max(cells + 1, round(cells * self.step))


@dataclass(frozen=True)
class _Candidate:
    """A shape and a number of fakes; its error is at least that at the largest local epsilon."""

    shape: ReportShape
    fakes: int
    least_mse: float

    def configuration(self, goals: PeosGoals) -> PeosConfiguration:
        """Return this candidate with the largest local epsilon that meets all targets."""
        batch = ShuffledBatch(goals.users, self.fakes)
        alone = ShuffledBatch(1, self.fakes)
        local = self._local(CentralTarget(goals.central, goals.delta), batch, goals.local)
        local = self._local(CentralTarget(goals.against_users, goals.delta), alone, local)
        mechanism = self.shape.mechanism(local)
        return PeosConfiguration(
            mechanism,
            self.fakes,
            expected_mse(mechanism, batch),
            mechanism.blanket.epsilon(goals.users, self.fakes, goals.delta, _BLOCKS),
            mechanism.blanket.epsilon(1, self.fakes, goals.delta, _BLOCKS),
        )

    def _local(self, target: CentralTarget, batch: ShuffledBatch, max_local: float) -> float:
        return local_for(
            target,
            batch,
            lambda epsilon: self.shape.mechanism(epsilon).blanket,
            max_local,
            _BLOCKS,
        )
