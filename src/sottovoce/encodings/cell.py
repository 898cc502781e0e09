"""The cell of a record in a layer of intervals: for every column the interval that holds its value.

From a list of records one is drawn.  A coin with probability (number of records) / ``most`` decides
whether it counts.  A person without records draws an invented record, which never counts.

A number may be rounded to an end of its range by a coin that preserves its mean.  A sum then needs
two cells instead of one per value.

Source: Wang 2021, section 7.4; Xu 2020, sections 3 and 5.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Ints
from sottovoce.core.rng import Rng
from sottovoce.core.settings import ascending, entries, whole, wholes
from sottovoce.domains.base import Domain
from sottovoce.domains.person_tables import Rows
from sottovoce.domains.tables import Tables
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError

MOST_CELLS = 1 << 62


@dataclass(frozen=True)
class Cell(Encoding, kind="cell"):
    """Yield the cell of some columns of a table, the first factor changing slowest.

    - ``widths`` is the number of values that an interval of each column covers.
    - ``most`` is that of a list table, or 0 for a single-record table.
    - ``weighted`` adds the coin that says whether a drawn record counts.
    - ``rounded`` names the columns that add their rounding coin.
    - ``mirrored`` names at most one column, whose intervals are doubled by its rounding coin: those
      of values rounded down come first, in reverse order, then those of values rounded up.  The
      width 0 of this column means a single interval.
    - ``aligned`` gives every factor whole bits.  The factor with the fewest bits changes slowest.
    """

    table: int
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    widths: tuple[int, ...]
    most: int = 0
    weighted: bool = False
    rounded: tuple[int, ...] = ()
    mirrored: tuple[int, ...] = ()
    aligned: bool = False

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_coins()
        self._check_widths()
        if self.cells > MOST_CELLS:
            raise ParameterError(
                "`widths` must give a layer at most 2^62 cells: use wider intervals"
            )

    def _check_columns(self) -> None:
        whole("table", self.table, 0)
        whole("most", self.most, 0)
        entries("columns", self.columns, 1)
        ascending("columns", wholes("columns", self.columns, 0))
        entries("sizes", self.sizes, len(self.columns), len(self.columns))
        wholes("sizes", self.sizes, 2)

    def _check_coins(self) -> None:
        ascending("rounded", wholes("rounded", self.rounded, 0))
        entries("mirrored", wholes("mirrored", self.mirrored, 0), 0, 1)
        if not set(self.rounded) <= set(self.columns):
            raise ParameterError("`rounded` must name columns of the cell")
        if not set(self.mirrored) <= set(self.columns):
            raise ParameterError("`mirrored` must name a column of the cell")
        if set(self.rounded) & set(self.mirrored):
            raise ParameterError("a column has one rounding coin: it is mirrored or rounded")
        if self.weighted and not self.most:
            raise ParameterError("`weighted` must be false where nobody has a list of records")

    def _check_widths(self) -> None:
        entries("widths", self.widths, len(self.columns), len(self.columns))
        wholes("widths", self.widths, 0)
        if all(self.widths):
            return
        for column, width in zip(self.columns, self.widths, strict=True):
            if not width and column not in self.mirrored:
                raise ParameterError(
                    "each entry of `widths` must be at least 1, or 0 for a mirrored column"
                )

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """Return how many values each factor has: the columns' intervals, then the coins."""
        triples = zip(self.columns, self.sizes, self.widths, strict=True)
        nodes = [
            node_count(size, width, doubled=column in self.mirrored)
            for column, size, width in triples
        ]
        return (*nodes, *([2] if self.weighted else []), *([2] * len(self.rounded)))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Return the factors from the slowest to the fastest."""
        factors = range(len(self.factors))
        if not self.aligned:
            return tuple(factors)
        return tuple(sorted(factors, key=lambda factor: self.bits[factor]))

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Return the bits that each factor takes where they are aligned."""
        return tuple((factor - 1).bit_length() for factor in self.factors)

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """Return the widths of the bit groups of an aligned cell, the fastest first.

        Nothing if it is not aligned.
        """
        if not self.aligned:
            return ()
        return tuple(self.bits[factor] for factor in reversed(self.order) if self.bits[factor])

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Return how many cell numbers each factor takes, from the slowest to the fastest."""
        if not self.aligned:
            return self.factors
        return tuple(1 << self.bits[factor] for factor in self.order)

    @property
    def cells(self) -> int:
        """Return how many cells the layer has."""
        return prod(self.radices)

    def __call__(self, values: Any, rng: Rng) -> Ints:
        table = values.tables[self.table]
        records, counts = self._drawn(table, rng) if isinstance(table, Rows) else (table, None)
        return self._cells(records, counts, rng)

    def promoting(self, values: Any, rng: Rng) -> Ints:
        table = values.tables[self.table]
        records, counts = self._drawn(table, rng) if isinstance(table, Rows) else (table, None)
        if counts is not None:  # a record of one's own always counts
            counts = np.asarray(table.sizes > 0)
        return self._cells(records, counts, rng)

    def _cells(self, records: Ints, counts: Bools | None, rng: Rng) -> Ints:
        """Return the cells of some records; ``counts`` says which records of a list count."""
        coins = {
            column: self._rounds_up(records, column, rng)
            for column in (*self.mirrored, *self.rounded)
        }
        parts = [
            self._intervals(records[:, column], column_index, coins)
            for column_index, column in enumerate(self.columns)
        ]
        if self.weighted and counts is not None:
            parts.append(counts.astype(np.int64))
        parts += [coins[column].astype(np.int64) for column in self.rounded]
        cells = np.zeros(len(records), np.int64)
        for factor, radix in zip(self.order, self.radices, strict=True):
            cells = cells * radix + parts[factor]
        return cells

    def outputs(self, domain: Domain) -> int:
        known = (
            isinstance(domain, Tables)
            and self.table < len(domain.names)
            and domain.most(self.table) == self.most
        )
        attributes = (
            domain.records(self.table).attributes if known and isinstance(domain, Tables) else ()
        )
        if not attributes or self.columns[-1] >= len(attributes):
            raise ParameterError(
                "this question asks about a table or columns that the domain does not have"
            )
        if any(
            attributes[column].size != size
            for column, size in zip(self.columns, self.sizes, strict=True)
        ):
            raise ParameterError(
                "this question asks about columns of other sizes than the domain has"
            )
        return self.cells

    def _drawn(self, table: Rows, rng: Rng) -> tuple[Ints, Bools]:
        """Return one record of everybody and whether it counts; the same draws are made for
        everybody.

        Of r records each is drawn with the chance 1/r, and counts with the chance r/most: together
        1/most.
        """
        people = len(table)
        drawn = rng.below(np.maximum(table.sizes, 1))
        made_up = np.stack([rng.integers(size, people) for size in self.sizes], axis=1)
        counts = rng.integers(self.most, people) < table.sizes
        records = np.zeros((people, self.columns[-1] + 1), np.int64)
        records[:, list(self.columns)] = made_up
        some = np.flatnonzero(table.sizes)
        own = table.cells[table.starts[:-1][some] + drawn[some]]
        records[some[:, None], list(self.columns)] = own[:, list(self.columns)]
        return records, counts

    def _rounds_up(self, records: Ints, column: int, rng: Rng) -> Bools:
        """Return a coin with the chance value/(size - 1): the mean of its ends is the value."""
        size = self.sizes[self.columns.index(column)]
        return np.asarray(rng.integers(size - 1, len(records)) < records[:, column])

    def _intervals(self, values: Ints, column_index: int, coins: dict[int, Bools]) -> Ints:
        column = self.columns[column_index]
        size = self.sizes[column_index]
        width = self.widths[column_index]
        if column not in self.mirrored:
            return np.asarray(values // min(width, size), np.int64)
        if not width:
            return np.zeros(len(values), np.int64)
        width = min(width, size)
        up = coins[column]
        return np.where(up, -(-size // width) + values // width, (size - 1 - values) // width)


def node_count(size: int, width: int, *, doubled: bool) -> int:
    """Return how many intervals of a width a column has; ``doubled`` if it is mirrored."""
    if not width:
        return 1
    return -(-size // width) * (2 if doubled else 1)
