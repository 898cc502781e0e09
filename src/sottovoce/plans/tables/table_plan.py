"""What the plans for SQL have in common: one round, then queries for as long as the reports are
kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.core.settings import entries, wholes
from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.domains.lists import Lists
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.fanout import best_fanout
from sottovoce.plans.tables.layout import Layout
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.moved_number import MovedNumber
from sottovoce.tasks.round import Round

MAX_FANOUT = 1024
# Queries, pairs of a query and its weight, or BALANCED.
Workload = Mapping[str, float] | Sequence[Any] | str
BALANCED = "balanced"  # the workload of nobody who knows which queries will be asked
RECORD_EPSILON = 1.0  # for which weights are chosen, where the epsilon is not known yet
MANY_TABLES = 3  # from here on joins of all tables are hardly ever precise


class TablePlan:
    """A plan whose outcome is a ``Database``."""

    domain: Tables
    rows: tuple[int, ...]  # how many records of each table are reported
    fanout: int
    weights: tuple[tuple[int, ...], ...]  # of the layers of each table; empty: all alike

    @property
    def needs(self) -> tuple[str, ...]:
        return ("subject", "public") if self.domain.public else ("subject",)

    def layout(self, epsilon: float) -> Layout:
        """Return which reports people make for an epsilon."""
        return Layout(self.domain, self.rows, self.fanout, epsilon, weights=self.weights)

    def step(self, collected: Collected) -> "Round | Database":
        layout = self.layout(collected.epsilon)
        return Database.of(layout, collected) if collected.rounds else Round(0, layout.ask)

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        if len(self.rows) < MANY_TABLES:
            return ()
        share = self.layout(epsilon).record_epsilon
        return (
            f"One budget for {sum(self.rows)} records of {len(self.rows)} tables leaves epsilon "
            f"{share:.3g} for each: joins of three tables and more are hardly ever precise. "
            "Collect what is asked together in one table.",
        )

    def moved_numbers(self, epsilon: float, *, coins_checked: bool) -> tuple[MovedNumber, ...]:
        from sottovoce.plans.tables.moved_numbers import moved_numbers

        return moved_numbers(self.layout(epsilon), coins_checked=coins_checked)

    def settle(
        self, domain: Tables, rows: tuple[int, ...], fanout: int | str, weighing: "Weighing"
    ) -> None:
        """Check and keep the settings."""
        if fanout == "auto":
            fanout = best_fanout(_longest(domain))
        if type(fanout) is not int or not 2 <= fanout <= MAX_FANOUT:
            raise ParameterError(
                f"`fanout` must be a whole number from 2 to {MAX_FANOUT}, or 'auto'"
            )
        if len(rows) != len(domain.names):
            raise ParameterError("`rows` must hold one number for each table")
        for table, count in enumerate(rows):
            most = domain.most(table) or 1
            if type(count) is not int or not 1 <= count <= most:
                raise ParameterError(
                    "`rows` must be between 1 and `most` for a list table, "
                    "and 1 for a single-record table"
                )
        for name, setting in {"domain": domain, "rows": rows, "fanout": fanout}.items():
            object.__setattr__(self, name, setting)
        object.__setattr__(self, "weights", ())
        object.__setattr__(self, "weights", weighing.weights(self))

    answers_sql = True

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for counts of records, which do not sum to the number of people."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(whole_domain=False, equal_errors=False))

    def unit(self, name: str) -> str:
        table = name.partition(".")[0]
        return "records" if self.domain.most(self.domain.names.index(table)) else "people"

    def advise(self, users: int, epsilon: float, *, sql: Sequence[str] = ()) -> Advice:
        """Return the best way to collect the tables for the queries in ``sql``."""
        from sottovoce.plans.tables.advice import advise_tables

        return advise_tables(self, sql, users, epsilon)


@dataclass(frozen=True)
class Weighing:
    """How likely layers are: by ``given`` weights, or best for a ``workload`` of queries, which may
    be balanced over any.
    """

    given: tuple[tuple[int, ...], ...] = ()
    workload: Workload | None = None

    def weights(self, plan: TablePlan) -> tuple[tuple[int, ...], ...]:
        """Return the weights of the layers of each table of a plan."""
        if self.workload is None:
            return self._checked(plan)
        if self.given:
            raise ParameterError("give either `weights` or a `workload`, not both")
        from sottovoce.plans.tables.workload import balanced_weights, layer_weights, workload_of

        layout = plan.layout(RECORD_EPSILON * sum(plan.rows))
        if self.workload == BALANCED:
            return balanced_weights(layout)
        return layer_weights(layout, workload_of(self.workload))

    def _checked(self, plan: TablePlan) -> tuple[tuple[int, ...], ...]:
        if not self.given:
            return ()
        entries("weights", self.given, len(plan.rows), len(plan.rows))
        for factor in plan.layout(RECORD_EPSILON * sum(plan.rows)).factors:
            own = self.given[factor.table]
            layers = len(factor.slots[0].family)
            if own:
                entries("weights", own, layers, layers)
                wholes("weights", own, 1)
        return tuple(map(tuple, self.given))


def columns_of(columns: Records | Mapping[str, Any]) -> Records:
    """Return the columns of a table, given as domains, lists of labels or ranges."""
    if isinstance(columns, Records):
        return columns
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError(
            "`columns` must map at least one name to a domain, a list of labels or a range"
        )
    kinds = {
        name: kind if isinstance(kind, Domain) else domain_of(kind)
        for name, kind in columns.items()
    }
    return Records(tuple(kinds), tuple(kinds.values()))


def single_table(name: str, columns: Any, public: Any, most: int | None) -> Tables:
    """Return the domain of one table."""
    records = columns_of(columns)
    seen = (
        columns_of({f"{name}.{column}": kind for column, kind in public.items()})
        if public
        else None
    )
    return Tables((name,), (records if most is None else Lists(records, most),), seen)


def joined_tables(tables: Mapping[str, TablePlan]) -> Tables:
    """Return the domain of several tables under the names that they have here."""
    public: dict[str, Domain] = {}
    for name, table in tables.items():
        for column, kind in zip(table.domain.public_names, table.domain.public_kinds, strict=True):
            public[f"{name}.{column.partition('.')[2]}"] = kind
    domains = tuple(table.domain.tables[0] for table in tables.values())
    return Tables(tuple(tables), domains, columns_of(public) if public else None)


def _longest(domain: Tables) -> int:
    """Return the number of values of the longest column of numbers or dates."""
    kinds = [
        kind for table in range(len(domain.names)) for kind in domain.records(table).attributes
    ]
    return max((kind.size for kind in kinds if kind.has_ranges), default=2)
