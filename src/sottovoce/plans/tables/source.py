"""What the passes of a query read besides their input: how people were asked, and what they
answered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sottovoce.plans.tables.layout import Layout
from sottovoce.tasks.collected import Collected

if TYPE_CHECKING:
    from sottovoce.plans.tables.result import ResultRow


Withheld = Callable[[Sequence["ResultRow"]], Sequence["ResultRow"]]


@dataclass(frozen=True, eq=False)
class Source:
    """The layout of a plan, and the reports if there are any yet.

    ``counts_rows`` asks for an estimate of the records of every row beside its numbers.
    ``withheld`` picks the rows that may not be shown; nothing else is done with their numbers, so
    that neither HAVING nor ORDER BY tells about them.  ``parameters`` are the values that the text
    of a query leaves open.
    """

    layout: Layout
    collected: Collected | None = field(default=None, repr=False)
    counts_rows: bool = False
    withheld: Withheld | None = None
    parameters: Sequence[Any] | Mapping[str, Any] = ()

    @property
    def coins_checked(self) -> bool:
        """Return whether enrolment tokens deal the layers, so that nobody can choose one."""
        return self.collected is not None and self.collected.coins_checked

    @property
    def reports(self) -> Collected:
        """Return the reports."""
        assert self.collected is not None, "planning needs no reports, answering does"
        return self.collected
