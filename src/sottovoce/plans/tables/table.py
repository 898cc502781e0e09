"""SQL over one private table: counts, sums and averages under any conditions, from one report per
person.

Source: Wang 2021, chapter 7.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.table_plan import TablePlan, Weighing, Workload, single_table
from sottovoce.tasks.plan import Plan


@dataclass(frozen=True, init=False)
class Table(TablePlan, Plan, kind="table"):
    """A table called ``name`` with columns that people keep to themselves, and ``public`` ones.

    Without ``most`` everybody has exactly one record; with it any number, of which up to ``most``
    count and ``rows`` are reported.

    ``workload`` lists queries that will be asked, or pairs of a query and its weight: people are
    asked more often about what these need.  ``"balanced"`` is for who cannot list them but wants
    single combinations of all columns too.  The ``weights`` of the layers follow from it.
    """

    domain: Tables
    rows: tuple[int, ...]
    fanout: int
    weights: tuple[tuple[int, ...], ...] = field(default=(), metadata={"omitted": True})

    def __init__(
        self,
        columns: Records | Mapping[str, Any] | None = None,
        *,
        public: Mapping[str, Any] | None = None,
        name: str = "people",
        most: int | None = None,
        rows: int | tuple[int, ...] = 1,
        fanout: int | str = FANOUT,
        domain: Tables | None = None,
        workload: Workload | None = None,
        weights: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        tables = single_table(name, columns, public, most) if domain is None else domain
        if len(tables.names) != 1:
            raise ParameterError("`domain` must hold one table: several tables are a `Joint`")
        rows = rows if isinstance(rows, tuple) else (rows,)
        self.settle(tables, rows, fanout, Weighing(weights, workload))
