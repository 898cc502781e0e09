"""One question for every Hadamard coefficient that marginals of some order need.

Only coefficients that touch the bits of at most ``order`` attributes are needed, and never the one
that touches none, which is known.  In their order: fewer attributes first, sets of attributes as in
a dictionary, then masks of bits, the last attribute's changing fastest.

Source: Cormode 2018, section 4.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import comb, prod

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.encodings.parity import Parity, bits_of
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question

MOST = 1 << 20


@dataclass(frozen=True)
class Parities(Family, kind="parities"):
    """The questions about coefficients of records with attributes of these ``sizes``.

    With ``within`` a set of exactly ``order`` attributes is picked first and one of its own
    coefficients then, so that those of fewer attributes are asked once for every set that contains
    them.
    """

    one_mechanism = True

    mechanism: Mechanism
    sizes: tuple[int, ...]
    order: int
    within: bool = False

    def __post_init__(self) -> None:
        if self.mechanism.size != 2:
            raise ParameterError("a coefficient is a matter of odd or even")
        if not 1 <= self.order <= len(self.sizes) or min(self.sizes) < 2:
            raise ParameterError("marginals are of at least one attribute and at most all, of at least 2 values each")
        # Sets of so many attributes have at least 2^order - 1 coefficients: there is no need to
        # count more.
        if self.order >= MOST.bit_length() or self._count > MOST:
            raise ParameterError(f"at most {MOST:,} coefficients are asked about")

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        """Return the number of coefficients without listing them: sums of products over sets of
        attributes.
        """
        sums = [1] + [0] * self.order
        for column in range(len(self.sizes)):
            for order in range(self.order, 0, -1):
                sums[order] += self._choices(column) * sums[order - 1]
        return sums[-1] - comb(len(self.sizes), self.order) if self.within else sum(sums[1:])

    def __getitem__(self, index: int) -> Question:
        columns, masks = self.coefficient(index)
        return Question(self.mechanism, Parity(columns, tuple(self.sizes[one] for one in columns), masks))

    def encoded(self, members: Ints, values: Values, rng: Rng) -> Ints:
        odd = np.zeros(len(members), np.uint8)
        for column in range(len(self.sizes)):
            odd ^= np.bitwise_count(values[:, column] & self.masks[members, column])
        return (odd & 1).astype(np.int64)

    @cached_property
    def masks(self) -> Ints:
        """Return (coefficients, attributes): which bits of which attribute each touches."""
        table = np.zeros((len(self), len(self.sizes)), np.int64)
        for index in range(len(self)):
            columns, masks = self.coefficient(index)
            table[index, list(columns)] = masks
        return table

    def coefficient(self, index: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the attributes that a coefficient touches and the bits of each."""
        if not 0 <= index < len(self):
            raise ParameterError("there is no such coefficient")
        place = bisect_right(self._ends, index)
        columns = self._columns[place]
        rest, masks = index - (self._ends[place - 1] if place else 0) + self.within, []
        for column in reversed(columns):
            rest, mask = divmod(rest, self._choices(column))
            masks.append(mask + (not self.within))
        touched = [(column, mask) for column, mask in zip(columns, reversed(masks), strict=True) if mask]
        return tuple(column for column, _ in touched), tuple(mask for _, mask in touched)

    def start(self, columns: tuple[int, ...]) -> int:
        """Return the first coefficient of a set of attributes."""
        place = self._columns.index(columns)
        return self._ends[place - 1] if place else 0

    @cached_property
    def _columns(self) -> list[tuple[int, ...]]:
        orders = [self.order] if self.within else range(1, self.order + 1)
        return [columns for order in orders for columns in combinations(range(len(self.sizes)), order)]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(prod(map(self._choices, columns)) - self.within for columns in self._columns))

    def _choices(self, column: int) -> int:
        """Return how many masks a column may have: with ``within`` also the empty one."""
        return (1 << bits_of(self.sizes[column])) - (not self.within)
