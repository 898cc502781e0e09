"""Domains as the command line states them, one for each column of a file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from sottovoce.cli.columns import Column
from sottovoce.cli.output import warn
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.base import Domain


@dataclass(frozen=True)
class DomainOptions:
    """The options that state the values of columns; NAME may be left out for the only one."""

    OPTIONS: ClassVar = (
        click.option(
            "--domain",
            "domains",
            multiple=True,
            metavar="[NAME=]a,b,c",
            help="The values of a column.",
        ),
        click.option(
            "--domain-file",
            "domain_files",
            multiple=True,
            metavar="[NAME=]FILE",
            help="The values of a column, one per line of a text file.",
        ),
        click.option(
            "--range",
            "ranges",
            multiple=True,
            metavar="[NAME=]LOW:HIGH",
            help="A column of whole numbers from LOW to HIGH, both included.",
        ),
        click.option("--decline", is_flag=True, help="Count empty cells as 'prefer not to say'."),
    )

    domains: tuple[str, ...]
    domain_files: tuple[str, ...]
    ranges: tuple[str, ...]
    decline: bool

    @property
    def given(self) -> bool:
        """Return whether any of the options is used."""
        return bool(self.domains or self.domain_files or self.ranges or self.decline)

    def stated(self, columns: Iterable[str]) -> "dict[str, Domain]":
        """Return the domains that the options state, by column."""
        names = tuple(columns)
        read: dict[str, Domain] = {}
        for texts, reader in self._readers():
            for text in texts:
                name, rest = _split(text, names)
                if name in read:
                    raise ParameterError(
                        f"the domain of column {name!r} is stated twice: state it once"
                    )
                read[name] = reader(rest)
        return read

    def of(self, cells: dict[str, Column]) -> "dict[str, Domain]":
        """Return a domain for every column; one that no option states is taken from the data."""
        stated = self.stated(cells)
        return {
            name: stated.get(name) or self.found(name, column) for name, column in cells.items()
        }

    def found(self, name: str, column: Column) -> "Domain":
        """Return the distinct values of a column as a domain, and warn: good for planning only."""
        from sottovoce.domains.base import DECLINED
        from sottovoce.domains.categories import Categories

        warn(
            f"the values found in column {name!r} define its domain: fine for planning, but a real "
            "task must state it"
        )
        values = {value for value in column if value is not None} - (
            {DECLINED} if self.decline else set()
        )
        numbers = all(value.removeprefix("-").isdecimal() for value in values)
        ordered = (
            sorted(values, key=lambda value: (int(value), value)) if numbers else sorted(values)
        )
        return Categories(tuple(ordered), declinable=self.decline)

    def _readers(self) -> "list[tuple[tuple[str, ...], Callable[[str], Domain]]]":
        return [
            (self.domains, self._listed),
            (self.domain_files, self._filed),
            (self.ranges, self._ranged),
        ]

    def _listed(self, text: str) -> "Domain":
        from sottovoce.domains.categories import Categories

        return Categories(
            tuple(label.strip() for label in text.split(",")), declinable=self.decline
        )

    def _filed(self, text: str) -> "Domain":
        from sottovoce.domains.categories import Categories

        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ParameterError(
                "--domain-file cannot be read: it must be UTF-8 text, one value per line"
            ) from None
        return Categories(
            tuple(line.strip() for line in lines if line.strip()), declinable=self.decline
        )

    def _ranged(self, text: str) -> "Domain":
        from sottovoce.domains.categories import Categories
        from sottovoce.domains.integers import Integers

        low, _, high = text.partition(":")
        try:
            numbers = Integers(int(low), int(high))
        except ValueError:
            raise ParameterError(
                "--range must be LOW:HIGH, two whole numbers with LOW below HIGH"
            ) from None
        return Categories(numbers.labels, declinable=True) if self.decline else numbers


def _split(text: str, columns: tuple[str, ...]) -> tuple[str, str]:
    """Return the column that an option names, and the rest of it."""
    name, equals, rest = text.partition("=")
    if equals and name in columns:
        return name, rest
    if len(columns) > 1:
        raise ParameterError(
            f"with several columns a domain is NAME=..., NAME one of: {', '.join(columns)}"
        )
    return columns[0], text
