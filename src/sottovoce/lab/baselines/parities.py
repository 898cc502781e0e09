"""Hadamard coefficients of records: the encoding of one, and the family of all.

A coefficient names some bits of some attributes; a record answers it with the parity of these bits.
A marginal of ``order`` attributes needs only coefficients that touch at most ``order`` attributes,
and never the empty one, which is known.  The family lists them in this order: fewer attributes
first, sets of attributes in lexicographic order, then the masks of bits, the last attribute's
changing fastest.

Source: Cormode 2018, section 4.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import comb, prod

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.core.settings import flag, whole, wholes
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.view import check_attributes, check_columns
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.marginals.view_selection import elementary_symmetric
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Question

MAX_COEFFICIENTS = 1 << 20


@dataclass(frozen=True)
class Parity(Encoding, kind="parity", wire=False):
    """Yield the parity of all bits of the columns' values that the masks choose.

    ``sizes`` are the numbers of values of the columns.
    """

    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    masks: tuple[int, ...]

    def __post_init__(self) -> None:
        check_columns(self.columns, self.sizes)
        if len(self.masks) != len(self.columns):
            raise ParameterError("`masks` must have one entry for every column")
        for mask, size in zip(self.masks, self.sizes, strict=True):
            wholes("masks", (mask,), 1, (1 << bits_of(size)) - 1)

    def __call__(self, values: Values, rng: Rng) -> Ints:
        parity = np.zeros(len(values), np.int64)
        for column, mask in zip(self.columns, self.masks, strict=True):
            parity ^= np.bitwise_count(values[:, column] & mask)
        return parity & 1

    def outputs(self, domain: Domain) -> int:
        check_attributes(domain, self.columns, self.sizes)
        return 2


@dataclass(frozen=True)
class Parities(Family, kind="parities", wire=False):
    """The questions about all coefficients that marginals of ``order`` attributes need.

    ``sizes`` are the numbers of values of the attributes.  With ``within``, a set of exactly
    ``order`` attributes is picked first and then one of its own coefficients, so a coefficient of
    fewer attributes is asked once for every set that contains them.
    """

    one_mechanism = True

    mechanism: Mechanism
    sizes: tuple[int, ...]
    order: int
    within: bool = False

    def __post_init__(self) -> None:
        if self.mechanism.size != 2:
            raise ParameterError("`mechanism` must have `size` 2: a parity is odd or even")
        wholes("sizes", self.sizes, 2)
        whole("order", self.order, 1, len(self.sizes))
        flag("within", self.within)
        # A set of `order` attributes has at least 2^order - 1 coefficients: where these are too
        # many by themselves, nothing is counted.
        too_many = self.order >= MAX_COEFFICIENTS.bit_length()
        if too_many or self._count > MAX_COEFFICIENTS:
            raise ParameterError(
                f"`order` must leave at most {MAX_COEFFICIENTS:,} coefficients: take a lower order"
            )

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        if not self.within:
            return coefficient_count(self.sizes, self.order)
        sets = comb(len(self.sizes), self.order)
        return (
            elementary_symmetric([self._mask_count(size) for size in self.sizes], self.order)[-1]
            - sets
        )

    def __getitem__(self, index: int) -> Question:
        columns, masks = self.coefficient(index)
        sizes = tuple(self.sizes[column] for column in columns)
        return Question(self.mechanism, Parity(columns, sizes, masks))

    def encoded(self, members: Ints, values: Values, rng: Rng) -> Ints:
        parity = np.zeros(len(members), np.uint8)
        for column in range(len(self.sizes)):
            parity ^= np.bitwise_count(values[:, column] & self.masks[members, column])
        return (parity & 1).astype(np.int64)

    @cached_property
    def masks(self) -> Ints:
        """Return (coefficients, attributes): the bits of each attribute that are touched."""
        table = np.zeros((len(self), len(self.sizes)), np.int64)
        for index in range(len(self)):
            columns, masks = self.coefficient(index)
            table[index, list(columns)] = masks
        return table

    def coefficient(self, index: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the attributes that a coefficient touches, and the mask of bits of each."""
        if not 0 <= index < len(self):
            raise ParameterError(f"`index` of a coefficient must be from 0 to {len(self) - 1}")
        set_index = bisect_right(self._ends, index)
        columns = self._columns[set_index]
        # Without `within` the masks of a set count from 1; with it from 0, but not all of them are
        # 0.
        rest = index - self._starts[set_index] + int(self.within)
        masks = []
        for column in reversed(columns):
            rest, mask = divmod(rest, self._mask_count(self.sizes[column]))
            masks.append(mask if self.within else mask + 1)
        masks.reverse()
        touched = [pair for pair in zip(columns, masks, strict=True) if pair[1]]
        return tuple(column for column, _ in touched), tuple(mask for _, mask in touched)

    def start(self, columns: tuple[int, ...]) -> int:
        """Return the index of the first coefficient of a set of attributes."""
        return self._starts[self._columns.index(columns)]

    @cached_property
    def _columns(self) -> list[tuple[int, ...]]:
        orders = [self.order] if self.within else range(1, self.order + 1)
        attributes = range(len(self.sizes))
        return [columns for order in orders for columns in combinations(attributes, order)]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self._coefficients_of(columns) for columns in self._columns))

    def _coefficients_of(self, columns: tuple[int, ...]) -> int:
        """Return how many coefficients a set of attributes has in the family."""
        masks = prod(self._mask_count(self.sizes[column]) for column in columns)
        return masks - 1 if self.within else masks  # all masks empty is never asked

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *self._ends[:-1]]

    def _mask_count(self, size: int) -> int:
        """Return how many masks an attribute may have; the empty one only with ``within``."""
        codes = 1 << bits_of(size)
        return codes if self.within else codes - 1


def bits_of(size: int) -> int:
    """Return how many bits the values of an attribute have.

    >>> bits_of(2), bits_of(3), bits_of(4)
    (1, 2, 2)
    """
    return (size - 1).bit_length()


def coefficient_count(sizes: Sequence[int], order: int) -> int:
    """Return how many coefficients marginals of an order need, without listing them.

    >>> coefficient_count([2] * 8, 3), coefficient_count([3] * 8, 3)
    (92, 1788)
    """
    return sum(elementary_symmetric([(1 << bits_of(size)) - 1 for size in sizes], order)[1:])
