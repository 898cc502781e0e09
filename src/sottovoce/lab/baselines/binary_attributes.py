"""BE: attributes of several values taken apart into bits, then collected like attributes of two values.

A comparator for CALM, which needs no such thing: a table of a few attributes is one of many bits, of which some
combinations stand for nothing.

Source: Wang 2021, chapter 6.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.encodings.parity import bits_of
from sottovoce.plans.marginals.structure import possible
from sottovoce.plans.marginals.tables import View


def taken_apart(records: Ints, sizes: Sequence[int]) -> Ints:
    """Return (users, bits): the bits of all attributes, the highest of each first.

    >>> taken_apart(np.array([[2, 1]]), [3, 2]).tolist()
    [[1, 0, 1]]
    """
    bits = [records[:, one] >> place & 1 for one, places in enumerate(_places(sizes)) for place in places]
    return np.stack(bits, axis=1)


def order_of(sizes: Sequence[int], order: int) -> int:
    """Return how many bits a table of so many attributes may need.

    >>> order_of([2, 3, 5], 2)
    5
    """
    return sum(sorted(map(bits_of, sizes))[-order:])


def put_together(tables: Callable[[View], Floats], sizes: Sequence[int], view: View) -> Floats:
    """Return the table of some attributes from that of their bits, without the cells that stand for nothing."""
    starts = np.concatenate([[0], np.cumsum([bits_of(size) for size in sizes])])
    bits = tuple(int(bit) for one in view for bit in range(starts[one], starts[one + 1]))
    table = tables(bits).reshape([1 << bits_of(sizes[one]) for one in view])
    return possible(table[tuple(slice(sizes[one]) for one in view)])


def _places(sizes: Sequence[int]) -> list[range]:
    return [range(bits_of(size) - 1, -1, -1) for size in sizes]
