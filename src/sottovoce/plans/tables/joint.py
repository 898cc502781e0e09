"""SQL over several tables: every person makes the same few reports, whatever they hold, for one
budget.

The budget covers the person: all records of all tables together, how many there are, and whether
there are any.

Source: Xu 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.table import Table
from sottovoce.plans.tables.table_plan import TablePlan, joined_tables
from sottovoce.tasks.plan import Plan


@dataclass(frozen=True, init=False)
class Joint(TablePlan, Plan, kind="joint"):
    """Tables of several services about the same people, each a ``Table`` or its settings, joined on
    ``uid``.

    ``fanout`` is how many parts an interval has; ``"auto"`` takes the least error for the longest
    column of numbers.
    """

    domain: Tables
    rows: tuple[int, ...]
    fanout: int

    def __init__(
        self,
        domain: Tables | Mapping[str, Any] | None = None,
        rows: tuple[int, ...] | None = None,
        fanout: int | str = FANOUT,
        *,
        services: Mapping[str, Any] | None = None,
    ) -> None:
        given = services if domain is None else domain
        if isinstance(given, Mapping):
            tables = {
                name: table if isinstance(table, Table) else Table(**table)
                for name, table in given.items()
            }
            given = joined_tables(tables)
            rows = rows or tuple(table.rows[0] for table in tables.values())
        if not isinstance(given, Tables):
            raise ParameterError("`services` must map the name of each table to its columns")
        self.settle(given, tuple(rows or (1,) * len(given.names)), fanout)
