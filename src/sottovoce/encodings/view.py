"""A view: several attributes of a record as one value, the cell of their table."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError

MAX_CELLS = 1 << 62


@dataclass(frozen=True)
class View(Encoding, kind="view"):
    """Yield the cell in the table of some columns of a record; the first column changes slowest.

    ``sizes`` are the numbers of values of these columns.
    """

    columns: tuple[int, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        # Each column has at least two values, so that more columns have more cells.
        settings.entries("columns", self.columns, 1, MAX_CELLS.bit_length() - 1)
        check_columns(self.columns, self.sizes)
        if prod(self.sizes) > MAX_CELLS:
            raise ParameterError("the product of `sizes` must be at most 2^62 cells")

    def __call__(self, values: Values, rng: Rng) -> Ints:
        cells = np.zeros(len(values), np.int64)
        for column, size in zip(self.columns, self.sizes, strict=True):
            cells = cells * size + values[:, column]
        return cells

    def outputs(self, domain: Domain) -> int:
        check_attributes(domain, self.columns, self.sizes)
        return prod(self.sizes)


def check_columns(columns: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse columns that do not ascend, and sizes that are not one per column and at least 2."""
    settings.entries("columns", columns, 1)
    settings.wholes("columns", columns, 0)
    settings.ascending("columns", columns)
    settings.entries("sizes", sizes, len(columns), len(columns))
    settings.wholes("sizes", sizes, 2)


def check_attributes(domain: Domain, columns: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse a domain whose records do not have attributes of these sizes in these columns."""
    if columns[-1] >= domain.attribute_count:
        raise ParameterError(
            f"the question asks about the attribute in column {columns[-1]},"
            f" but the domain has {domain.attribute_count} attributes"
        )
    for column, size in zip(columns, sizes, strict=True):
        actual = domain.attribute_size(column)
        if actual != size:
            raise ParameterError(
                f"the question asks about attributes of {size} values in column {column},"
                f" but the domain has {actual} values there"
            )
