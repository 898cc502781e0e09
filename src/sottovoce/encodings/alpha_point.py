"""Rounding of counters to a few levels, by an offset that each device draws for itself.

For a number that moves a little all the time, such as minutes of use a day, in a longitudinal task:
every distinct value would need a permanent response of its own.  A device adds its offset, the same
for every value, and rounds down; while the counter wiggles inside one interval it has one level and
one response.  Over all offsets the level is right on average.  What leaks is that a change of the
response shows a crossing of one of the device's boundaries, at the time of the crossing: the task
should pay for as many distinct values as a counter may cross levels.

Source: Ding 2017.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError

_LARGEST = 1 << 31  # an index times the levels stays below 2^63


@dataclass(frozen=True)
class AlphaPoint(Encoding, kind="alpha_point"):
    """Map ``size`` indices to ``points`` equally spaced levels; the rng fixes the offset.

    In the longitudinal flow the rng is the keyed stream of the question, hence the offset the same
    for ever; one draw, whatever the value.  The chance of the upper level is the remainder over
    ``size`` - 1, exactly.
    """

    points: int
    size: int

    def __post_init__(self) -> None:
        if type(self.points) is not int or type(self.size) is not int or not 2 <= self.points <= self.size <= _LARGEST:
            raise ParameterError(
                "rounding needs from 2 levels to as many as there are values, and at most 2^31 of them"
            )

    def __call__(self, values: Values, rng: Rng) -> Values:
        levels, rest = np.divmod(values.astype(np.int64) * (self.points - 1), self.size - 1)
        return levels + (rng.integers(self.size - 1, len(values)) < rest)

    def outputs(self, domain: Domain) -> int:
        if not isinstance(domain, (Integers, Numbers, Buckets)) or domain.size != self.size:
            raise ParameterError("this question rounds a number of another range than the domain has")
        return self.points
