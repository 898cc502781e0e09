"""Kinds by name: the name of a module is the kind it holds, imported when a document first names it."""

import re
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

from sottovoce.errors import ParameterError

Kind = TypeVar("Kind")


class Registry(Generic[Kind]):
    """The classes of one family, by kind."""

    def __init__(self, family: str, *packages: str) -> None:
        self.family = family
        self._packages = packages
        self._kinds: dict[str, type[Kind]] = {}

    def add(self, kind: str, made: type[Kind]) -> None:
        """Enter a class; its module carries the kind's name."""
        self._kinds[kind] = made

    def __getitem__(self, kind: str) -> type[Kind]:
        if kind not in self._kinds and re.fullmatch(r"[a-z][a-z0-9_]*", kind):
            self._import(kind)
        if kind not in self._kinds:
            raise ParameterError(f"unknown {self.family} kind: {kind[:40]!r}")
        return self._kinds[kind]

    def _import(self, kind: str) -> None:
        for package in self._packages:
            if find_spec(package) and find_spec(f"{package}.{kind}"):
                import_module(f"{package}.{kind}")
                return
