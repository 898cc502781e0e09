"""Alpha-point rounding: a counter is rounded to a few levels by an offset that each device draws.

For a number that changes a little all the time, such as minutes of use a day, in a longitudinal
task, where every distinct value needs a permanent response of its own.  A device adds its offset,
the same for every value, and rounds down to a multiple of the distance between two levels.  While
the counter stays inside one interval it has one level and one response.  Averaged over all offsets
the level is exact.

What leaks: a change of the response shows that the counter crossed one of the device's boundaries,
and when.  A task would have to pay for as many distinct values as a counter may cross levels.  No
plan of the product rounds like this; the published encoding is kept for comparison.

Source: Ding 2017.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError

MAX_SIZE = 1 << 31  # an index times the levels stays below 2^63


@dataclass(frozen=True)
class AlphaPoint(Encoding, kind="alpha_point", wire=False):
    """Map ``size`` indices to ``points`` equally spaced levels; the rng fixes the offset.

    In a longitudinal task the rng is the keyed stream of the question, so the offset never changes.
    One draw is made, whatever the value.  With ``level, rest = divmod(index * (points - 1), size -
    1)`` the upper level has probability rest / (size - 1), exactly.
    """

    points: int
    size: int

    def __post_init__(self) -> None:
        whole("size", self.size, 2, MAX_SIZE)
        whole("points", self.points, 2, self.size)

    def __call__(self, values: Values, rng: Rng) -> Values:
        levels, rest = np.divmod(values.astype(np.int64) * (self.points - 1), self.size - 1)
        offset = rng.integers(self.size - 1, len(values))
        return levels + (offset < rest)

    def outputs(self, domain: Domain) -> int:
        if not isinstance(domain, (Integers, Numbers, Buckets)) or domain.size != self.size:
            raise ParameterError("`domain` must be a range of numbers with `size` values")
        return self.points
