"""BE, binary encoding: attributes of several values are split into bits and collected as such.

A comparator for CALM, which does not need it: a table of a few attributes becomes one of many bits,
of which some combinations stand for no value.

Source: Wang 2021, chapter 6.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.baselines.parities import bits_of
from sottovoce.plans.marginals.chow_liu import to_distribution
from sottovoce.plans.marginals.marginal_table import View


def split_into_bits(records: Ints, sizes: Sequence[int]) -> Ints:
    """Return (users, bits): the bits of all attributes, the highest of each first.

    >>> split_into_bits(np.array([[2, 1]]), [3, 2]).tolist()
    [[1, 0, 1]]
    """
    columns: list[Ints] = []
    for attribute, size in enumerate(sizes):
        shifts = reversed(range(bits_of(size)))
        columns += [records[:, attribute] >> shift & 1 for shift in shifts]
    return np.stack(columns, axis=1)


def order_in_bits(sizes: Sequence[int], order: int) -> int:
    """Return how many bits a table of ``order`` attributes has at most.

    >>> order_in_bits([2, 3, 5], 2)
    5
    """
    return sum(sorted(map(bits_of, sizes))[-order:])


def table_from_bits(tables: Callable[[View], Floats], sizes: Sequence[int], view: View) -> Floats:
    """Return the table of some attributes from that of their bits, without impossible cells."""
    starts = np.concatenate([[0], np.cumsum([bits_of(size) for size in sizes])])
    bits: list[int] = []
    for attribute in view:
        bits += range(int(starts[attribute]), int(starts[attribute + 1]))
    table = tables(tuple(bits)).reshape([1 << bits_of(sizes[attribute]) for attribute in view])
    return to_distribution(table[tuple(slice(sizes[attribute]) for attribute in view)])
