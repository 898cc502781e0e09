"""A number of a plan's answers, and the most that one false report can do to it.

The influence of a report on one count of its mechanism follows from the document of a task
(``wire/integrity.py``).  Where answers are made of more than that, such as sums over a column and
joins of tables, only the plan knows how; it states those numbers before anybody is asked.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sottovoce.core.influence import Influence

Kind = Literal["count", "sum", "join"]


@dataclass(frozen=True)
class MovedNumber:
    """A number, and the most that one false report adds to it and takes from it.

    ``kind`` tells which it is: the count of one value, the sum over a column of numbers, or the
    count of one value of each of several joined tables.  ``name`` is the column or the tables, and
    the numbers of a column of sums lie from ``low`` to ``high``.
    """

    kind: Kind
    name: str
    influence: Influence
    low: float = 0.0
    high: float = 1.0

    @property
    def times_honest(self) -> float:
        """Return the larger influence over the most that one honest value can change the number.

        A value changes it by being there, and by being another one of the range.
        """
        honest = max(abs(self.low), abs(self.high), self.high - self.low)
        return max(self.influence.up, self.influence.down) / honest

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "influence": self.influence.to_dict()}
