"""Trees of intervals over ordered values: what range questions are made of.

A tree of fan-out b has levels 0, the root, to h, single values; a node of level l covers b^(h - l)
neighbouring values. Values are padded to b^h; nobody holds the padding.  Categories have two
levels: everything, and each of them.  A doubled tree has two of these below its root: the values in
reverse, then the values.

Source: Wang 2021, section 7.3.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.errors import ParameterError

FANOUT = 5


@dataclass(frozen=True)
class Hierarchy:
    """The tree over ``size`` values.

    A ``flat`` one has only the root and the values, a ``doubled`` one another level on top.

    >>> tree = Hierarchy(25, 5)
    >>> tree.height, tree.width(1), tree.nodes(1)
    (2, 5, 5)
    """

    size: int
    fanout: int = FANOUT
    flat: bool = False
    doubled: bool = False

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 2:
            raise ParameterError(f"`size` must be a whole number of at least 2, not {self.size!r}")
        if type(self.fanout) is not int or self.fanout < 2:
            raise ParameterError(
                f"`fanout` must be a whole number of at least 2, not {self.fanout!r}"
            )

    @cached_property
    def height(self) -> int:
        """Return the level of single values."""
        height = 1
        while not self.flat and self.fanout**height < self.size:
            height += 1
        return height + self.doubled

    @property
    def leaves(self) -> int:
        """Return the values, padding included."""
        return self._half * (2 if self.doubled else 1)

    def width(self, level: int) -> int:
        """Return how many values a node of a level covers."""
        self._check(level)
        if self.doubled and level == 0:
            return self.leaves
        if self.flat:
            return self.size if level == int(self.doubled) else 1
        return int(self.fanout ** (self.height - level))

    def nodes(self, level: int) -> int:
        """Return how many nodes a level has, those of padding alone included."""
        return self.leaves // self.width(level)

    def real(self, level: int) -> Ints:
        """Return the nodes of a level that hold at least one value."""
        if self.doubled and level == 0:
            return np.zeros(1, np.int64)
        first = np.arange(-(-self.size // self.width(level)))
        return (
            np.concatenate([first, self._half // self.width(level) + first])
            if self.doubled
            else first
        )

    def node(self, values: Values, level: int) -> Ints:
        """Return the node of every value."""
        return np.asarray(values // self.width(level), np.int64)

    def children(self, level: int) -> int:
        """Return how many children a node of a level has; single values have none."""
        return 0 if level == self.height else self.width(level) // self.width(level + 1)

    @property
    def _half(self) -> int:
        return self.size if self.flat else int(self.fanout ** (self.height - self.doubled))

    def _check(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise ParameterError(f"the levels of this tree are 0 to {self.height}")
