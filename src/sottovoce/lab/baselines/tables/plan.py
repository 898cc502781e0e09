"""A plan that collects tables by any published method; devices cannot be asked to run it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.layouts import LAYOUTS, MG, BaselineLayout
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.table import Table
from sottovoce.plans.tables.table_plan import TablePlan, Weighing
from sottovoce.tasks.plan import Plan


@dataclass(frozen=True, init=False)
class PublishedTables(TablePlan, Plan, kind="published_tables", wire=False):
    """The tables of another plan, collected by a ``method``; as ``published``, by local hashing.

    ``asked`` are the columns whose marginal MG or AMG collects.  ``partition`` are the columns with
    rounding coins, among which AHIO, EHIO and AMG partition people, and all of which SR-HIO rounds:
    "numbers", "all", or names.  Each person's report holds the coin of one of them, so that a sum
    costs as many times the variance as there are columns in the partition.
    """

    domain: Tables
    rows: tuple[int, ...]
    method: str
    fanout: int
    published: bool
    asked: tuple[str, ...] = field(default=(), metadata={"omitted": True})
    # Empty: the numbers.
    partition: tuple[str, ...] = field(default=(), metadata={"omitted": True})

    def __init__(
        self,
        tables: TablePlan | Mapping[str, Any],
        method: str = "hio",
        *,
        fanout: int | str = FANOUT,
        published: bool = True,
        asked: tuple[str, ...] = (),
        partition: str | tuple[str, ...] = "numbers",
    ) -> None:
        plan = Joint(tables) if isinstance(tables, Mapping) else tables
        if method not in LAYOUTS:
            raise ParameterError(f"`method` must be one of {', '.join(LAYOUTS)}")
        self.settle(plan.domain, plan.rows, fanout, Weighing())
        object.__setattr__(self, "method", method)
        if asked and not issubclass(LAYOUTS[method], MG):
            raise ParameterError("`asked` is a setting of the methods mg and amg")
        object.__setattr__(self, "published", bool(published))
        object.__setattr__(self, "asked", tuple(asked))
        object.__setattr__(self, "partition", self._partition(partition))

    def _partition(self, given: str | tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the columns with rounding coins; none stands for the numbers."""
        if given == "numbers":
            return ()
        if LAYOUTS[self.method].rounding == "none":
            rounding = [name for name, layout in LAYOUTS.items() if layout.rounding != "none"]
            raise ParameterError(f"`partition` is a setting of the methods {', '.join(rounding)}")
        tables = range(len(self.domain.names))
        names = [name for table in tables for name in self.domain.records(table).names]
        if given == "all":
            return tuple(dict.fromkeys(names))
        if isinstance(given, str) or not given or not set(given) <= set(names):
            raise ParameterError("`partition` must be 'numbers', 'all', or names of columns")
        return tuple(given)

    def layout(self, epsilon: float) -> BaselineLayout:
        layout = LAYOUTS[self.method]
        settings = (self.domain, self.rows, self.fanout, epsilon, self.published)
        return layout(*settings, asked=self.asked, partition=self.partition)


def published_table(
    columns: Mapping[str, Any], method: str = "hio", **settings: Any
) -> PublishedTables:
    """Return the plan for one table.

    ``settings`` are those of ``PublishedTables`` and of ``Table``.
    """
    names = ("fanout", "published", "asked", "partition")
    own = {name: settings.pop(name) for name in names if name in settings}
    return PublishedTables(Table(columns, **settings), method, **own)
