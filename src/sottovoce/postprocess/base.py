"""The contract of post-processors: a function from raw shares to better ones.

Each method is a module with ``rule_for(estimate, **options)``, which returns its ``Rule``.  A rule
already contains everything that the method needs of one estimate, such as the variance of its
noise, so that it can be applied to the shares and to their bootstrap replicates alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError


def _no_remark(raw: Floats) -> str:
    return ""


@dataclass(frozen=True)
class Rule:
    """A function from raw shares to better ones, (..., size) in and out.

    A rule for the ``whole`` domain relies on shares that sum to 1, so it cannot be applied to some
    candidates.  ``remark`` says what was special about one vector of raw shares.
    """

    name: str
    function: Callable[[Floats], Floats]
    whole: bool = False
    remark: Callable[[Floats], str] = _no_remark

    def __call__(self, raw: Floats) -> Floats:
        return self.function(raw)

    def step(self, raw: Floats) -> str:
        """Return the name that an estimate lists among its steps."""
        remark = self.remark(raw)
        return f"{self.name} ({remark})" if remark else self.name


def checked_shares(raw: Floats) -> Floats:
    """Return shares as an array, or refuse those that no collection gives."""
    raw = np.asarray(raw, np.float64)
    if raw.ndim == 0 or raw.shape[-1] == 0:
        raise ParameterError("post-processing needs the share of at least one value")
    if not np.isfinite(raw).all():
        raise ParameterError("every share must be a finite number")
    return raw


def unheld_deviation(estimate: Estimate) -> float:
    """Return the standard error of the share of a value that nobody holds."""
    return sqrt(estimate.noise.vote_variance.unheld / estimate.users)


@dataclass(frozen=True)
class PostProcessor:
    """One method of post-processing.

    ``needs_whole_domain`` means that it relies on shares that sum to 1, so that it has nothing to
    say about some candidates.  ``needs_equal_errors`` means that it relies on one variance for all
    values that nobody holds, which sums and joint tables do not have.
    """

    name: str
    summary: str  # a few words for people who choose a method
    rule_for: Callable[..., Rule]
    needs_whole_domain: bool = False
    needs_equal_errors: bool = False

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.lower() or " " in self.name:
            raise ParameterError("`name` of a method must be lower case and without spaces")

    @property
    def label(self) -> str:
        """Return the name and the summary, as a form shows them."""
        return f"{self.name}: {self.summary}"
