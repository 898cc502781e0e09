"""SQL over one private table: counts, sums and averages under any conditions, from one report per person.

Source: Wang 2021, chapter 7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.domains.records import Records
from sottovoce.domains.tables import Services
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.joint import Queries, services_of
from sottovoce.tasks.plan import Plan


@dataclass(frozen=True, init=False)
class Table(Queries, Plan, kind="table"):
    """A table called ``name`` with the columns that people keep to themselves, and those that everybody may see.

    Without ``most`` everybody has exactly one record; with it any number, of which up to ``most`` count and ``rows``
    are reported.
    """

    domain: Services
    rows: tuple[int, ...]
    method: str
    fanout: int
    published: bool

    def __init__(
        self,
        columns: Records | Mapping[str, Any] | None = None,
        *,
        public: Mapping[str, Any] | None = None,
        name: str = "people",
        most: int | None = None,
        rows: int | tuple[int, ...] = 1,
        method: str = "hio",
        fanout: int | str = FANOUT,
        published: bool = False,
        domain: Services | None = None,
    ) -> None:
        made = services_of(name, columns, public, most) if domain is None else domain
        if len(made.names) != 1:
            raise ParameterError("a table is one; several are a joint collection")
        self.settle(made, rows if isinstance(rows, tuple) else (rows,), method, fanout, published)
