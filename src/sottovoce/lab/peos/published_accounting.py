"""The search for a configuration of PEOS with the closed forms of the paper.

With D values or buckets, n users, f fakes and a = 14 ln(2/delta) / central^2,

    against users^2 = 14 ln(2/delta) D / f
    central^2       = 14 ln(2/delta) / ((n - 1) / (e^local + D - 1) + f / D)

So f >= 14 ln(2/delta) D / (against users)^2, and e^local <= (n - 1) / (a - f / D) - D + 1 unless
f / D >= a, where the fakes suffice alone.  Both formulas hold up to an epsilon of 1.

Numbers of cells and of fakes are searched on grids of equal ratios, and again between the
neighbours of the best ones.

Source: Wang 2021, section 9.5.
"""

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import solh
from sottovoce.lab.baselines.shuffle_bounds.closed_forms import MAX_DELTA
from sottovoce.lab.peos.configure import (
    PeosAccounting,
    PeosConfiguration,
    PeosGoals,
    ReportShape,
)
from sottovoce.mechanisms.olh import MAX_BUCKETS
from sottovoce.plans.shuffled_choice import expected_mse

_GRID = 100  # candidates in each pass
_PASSES = 3  # each pass searches between the neighbours of the best candidate
_MARGIN = 1e-9  # of the local epsilon, so that rounding never exceeds a target


@dataclass(frozen=True)
class PublishedAccounting(PeosAccounting):
    """The closed forms of the paper."""

    def configure(self, goals: PeosGoals) -> PeosConfiguration:
        _check(goals)
        candidates = [_best_fakes(goals, ReportShape.direct(goals.size))]
        low = 2
        high = min(goals.size, MAX_BUCKETS)
        for _ in range(_PASSES):
            cells = np.unique(np.geomspace(low, high, _GRID).round().astype(np.int64)).tolist()
            found = [_best_fakes(goals, ReportShape(goals.size, each, True)) for each in cells]
            best = min(range(len(cells)), key=lambda position: found[position].mse)
            candidates.append(found[best])
            low = cells[max(best - 1, 0)]
            high = cells[min(best + 1, len(cells) - 1)]
        return _achieved(goals, min(candidates, key=_rank))


@dataclass(frozen=True)
class _Candidate:
    """A shape with its best number of fakes; the error is infinite if no number will do."""

    shape: ReportShape
    fakes: int
    odds: float  # e^local
    mse: float


def _rank(candidate: _Candidate) -> tuple[float, bool]:
    """Return what orders candidates: the error, and among hopeless ones those with fakes first."""
    return candidate.mse, candidate.fakes == 0


def _constant(goals: PeosGoals) -> float:
    return 14 * log(2 / goals.delta)


def _best_fakes(goals: PeosGoals, shape: ReportShape) -> _Candidate:
    """Return a shape with the number of fakes that has the least error."""
    fewest = ceil(_constant(goals) * shape.cells / goals.against_users**2)
    if fewest > goals.max_fakes:
        return _Candidate(shape, 0, 1.0, np.inf)
    low = fewest
    high = goals.max_fakes
    for _ in range(_PASSES):
        fakes = np.unique(np.geomspace(low, high, _GRID).round())
        odds = _largest_odds(goals, shape, fakes)
        errors = _errors(goals, shape, fakes, odds)
        best = int(errors.argmin())
        low = int(fakes[max(best - 1, 0)])
        high = int(fakes[min(best + 1, len(fakes) - 1)])
    return _Candidate(shape, int(fakes[best]), float(odds[best]), float(errors[best]))


def _largest_odds(goals: PeosGoals, shape: ReportShape, fakes: Floats) -> Floats:
    """Return the largest e^local that meets the central and the local target."""
    wanted = _constant(goals) / goals.central**2 - fakes / shape.cells  # a - f / D
    bounded = (goals.users - 1) / np.maximum(wanted, 1e-300) - shape.cells + 1
    return np.asarray(np.minimum(np.exp(goals.local), bounded))


def _errors(goals: PeosGoals, shape: ReportShape, fakes: Floats, odds: Floats) -> Floats:
    """Return the mean squared errors; infinite where no local epsilon above 0 is left."""
    n = goals.users
    usable = odds > 1 + 1e-9
    odds = np.where(usable, odds, 2.0)
    p = odds / (odds + shape.cells - 1)
    q = 1 / shape.cells if shape.hashed else 1 / (odds + shape.cells - 1)
    s = 1 / shape.cells
    own = n / goals.size * (p * (1 - p) - q * (1 - q))
    errors = (n * q * (1 - q) + own + fakes * s * (1 - s)) / (n * (p - q)) ** 2
    return np.where(usable, errors, np.inf)


def _achieved(goals: PeosGoals, best: _Candidate) -> PeosConfiguration:
    """Return what the best candidate achieves, or say which target cannot be met."""
    if not best.fakes:
        raise ParameterError(
            "`against_users` cannot be met with `max_fakes` fakes: raise one of the two"
        )
    if not np.isfinite(best.mse):
        raise ParameterError("`central` cannot be met with so few users: raise it")
    local = min(goals.local, log(best.odds)) - _MARGIN
    mechanism = best.shape.mechanism(local)
    cells = best.shape.cells
    central = solh.with_fakes((local, cells), goals.users, best.fakes, goals.delta)
    against_users = solh.against_users(cells, best.fakes, goals.delta)
    return PeosConfiguration(
        mechanism,
        best.fakes,
        expected_mse(mechanism, ShuffledBatch(goals.users, best.fakes)),
        min(local, central),
        min(local, against_users),
    )


def _check(goals: PeosGoals) -> None:
    for name in ("central", "against_users"):
        if getattr(goals, name) > 1:
            raise ParameterError(f"`{name}` must be at most 1: the published bounds hold up to it")
    if goals.delta >= MAX_DELTA:
        raise ParameterError(f"`delta` must be below {MAX_DELTA}, not {goals.delta!r}")
