"""Domains as they are given on the command line, and columns of text as values of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.cli.columns import Column
from sottovoce.cli.discovery import split, warn_of_strangers
from sottovoce.domains.base import DECLINED, Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.errors import DomainError, ParameterError

Reader = Callable[[str], Categories | Integers]


@dataclass(frozen=True)
class Given:
    """The domains that the options state, each for one column: ``NAME=...``, or for the only one."""

    columns: tuple[str, ...]
    labels: Sequence[str] = ()
    files: Sequence[str] = ()
    ranges: Sequence[str] = ()
    decline: bool = False

    def domains(self) -> dict[str, Categories | Integers]:
        """Return the stated domains by column."""
        stated: list[tuple[str, str, Reader]] = [(*self._column(text), self._listed) for text in self.labels]
        stated += [(*self._column(text), self._filed) for text in self.files]
        stated += [(*self._column(text), self._ranged) for text in self.ranges]
        if len({name for name, _, _ in stated}) < len(stated):
            raise ParameterError("the domain of a column can be stated once")
        return {name: read(text) for name, text, read in stated}

    def found(self, column: Column) -> Categories:
        """Return the distinct values of a column as a domain: good for planning only."""
        values = {value for value in column if value is not None} - ({DECLINED} if self.decline else set())
        numbers = all(value.removeprefix("-").isdecimal() for value in values)
        ordered = sorted(values, key=lambda value: (int(value), value)) if numbers else sorted(values)
        return Categories(tuple(ordered), declinable=self.decline)

    def _column(self, text: str) -> tuple[str, str]:
        name, equals, rest = text.partition("=")
        if equals and name in self.columns:
            return name, rest
        if len(self.columns) > 1:
            raise ParameterError(f"with several columns a domain is NAME=..., NAME one of: {', '.join(self.columns)}")
        return self.columns[0], text

    def _listed(self, text: str) -> Categories:
        return Categories(tuple(label.strip() for label in text.split(",")), declinable=self.decline)

    def _filed(self, text: str) -> Categories:
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ParameterError(
                "a domain file is text in UTF-8 with one value a line; this one cannot be read"
            ) from None
        return Categories(tuple(line.strip() for line in lines if line.strip()), declinable=self.decline)

    def _ranged(self, text: str) -> Categories | Integers:
        low, _, high = text.partition(":")
        try:
            numbers = Integers(int(low), int(high))
        except ValueError:
            raise ParameterError("a range is LOW:HIGH, two whole numbers with LOW below HIGH") from None
        return Categories(numbers.labels, declinable=True) if self.decline else numbers


def values(name: str, domain: Domain, column: Column, separator: str = ";") -> list[Any]:
    """Return a column as values of a domain; empty cells only where declining is an answer, or for empty sets."""
    if isinstance(domain, Sets):
        return _sets(name, domain, column, separator)
    empty = column.count(None)
    if empty and isinstance(domain, (Bits, Strings)):
        raise DomainError(f"column {name!r} has {empty:,} empty cells: leave out the people who hold nothing")
    if empty and not getattr(domain, "declinable", False):
        raise DomainError(f"column {name!r} has {empty:,} empty cells: --decline counts them as {DECLINED!r}")
    if isinstance(domain, Integers):
        return _numbers(column, f"column {name!r} must hold whole numbers from {domain.low} to {domain.high}")
    if isinstance(domain, Bits):
        return _numbers(column, f"column {name!r} must hold whole numbers of {domain.bits} bits, 0x before hexadecimal")
    return column


def _numbers(cells: Iterable[str | None], rule: str) -> list[int]:
    try:
        return [int(cell or "", 16 if (cell or "").startswith("0x") else 10) for cell in cells]
    except ValueError:
        raise DomainError(rule) from None


def _sets(name: str, domain: Sets, column: Column, separator: str) -> list[Any]:
    baskets = split(column, separator)
    warn_of_strangers(baskets, domain.items)
    if isinstance(domain.items, Categories):
        return baskets
    return [_numbers(basket, f"the items in column {name!r} must be whole numbers") for basket in baskets]
