"""Registries: the classes of a family by kind, imported when a document first names them."""

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Generic, TypeVar

from sottovoce.errors import ParameterError

Kind = TypeVar("Kind")


class Registry(Generic[Kind]):
    """The classes of one family, by kind.

    A family lives in a package, or in the packages within it.  A kind is looked for in the module
    that carries its name, then in the other modules, which are imported only if that is needed.
    """

    def __init__(self, family: str, package: str, *, nested: bool = False) -> None:
        self.family = family
        self._package = package
        self._nested = nested  # whether the classes live in packages within the package
        self._kinds: dict[str, type[Kind]] = {}

    def add(self, kind: str, family_member: type[Kind]) -> None:
        """Register a class under its kind."""
        self._kinds[kind] = family_member

    def __getitem__(self, kind: str) -> type[Kind]:
        if kind not in self._kinds and re.fullmatch(r"[a-z][a-z0-9_]*", kind):
            for module in self._modules(kind):
                if kind in self._kinds:
                    break
                import_module(module)
        if kind not in self._kinds:
            raise ParameterError(f"unknown {self.family} kind: {kind[:40]!r}")
        return self._kinds[kind]

    def classes(self) -> list[type[Kind]]:
        """Return the classes of all kinds, sorted by kind; imports every module of the family."""
        for package in self._packages():
            for module in iter_modules(import_module(package).__path__):
                import_module(f"{package}.{module.name}")
        return [self._kinds[kind] for kind in sorted(self._kinds)]

    def _modules(self, kind: str) -> Iterator[str]:
        """Yield the modules that may hold a kind, the most likely first."""
        packages = self._packages()
        for package in packages:
            if find_spec(f"{package}.{kind}"):
                yield f"{package}.{kind}"
        for package in packages:
            for module in iter_modules(import_module(package).__path__):
                yield f"{package}.{module.name}"

    def _packages(self) -> list[str]:
        """Return the names of the packages in which classes of the family live."""
        if not find_spec(self._package):
            return []
        inner = iter_modules(import_module(self._package).__path__)
        nested = [f"{self._package}.{module.name}" for module in inner if module.ispkg]
        return nested if self._nested else [self._package]
