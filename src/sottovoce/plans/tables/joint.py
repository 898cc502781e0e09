"""SQL over several tables: every person makes the same few reports, whatever they hold, for one
budget.

The budget covers the person: all records of all tables together, how many there are, and whether
there are any.

Source: Xu 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.table import Table
from sottovoce.plans.tables.table_plan import TablePlan, Weighing, Workload, joined_tables
from sottovoce.tasks.plan import Plan

TABLE_SETTINGS = {"columns", "public", "most", "rows"}  # of one table in a task file


@dataclass(frozen=True, init=False)
class Joint(TablePlan, Plan, kind="joint"):
    """Tables of several services about the same people, each a ``Table`` or its settings, joined on
    ``uid``.

    ``fanout`` is how many parts an interval has; ``"auto"`` takes the least error for the longest
    column of numbers.  ``workload`` and ``weights`` are those of ``Table``, for all tables
    together.
    """

    domain: Tables
    rows: tuple[int, ...]
    fanout: int
    weights: tuple[tuple[int, ...], ...] = field(default=(), metadata={"omitted": True})

    def __init__(
        self,
        domain: Tables | Mapping[str, Any] | None = None,
        rows: tuple[int, ...] | None = None,
        fanout: int | str = FANOUT,
        *,
        services: Mapping[str, Any] | None = None,
        workload: Workload | None = None,
        weights: tuple[tuple[int, ...], ...] = (),
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
        rows = tuple(rows or (1,) * len(given.names))
        self.settle(given, rows, fanout, Weighing(weights, workload))

    @classmethod
    def check_settings(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse tables with settings that hold for all tables together."""
        services = settings.get("services", settings.get("domain"))
        tables = services.values() if isinstance(services, Mapping) else ()
        known = all(isinstance(table, Mapping) and set(table) <= TABLE_SETTINGS for table in tables)
        if not tables or not known:
            allowed = ", ".join(sorted(TABLE_SETTINGS))
            raise ParameterError(f"`services` must be tables by name, each with some of: {allowed}")
        return settings
