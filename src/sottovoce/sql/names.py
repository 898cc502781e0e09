"""The tables and columns that a query can name, in any case."""

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sottovoce.domains.base import Domain
from sottovoce.domains.tables import PERSON, Tables
from sottovoce.sql.errors import Refusal
from sottovoce.sql.grammar import start
from sottovoce.sql.query import Column


@dataclass(frozen=True)
class Scope:
    """The joined tables: the index of each by the name that the query gives it, in lower case."""

    domain: Tables
    joined: dict[str, int]

    @classmethod
    def of(cls, domain: Tables, select: exp.Select) -> "Scope":
        """Return the tables of FROM and JOIN, after checking the keys of the joins."""
        scope = cls(domain, {})
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
        """Return every column of the joined tables, with its name."""
        columns: dict[Column, str] = {}
        for table in self.joined.values():
            names = self.domain.records(table).names
            columns |= {Column(table, index): name for index, name in enumerate(names)}
        for index, public in enumerate(self.domain.public_names):
            table_name, _, name = public.partition(".")
            table = self.domain.names.index(table_name)
            if table in self.joined.values():
                columns[Column(table, index, public)] = name
        return columns

    def column(self, node: exp.Column) -> Column:
        """Return the column that is named, or refuse."""
        if self.is_person(node):
            raise Refusal("uid", start(node))
        name = node.name.lower()
        table = node.table.lower()
        tables = [self.joined[table]] if table else list(self.joined.values())
        visible = [column for column in self.columns if column.table in tables]
        matching = [column for column in visible if self.columns[column].lower() == name]
        if not matching:
            raise Refusal(
                "unknown-column", start(node), f": there are {', '.join(map(self.label, visible))}"
            )
        if len(matching) > 1:
            raise Refusal(
                "ambiguous-column", start(node), f": {', '.join(map(self.label, matching))}"
            )
        return matching[0]

    def is_person(self, node: exp.Column) -> bool:
        """Return whether a column is the uid, after checking that there is the table it is of."""
        if node.table and node.table.lower() not in self.joined:
            raise Refusal("unknown-table", start(node), f": FROM has {', '.join(self.joined)}")
        return node.name.lower() == PERSON

    def table(self, node: exp.Column) -> int | None:
        """Return the table of a column; None for a uid that is that of all tables."""
        if self.is_person(node):
            return self.joined[node.table.lower()] if node.table else None
        return self.column(node).table

    def label(self, column: Column) -> str:
        """Return the name of a column with that of its table."""
        return f"{self.domain.names[column.table]}.{self.columns[column]}"

    def kind(self, column: Column) -> Domain:
        """Return the domain of a column's values."""
        if not column.public:
            return self.domain.records(column.table).attributes[column.index]
        assert self.domain.public is not None
        return self.domain.public.attributes[column.index]

    def _add(self, node: exp.Table) -> str:
        known = {name.lower(): index for index, name in enumerate(self.domain.names)}
        table = known.get(node.name.lower())
        if table is None:
            raise Refusal(
                "unknown-table", start(node), f": there are {', '.join(self.domain.names)}"
            )
        if table in self.joined.values():
            raise Refusal("self-join", start(node))
        name = (node.alias or node.name).lower()
        if name in self.joined:
            raise Refusal("duplicate-alias", start(node))
        self.joined[name] = table
        return name

    def _check_on(self, key: exp.EQ, added: str) -> None:
        sides = [key.this, key.expression]
        for side in sides:
            if side.name.lower() != PERSON or not side.table:
                raise Refusal("join-key", start(side))
            if side.table.lower() not in self.joined:
                raise Refusal(
                    "unknown-table", start(side), f": so far there are {', '.join(self.joined)}"
                )
        names = [side.table.lower() for side in sides]
        if names.count(added) != 1:
            raise Refusal("join-key", start(key))


def _check_using(names: list[exp.Identifier]) -> None:
    for index, name in enumerate(names):
        if index or name.name.lower() != PERSON:
            raise Refusal("join-key", start(name))
