"""Several attributes of a record as one value: a cell of their table."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.records import Records
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError

MOST_CELLS = 1 << 62


@dataclass(frozen=True)
class View(Encoding, kind="view"):
    """Yield the cell of the columns' table, the first column changing slowest; ``sizes`` are those of the columns."""

    columns: tuple[int, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        check_columns(self.columns, self.sizes)
        if prod(self.sizes) > MOST_CELLS:
            raise ParameterError("the table of a view has at most 2^62 cells")

    def __call__(self, values: Values, rng: Rng) -> Ints:
        cells = np.zeros(len(values), np.int64)
        for column, size in zip(self.columns, self.sizes, strict=True):
            cells = cells * size + values[:, column]
        return cells

    def outputs(self, domain: Domain) -> int:
        check_attributes(domain, self.columns, self.sizes)
        return prod(self.sizes)


def check_columns(columns: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse columns that are not in ascending order, or without one size of at least 2 for each."""
    numbers = all(type(one) is int for one in (*columns, *sizes))
    if not numbers or not columns or len(columns) != len(sizes) or min(sizes) < 2:
        raise ParameterError("a view has at least one column, and for each its number of values, at least 2")
    if sorted(set(columns)) != list(columns) or columns[0] < 0:
        raise ParameterError("the columns of a view are in ascending order, each once")


def check_attributes(domain: Domain, columns: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse a domain whose records have other attributes than these."""
    if not isinstance(domain, Records) or columns[-1] >= len(domain.attributes):
        raise ParameterError("this question asks about attributes that the domain does not have")
    if any(domain.attributes[column].size != size for column, size in zip(columns, sizes, strict=True)):
        raise ParameterError("this question asks about attributes of other sizes than the domain has")
