"""Any number of records of one kind: what somebody has bought, which trips they made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.person_tables import Rows
from sottovoce.domains.records import Records
from sottovoce.errors import DomainError, ParameterError

MOST = 1 << 16


@dataclass(frozen=True)
class Lists(Domain, kind="lists"):
    """Up to ``most`` records of one person, none too; of longer lists a random part counts.

    ``most`` is known to everybody and must not depend on the data.
    """

    records: Records
    most: int

    def __post_init__(self) -> None:
        if type(self.most) is not int or not 1 <= self.most <= MOST:
            raise ParameterError(f"a list has at most so many records, from 1 to {MOST}")

    @property
    def size(self) -> int:
        raise ParameterError(
            "lists are asked about through an encoding: there are too many of them"
        )

    def indices(self, values: Iterable[Any]) -> Any:
        """Return the rows of lists of records."""
        held = [self._list(value) for value in values]
        sizes = np.array([len(one) for one in held], np.int64)
        flat = [record for one in held for record in one]
        cells = (
            self.records.indices(flat) if flat else np.zeros((0, len(self.records.names)), np.int64)
        )
        return Rows(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), cells)

    def _list(self, value: Any) -> list[Any]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise DomainError("a value must be a list of records")
        return list(value)

    def random_value(self, rng: Rng) -> Any:
        return Rows(np.array([0, 1]), self.records.random_value(rng))
