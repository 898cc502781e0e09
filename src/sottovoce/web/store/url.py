"""The URL of a store: which file or database it is, and which class opens it."""

from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError


class HasSchemes(Protocol):
    """A class of stores that names the schemes of the URLs that it opens."""

    schemes: ClassVar[tuple[str, ...]]


Store = TypeVar("Store", bound=HasSchemes)


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
