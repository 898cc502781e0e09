"""Which mechanism for shuffled reports: the least error under two targets.

One target is central, (epsilon, delta) against the collector alone; the other caps the local
epsilon, which holds against everybody.  For direct response and for affine response with every
rank, the largest local epsilon that meets both is found.  Then the exact mean squared errors
decide.

With n users and f fakes, of which a share s supports each value, a share is estimated as

    (supports - n q - f s) / (n (p - q))

and its mean squared error over a domain of d values is

    (n q (1 - q) + n / d (p (1 - p) - q (1 - q)) + f s (1 - s)) / (n (p - q))^2

Direct response wins where the blanket puts about one report into every cell; affine response wins
for large domains and where the local cap binds.

Source: Wang 2021, section 9.5, with the estimator corrected; docs/shuffling.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.central_noise import gaussian_variance, laplace_variance
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
from sottovoce.accounting.targets import MAX_LOCAL, CentralTarget, local_for
from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine import MAX_DERIVED_RANK, AffineResponse, average_variance
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR

BLOCKS = 4  # of the accountant while mechanisms are compared


@dataclass(frozen=True)
class ShuffledChoice:
    """A mechanism for shuffled reports, its exact error and what it guarantees."""

    mechanism: PureMechanism
    mse: float
    batch: ShuffledBatch
    target: CentralTarget

    @property
    def guarantee(self) -> ShuffledGuarantee:
        """Return what the mechanism guarantees in this batch."""
        batch = self.batch
        return ShuffledGuarantee.of(
            self.mechanism.blanket, batch.users, batch.fakes, self.target.delta
        )


def choose_shuffled(
    size: int, target: CentralTarget, batch: ShuffledBatch, max_local: float = MAX_LOCAL
) -> ShuffledChoice:
    """Return the mechanism with the least mean squared error that meets both targets.

    >>> target = CentralTarget(epsilon=0.5, delta=1e-9)
    >>> chosen = choose_shuffled(1024, target, ShuffledBatch(100_000))
    >>> chosen.mechanism.kind, chosen.mechanism.buckets, chosen.mechanism.epsilon
    ('affine', 512, 6.0)
    """
    settings.whole("size", size, 2, GRR.max_size)
    max_local = settings.epsilon("max_local", max_local)

    def least_mse(make: Callable[[float], PureMechanism]) -> float:
        return expected_mse(make(max_local), batch)

    best: ShuffledChoice | None = None
    # The error falls with the local epsilon.  So a candidate that is worse even at the largest one
    # need not be searched.
    for make in sorted(candidates(size), key=least_mse):
        if best is None or least_mse(make) < best.mse:
            choice = _meeting(make, target, batch, max_local)
            best = choice if best is None else min(best, choice, key=lambda each: each.mse)
    assert best is not None
    return best


def _meeting(
    make: Callable[[float], PureMechanism],
    target: CentralTarget,
    batch: ShuffledBatch,
    max_local: float,
) -> ShuffledChoice:
    """Return a candidate at the largest local epsilon that meets both targets."""
    local = local_for(target, batch, lambda epsilon: make(epsilon).blanket, max_local, BLOCKS)
    mechanism = make(local)
    return ShuffledChoice(mechanism, expected_mse(mechanism, batch), batch, target)


def candidates(size: int) -> list[Callable[[float], PureMechanism]]:
    """Return direct response and affine response with every rank, as functions of epsilon."""
    made: list[Callable[[float], PureMechanism]] = [lambda epsilon: GRR(epsilon, size)]
    if size >= AffineResponse.min_size:
        max_rank = min((size - 1).bit_length() - 1, MAX_DERIVED_RANK)
        made += [partial(_affine, size, 1 << rank) for rank in range(1, max_rank + 1)]
    return made


def _affine(size: int, buckets: int, epsilon: float) -> PureMechanism:
    return AffineResponse(epsilon, size, buckets)


def expected_mse(mechanism: PureMechanism, batch: ShuffledBatch) -> float:
    """Return the exact mean squared error of the estimated shares, averaged over the domain."""
    p = mechanism.p
    q = mechanism.q
    users = batch.users
    honest = users * q * (1 - q) + users / mechanism.size * (p * (1 - p) - q * (1 - q))
    fake = batch.fakes * _share(mechanism) * (1 - _share(mechanism))
    return (honest + fake) / (users * (p - q)) ** 2


def shuffled_shares(mechanism: PureMechanism, supports: Ints, batch: ShuffledBatch) -> Floats:
    """Return unbiased shares of the users from the supports of all reports, fakes included."""
    expected = batch.users * mechanism.q + batch.fakes * _share(mechanism)
    return np.asarray((supports - expected) / (batch.users * (mechanism.p - mechanism.q)))


def _share(mechanism: PureMechanism) -> float:
    """Return how likely a fake supports a value, or refuse a mechanism that does not state it."""
    if mechanism.share is None:
        raise ParameterError("`mechanism` must state the share that its blanket supports")
    return mechanism.share


@dataclass(frozen=True)
class Yardsticks:
    """The mean squared errors of a trusted curator and of unshuffled reports, at one target."""

    gaussian: float
    laplace: float
    local: float

    @classmethod
    def of(cls, size: int, target: CentralTarget, users: int) -> "Yardsticks":
        """Return the errors for a histogram of ``size`` values."""
        plain = min(
            average_variance(mechanism.p, mechanism.q, size)
            for mechanism in (make(target.epsilon) for make in candidates(size))
            if mechanism.p > mechanism.q
        )
        return cls(
            gaussian=gaussian_variance(target) / users**2,
            laplace=laplace_variance(target.epsilon) / users**2,
            local=plain / users,
        )
