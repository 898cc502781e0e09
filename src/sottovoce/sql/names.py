"""The tables and columns that a question can name, in any case."""

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sottovoce.domains.base import Domain
from sottovoce.domains.tables import PERSON, Services
from sottovoce.sql.errors import Refusal
from sottovoce.sql.grammar import start
from sottovoce.sql.query import Column


@dataclass(frozen=True)
class Scope:
    """The joined tables: the place of each service by the name that the question gives it, in lower case."""

    services: Services
    tables: dict[str, int]

    @classmethod
    def of(cls, services: Services, select: exp.Select) -> "Scope":
        """Return the tables of FROM and JOIN, after a look at the keys."""
        scope = cls(services, {})
        scope._add(select.args["from_"].this)
        for join in select.args["joins"]:
            added = scope._add(join.this)
            if join.args.get("using"):
                _check_using(join.args["using"])
            else:
                scope._check_on(join.args["on"], added)
        return scope

    @cached_property
    def columns(self) -> dict[Column, str]:
        """Return every column that can be asked about, with its name."""
        found: dict[Column, str] = {}
        for place in self.tables.values():
            found |= {Column(place, at): name for at, name in enumerate(self.services.records(place).names)}
        for at, name in enumerate(self.services.public.names if self.services.public else ()):
            table, _, column = name.partition(".")
            place = self.services.names.index(table)
            if place in self.tables.values():
                found[Column(place, at, name)] = column
        return found

    def column(self, node: exp.Column) -> Column:
        """Return the column that is named, or refuse."""
        name, table = node.name.lower(), node.table.lower()
        if table and table not in self.tables:
            raise Refusal("unknown-table", start(node), f": FROM has {', '.join(self.tables)}")
        if name == PERSON:
            raise Refusal("uid", start(node))
        wanted = [self.tables[table]] if table else list(self.tables.values())
        there = {one: label for one, label in self.columns.items() if one.table in wanted}
        found = [one for one, label in there.items() if label.lower() == name]
        if not found:
            raise Refusal("unknown-column", start(node), f": there are {', '.join(map(self.label, there))}")
        if len(found) > 1:
            raise Refusal("ambiguous-column", start(node), f": {', '.join(map(self.label, found))}")
        return found[0]

    def label(self, column: Column) -> str:
        """Return the name of a column with that of its table."""
        return f"{self.services.names[column.table]}.{self.columns[column]}"

    def kind(self, column: Column) -> Domain:
        """Return what a column holds."""
        if not column.public:
            return self.services.records(column.table).attributes[column.place]
        assert self.services.public is not None
        return self.services.public.attributes[column.place]

    def _add(self, table: exp.Table) -> str:
        known = {name.lower(): place for place, name in enumerate(self.services.names)}
        place = known.get(table.name.lower())
        if place is None:
            raise Refusal("unknown-table", start(table), f": there are {', '.join(self.services.names)}")
        if place in self.tables.values():
            raise Refusal("self-join", start(table))
        name = (table.alias or table.name).lower()
        if name in self.tables:
            raise Refusal("duplicate-alias", start(table))
        self.tables[name] = place
        return name

    def _check_on(self, key: exp.EQ, added: str) -> None:
        sides = [key.this, key.expression]
        for side in sides:
            if side.name.lower() != PERSON or not side.table:
                raise Refusal("join-key", start(side))
            if side.table.lower() not in self.tables:
                raise Refusal("unknown-table", start(side), f": so far there are {', '.join(self.tables)}")
        names = [side.table.lower() for side in sides]
        if names.count(added) != 1:
            raise Refusal("join-key", start(key))


def _check_using(names: list[exp.Identifier]) -> None:
    for place, name in enumerate(names):
        if place or name.name.lower() != PERSON:
            raise Refusal("join-key", start(name))
