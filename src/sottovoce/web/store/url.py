"""The URL of a store: which file or database it is, and which class opens it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError


class UrlStore(ABC):
    """A store that is opened by its URL.

    A contract of stores sets ``kinds``.  A class that implements it names the schemes of the URLs
    that it opens, and is found in ``kinds`` under each of them:

        class SqliteStore(SqlStore, schemes=("sqlite",)): ...
    """

    kinds: ClassVar[Registry[Any]]
    schemes: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, schemes: Sequence[str] = (), **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if schemes:
            cls.schemes = tuple(schemes)
        for scheme in schemes:
            cls.kinds.add(scheme, cls)

    @classmethod
    @abstractmethod
    def from_url(cls, url: str) -> Self:
        """Open the store that a URL names, or refuse the URL."""

    @classmethod
    def exists(cls, url: str) -> bool:
        """Return whether there is a store already; a server is expected to have one."""
        return True


Store = TypeVar("Store", bound=UrlStore)


def database_or_file(database: str, path: Path) -> str:
    """Return the URL of a ``database``, or that of a file of SQLite if it is empty."""
    if database:
        return database
    return path.absolute().as_uri().replace("file://", "sqlite://", 1)


def class_of(url: str, kinds: Registry[Store]) -> type[Store]:
    """Return the class that a URL's scheme names; the error shows nothing else of the URL."""
    scheme, separator, _ = url.partition("://")
    known = sorted({name for store in kinds.classes() for name in store.schemes})
    if not separator or scheme not in known:
        allowed = ", ".join(f"{name}://" for name in known)
        given = f"{scheme[:20]}://" if separator else "none of these"
        raise ParameterError(
            f"`database` (SOTTOVOCE_DATABASE) must be a URL that begins with one of {allowed};"
            f" this begins with {given}"
        )
    return kinds[scheme]
