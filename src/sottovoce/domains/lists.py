"""Any number of records of one kind: what somebody has bought, which trips they made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.person_tables import Rows
from sottovoce.domains.records import Records
from sottovoce.errors import DomainError, ParameterError

MOST = 1 << 16


@dataclass(frozen=True)
class Lists(Domain, kind="lists"):
    """From 0 to ``most`` records of one person; of a longer list a random part counts.

    ``most`` is known to everybody and must not depend on the data.
    """

    records: Records
    most: int

    def __post_init__(self) -> None:
        whole("most", self.most, 1, MOST)

    has_flat_index = False

    @property
    def size(self) -> int:
        raise ParameterError("lists have no size: people answer about them through an encoding")

    def indices(self, values: Iterable[Any]) -> Any:
        """Return the rows of lists of records."""
        lists = [self._list(value) for value in values]
        sizes = np.array([len(records) for records in lists], np.int64)
        flat = [record for records in lists for record in records]
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

    def statement_facts(self) -> dict[str, Any]:
        return {}
