"""A rule: one method of post-processing, with everything it needs of one estimate already in it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import VoteVariance
from sottovoce.errors import ParameterError


def _nothing(raw: Floats) -> str:
    return ""


@dataclass(frozen=True)
class Rule:
    """A function from raw shares to better ones, (..., size) in and out.

    A rule for the ``whole`` domain relies on shares that sum to 1: it has nothing to say about some candidates.
    ``remark`` says what was special about one vector of raw shares.
    """

    name: str
    function: Callable[[Floats], Floats]
    whole: bool = False
    remark: Callable[[Floats], str] = _nothing

    def __call__(self, raw: Floats) -> Floats:
        return self.function(raw)

    def step(self, raw: Floats) -> str:
        """Return the name that an estimate lists among its steps."""
        remark = self.remark(raw)
        return f"{self.name} ({remark})" if remark else self.name


def finite(raw: Floats) -> Floats:
    """Return the estimates as an array, or refuse what no collection gives."""
    raw = np.asarray(raw, np.float64)
    if raw.ndim == 0 or raw.shape[-1] == 0:
        raise ParameterError("post-processing needs the estimates of at least one value")
    if not np.isfinite(raw).all():
        raise ParameterError("every estimate must be a finite number")
    return raw


def law(estimate: Estimate) -> VoteVariance:
    """Return the variance of one vote, held and unheld, which some methods need."""
    return estimate.noise.vote_variance


def sigma(estimate: Estimate) -> float:
    """Return the standard error of the share of a value that nobody holds."""
    return sqrt(law(estimate).unheld / estimate.users)
