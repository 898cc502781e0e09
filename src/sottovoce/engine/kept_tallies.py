"""A cache of tallies in memory, with a limit on the number of cells.

A table of six columns may have thousands of layers, and their tallies can be larger than all
reports.  If the cache would have too many cells, the earlier tallies are dropped.  They are
computed again when they are needed.
"""

from collections.abc import Iterator, Mapping

from sottovoce.core.tally import Tally
from sottovoce.tasks.question import Address

MAX_CELLS = 1 << 24  # of all tallies that are kept


class KeptTallies(Mapping[Address, Tally]):
    """Tallies by address: as many as fit."""

    def __init__(self, tallies: Mapping[Address, Tally] | None = None) -> None:
        self._tallies: dict[Address, Tally] = dict(tallies or {})
        self._cell_count = _cell_count(self._tallies)

    def keep(self, tallies: Mapping[Address, Tally]) -> None:
        """Add tallies that were made together; the others are forgotten if all are too many."""
        cells = _cell_count(tallies)
        if self._cell_count + cells > MAX_CELLS:
            self.clear()
        self._tallies.update(tallies)
        self._cell_count += cells

    def clear(self) -> None:
        """Forget all tallies."""
        self._tallies = {}
        self._cell_count = 0

    def __getitem__(self, address: Address) -> Tally:
        return self._tallies[address]

    def __iter__(self) -> Iterator[Address]:
        return iter(self._tallies)

    def __len__(self) -> int:
        return len(self._tallies)


def _cell_count(tallies: Mapping[Address, Tally]) -> int:
    return sum(array.size for tally in tallies.values() for array in tally.counts.values())
