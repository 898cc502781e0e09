"""SQL over several services: every person makes the same few reports, whatever they hold, for one budget.

The budget covers the person: all records of all services together, how many there are, and that there are any.

Source: Xu 2020.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.domains.base import Domain
from sottovoce.domains.listed import domain_of
from sottovoce.domains.lists import Lists
from sottovoce.domains.records import Records
from sottovoce.domains.tables import ORDERED, Services
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import FANOUT
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.fanout import best_fanout
from sottovoce.plans.tables.layout import METHODS, Asking
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round

SERVICE = {"columns", "public", "most", "rows"}  # settings of one service in a task file
MANY = 3  # tables, from which on joins of all of them are hardly ever precise


class Queries:
    """What plans for SQL have in common: one round, then questions as long as the reports are kept."""

    domain: Services
    rows: tuple[int, ...]
    method: str
    fanout: int
    published: bool

    @property
    def needs(self) -> tuple[str, ...]:
        return ("subject", "public") if self.domain.public else ("subject",)

    def asking(self, epsilon: float) -> Asking:
        """Return what people are asked for so much."""
        return Asking(self.domain, self.rows, self.method, self.fanout, self.published, epsilon)

    def step(self, collected: Collected) -> "Round | Database":
        asking = self.asking(collected.epsilon)
        return Database.of(asking, collected) if collected.rounds else Round(0, asking.ask)

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        if len(self.rows) < MANY:
            return ()
        share = self.asking(epsilon).each
        return (
            f"One budget for {sum(self.rows)} records of {len(self.rows)} tables leaves epsilon {share:.3g} for each: "
            "joins of three tables and more are hardly ever precise. Collect what is asked together in one table.",
        )

    def settle(self, domain: Services, rows: tuple[int, ...], method: str, fanout: int | str, published: bool) -> None:
        """Check and keep the settings."""
        if fanout == "auto":
            fanout = best_fanout(_longest(domain))
        if type(fanout) is not int or not 2 <= fanout <= 1024 or method not in METHODS:
            raise ParameterError(f"a fan-out is from 2 to 1024 or auto, a method one of {', '.join(METHODS)}")
        if len(rows) != len(domain.names):
            raise ParameterError("a plan says for every table how many records are reported")
        for place, count in enumerate(rows):
            most = domain.most(place) or 1
            if type(count) is not int or not 1 <= count <= most:
                raise ParameterError("of a list from 1 to its most records are reported, of a record that one")
        settings = {"domain": domain, "rows": rows, "method": method, "fanout": fanout, "published": bool(published)}
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)

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
        """Return the best way to collect the tables for the questions in ``sql``."""
        from sottovoce.plans.tables.advice import advise_tables

        return advise_tables(self, sql, users, epsilon)


@dataclass(frozen=True, init=False)
class Joint(Queries, Plan, kind="joint"):
    """Tables of several services about the same people, each a ``Table`` or its settings, joined on ``uid``.

    ``fanout`` is how many parts an interval has; ``"auto"`` takes the least error for the longest column of numbers.
    """

    domain: Services
    rows: tuple[int, ...]
    method: str
    fanout: int
    published: bool

    def __init__(
        self,
        domain: Services | Mapping[str, Any] | None = None,
        rows: tuple[int, ...] | None = None,
        method: str = "hio",
        fanout: int | str = FANOUT,
        published: bool = False,
        *,
        services: Mapping[str, Any] | None = None,
    ) -> None:
        given = services if domain is None else domain
        if isinstance(given, Mapping):
            from sottovoce.plans.tables.table import Table

            tables = {name: one if isinstance(one, Table) else Table(**one) for name, one in given.items()}
            given = _together(tables)
            rows = rows or tuple(one.rows[0] for one in tables.values())
        if not isinstance(given, Services):
            raise ParameterError("a joint collection names its services, each with its columns")
        self.settle(given, tuple(rows or (1,) * len(given.names)), method, fanout, published)

    @classmethod
    def check_settings(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse services that have settings of their own which hold for all services together."""
        services = settings.get("services", settings.get("domain"))
        tables = services.values() if isinstance(services, Mapping) else ()
        if not tables or not all(isinstance(table, Mapping) and set(table) <= SERVICE for table in tables):
            raise ParameterError(f"`services` must be tables by name, each with some of: {', '.join(sorted(SERVICE))}")
        return settings


def _longest(domain: Services) -> int:
    """Return the values of the longest column of numbers."""
    kinds = [kind for place in range(len(domain.names)) for kind in domain.records(place).attributes]
    return max((kind.size for kind in kinds if isinstance(kind, ORDERED)), default=2)


def columns_of(columns: Records | Mapping[str, Any]) -> Records:
    """Return the columns of a table, given as domains, lists of labels or ranges."""
    if isinstance(columns, Records):
        return columns
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError("a table has at least one column that people keep to themselves")
    made = {name: one if isinstance(one, Domain) else domain_of(one) for name, one in columns.items()}
    return Records(tuple(made), tuple(made.values()))


def services_of(name: str, columns: Any, public: Any, most: int | None) -> Services:
    """Return the domain of one table."""
    records = columns_of(columns)
    seen = columns_of({f"{name}.{column}": kind for column, kind in public.items()}) if public else None
    return Services((name,), (records if most is None else Lists(records, most),), seen)


def _together(tables: Mapping[str, Any]) -> Services:
    """Return the domain of several tables under the names that they have here."""
    public: dict[str, Domain] = {}
    for name, table in tables.items():
        seen = table.domain.public
        for column, kind in zip(seen.names, seen.attributes, strict=True) if seen else ():
            public[f"{name}.{column.partition('.')[2]}"] = kind
    domains = tuple(table.domain.tables[0] for table in tables.values())
    return Services(tuple(tables), domains, columns_of(public) if public else None)
